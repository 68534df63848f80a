"""Telling another server, by a signed request, that a participant has finished; retried until it answers."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from desk.models import WebhookDelivery
from jobs.models import LEASE, claim
from jobs.recovery import is_queued
from studies import audit
from studies.keys import new_token
from studies.models import AuditEntry, Participant, Study

from . import outbound

Event, State = WebhookDelivery.Event, WebhookDelivery.State

# How long to wait after each try that failed: six tries in about a day.
WAITS = (
    timedelta(minutes=1),
    timedelta(minutes=10),
    timedelta(hours=1),
    timedelta(hours=6),
    timedelta(hours=17),
)
MOST_TRIES = len(WAITS) + 1


@transaction.atomic
def set_address(study: Study, url: str, actor: Any) -> None:
    Study.objects.filter(pk=study.pk).update(webhook_url=url)
    _note(study, f"Set the webhook to {url}." if url else "Removed the webhook.", actor)


@transaction.atomic
def renew_secret(study: Study, actor: Any) -> None:
    Study.objects.filter(pk=study.pk).update(webhook_secret=new_token())
    _note(study, "Created a new secret for the webhook.", actor)


def _note(study: Study, detail: str, actor: Any) -> None:
    """Sending results to another server is a way of sharing them."""
    audit.record(AuditEntry.Action.SHARE, detail, study=study, actor=actor)


def announce_finished(participant: Participant, **options: Any) -> None:
    """Called when a session has finished, in the transaction that finishes it."""
    is_live = participant.purpose == Participant.Purpose.LIVE
    if is_live and participant.study.webhook_url:
        _announce(participant.study, Event.FINISHED, result_of(participant), participant)


def announce_test(study: Study) -> WebhookDelivery:
    return _announce(study, Event.TEST, {"study": study.slug})


def result_of(participant: Participant) -> dict[str, Any]:
    """What is sent about a participant: the random code and the results, nothing that identifies the person."""
    times = {
        "joined_at": participant.created_at,
        "consented_at": participant.consented_at,
        "teaching_started_at": participant.teaching_started_at,
        "evaluation_started_at": participant.evaluation_started_at,
        "finished_at": participant.finished_at,
    }
    return {
        "study": participant.study.slug,
        "participant": participant.code,
        "arm": participant.arm,
        "first_seen_accuracy": participant.first_seen_accuracy,
        "evaluation_accuracy": participant.evaluation_accuracy,
        "teaching_gain": participant.teaching_gain,
        **{name: moment and moment.isoformat() for name, moment in times.items()},
    }


def _announce(
    study: Study, event: str, content: dict[str, Any], participant: Participant | None = None
) -> WebhookDelivery:
    delivery = WebhookDelivery.objects.create(
        study=study,
        participant=participant,
        event=event,
        body=json.dumps({"event": str(event), **content}),
        next_try_at=timezone.now() + LEASE,
    )
    _enqueue(delivery)
    return delivery


def _enqueue(delivery: WebhookDelivery) -> None:
    from desk.tasks import deliver_webhook

    def queue() -> None:
        deliver_webhook.enqueue(delivery.pk, delivery.tries)

    # If it cannot be queued now, it is due after a lease, like one that a dead worker left.
    transaction.on_commit(queue, robust=True)


def enqueue_due(**options: Any) -> None:
    """Called by the worker: enqueues the deliveries whose time has come, also those that a dead worker left."""
    from desk.tasks import deliver_webhook

    due = WebhookDelivery.objects.due()
    for delivery in list(due):
        if claim(due, delivery, next_try_at=timezone.now() + LEASE) and not is_queued(
            deliver_webhook, delivery.pk, delivery.tries
        ):
            _enqueue(delivery)


def deliver(delivery: WebhookDelivery, tries: int) -> None:
    """The try after this many others, unless it has been made already."""
    if not _claim(delivery, tries):
        return
    if tries >= MOST_TRIES:
        delivery.settle(state=State.FAILED, answer="The background worker stopped at the last try.")
        return
    if not delivery.study.webhook_url:
        delivery.settle(state=State.FAILED, answer="The study no longer has a webhook.")
        return
    try:
        status = outbound.post(delivery.study.webhook_url, *signed(delivery, int(time.time())))
        answer, is_received = f"answered {status}", 200 <= status < 300
    except outbound.NotSent as problem:
        answer, is_received = str(problem), False
    if is_received:
        delivery.settle(state=State.SENT, answer=answer)
    else:
        _try_later(delivery, answer)


def _claim(delivery: WebhookDelivery, tries: int) -> bool:
    """Of two orders for the same try only one counts."""
    now = timezone.now()
    untried = WebhookDelivery.objects.filter(state=State.WAITING, tries=tries)
    delivery.tries = tries + 1
    return claim(untried, delivery, tries=tries + 1, tried_at=now, next_try_at=now + LEASE)


def _try_later(delivery: WebhookDelivery, answer: str) -> None:
    answer = answer[:200]
    if delivery.tries >= MOST_TRIES:
        delivery.settle(state=State.FAILED, answer=answer)
    else:
        next_try_at = timezone.now() + WAITS[delivery.tries - 1]
        delivery.settle(answer=answer, next_try_at=next_try_at)


def signed(delivery: WebhookDelivery, timestamp: int) -> tuple[bytes, dict[str, str]]:
    """The body and its headers. The signature covers the time, so that an old request cannot be sent again."""
    body = delivery.body.encode()
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "JEDI-Web",
        "JEDI-Delivery": str(delivery.pk),
        "JEDI-Timestamp": str(timestamp),
        "JEDI-Signature": signature(delivery.study.webhook_secret, timestamp, body),
    }
    return body, headers


def signature(secret: str, timestamp: int, body: bytes) -> str:
    message = f"{timestamp}.".encode() + body
    return "sha256=" + hmac.new(secret.encode(), message, hashlib.sha256).hexdigest()
