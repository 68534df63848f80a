"""A study's connections to other programs: a webhook that reports finished participants, and the link to the API."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone

from analysis.charts.formatting import UNKNOWN
from analysis.charts.tables import Column, Table, number_columns
from jobs.models import LEASE, claim
from jobs.recovery import is_queued
from studies import audit
from studies.keys import new_token
from studies.models import AuditEntry, Participant, Study

from . import outbound
from .models import WebhookDelivery
from .page import Page, address, format_minute, format_second, participant_link, study_page

Event, State = WebhookDelivery.Event, WebhookDelivery.State

# The waiting times after failed tries: six tries in about a day.
WAITS = (
    timedelta(minutes=1),
    timedelta(minutes=10),
    timedelta(hours=1),
    timedelta(hours=6),
    timedelta(hours=17),
)
MAX_TRIES = len(WAITS) + 1
MAX_LISTED = 50
DELIVERY_COLUMNS = (
    Column("Created", cell_class="number"),
    Column("What"),
    Column("Participant"),
    Column("State"),
    *number_columns("Tries"),
    Column("Last try", cell_class="number"),
    Column("Result", cell_class="detail"),
    Column("Next try", cell_class="number"),
)


# Settings


@transaction.atomic
def set_webhook_url(study: Study, url: str, actor: Any) -> None:
    Study.objects.filter(pk=study.pk).update(webhook_url=url)
    detail = f"Set the webhook to {url}." if url else "Removed the webhook."
    # Results that are sent to another server are shared.
    audit.record(AuditEntry.Action.SHARE, detail, study=study, actor=actor)


@transaction.atomic
def replace_webhook_secret(study: Study, actor: Any) -> None:
    Study.objects.filter(pk=study.pk).update(webhook_secret=new_token())
    detail = "Created a new secret for the webhook."
    audit.record(AuditEntry.Action.SHARE, detail, study=study, actor=actor)


# Deliveries


def announce_finished(participant: Participant, **options: Any) -> None:
    """Signal receiver, called in the transaction that finishes a session."""
    study = participant.study
    if participant.purpose != Participant.Purpose.LIVE or not study.webhook_url:
        return
    times = {
        "joined_at": participant.created_at,
        "consented_at": participant.consented_at,
        "teaching_started_at": participant.teaching_started_at,
        "evaluation_started_at": participant.evaluation_started_at,
        "finished_at": participant.finished_at,
    }
    # Nothing here identifies the person.
    content = {
        "study": study.slug,
        "participant": participant.code,
        "arm": participant.arm,
        "first_seen_accuracy": participant.first_seen_accuracy,
        "evaluation_accuracy": participant.evaluation_accuracy,
        "teaching_gain": participant.teaching_gain,
        **{name: moment and moment.isoformat() for name, moment in times.items()},
    }
    _announce(study, Event.FINISHED, content, participant)


def announce_test(study: Study) -> WebhookDelivery:
    return _announce(study, Event.TEST, {"study": study.slug})


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
    from .tasks import deliver_webhook

    def queue() -> None:
        deliver_webhook.enqueue(delivery.pk, delivery.tries)

    # If this fails, `enqueue_due` queues the delivery when its lease ends.
    transaction.on_commit(queue, robust=True)


def enqueue_due(**options: Any) -> None:
    """Signal receiver: queue the deliveries that are due, including those that a dead worker left."""
    from .tasks import deliver_webhook

    due = WebhookDelivery.objects.due()
    for delivery in list(due):
        if claim(due, delivery, next_try_at=timezone.now() + LEASE) and not is_queued(
            deliver_webhook, delivery.pk, delivery.tries
        ):
            _enqueue(delivery)


def deliver(delivery: WebhookDelivery, tries: int) -> None:
    """Send a delivery that has been tried this many times, unless another worker already has."""
    if not claim_try(delivery, tries):
        return
    if tries >= MAX_TRIES:
        delivery.settle(state=State.FAILED, answer="The background worker stopped at the last try.")
        return
    if not delivery.study.webhook_url:
        delivery.settle(state=State.FAILED, answer="The study no longer has a webhook.")
        return
    try:
        status = outbound.post(delivery.study.webhook_url, *signed(delivery, int(time.time())))
        answer, is_received = f"answered {status}", 200 <= status < 300
    except outbound.NotSent as error:
        answer, is_received = str(error)[:200], False
    if is_received:
        delivery.settle(state=State.SENT, answer=answer)
    elif delivery.tries >= MAX_TRIES:
        delivery.settle(state=State.FAILED, answer=answer)
    else:
        next_try_at = timezone.now() + WAITS[delivery.tries - 1]
        delivery.settle(answer=answer, next_try_at=next_try_at)


def claim_try(delivery: WebhookDelivery, tries: int) -> bool:
    """Of two queued tasks for the same try, only one gets it."""
    now = timezone.now()
    untried = WebhookDelivery.objects.filter(state=State.WAITING, tries=tries)
    delivery.tries = tries + 1
    return claim(untried, delivery, tries=tries + 1, tried_at=now, next_try_at=now + LEASE)


def signed(delivery: WebhookDelivery, timestamp: int) -> tuple[bytes, dict[str, str]]:
    """The body and its headers. The signature covers the timestamp, which prevents replay."""
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


# The page


class WebhookForm(forms.Form):
    webhook_url = forms.CharField(
        label="Address",
        required=False,
        max_length=500,
        help_text="It must begin with https://. Leave it empty to send nothing.",
        widget=forms.TextInput({"class": "vTextField", "inputmode": "url", "autocomplete": "off"}),
    )

    def clean_webhook_url(self) -> str:
        url = str(self.cleaned_data["webhook_url"]).strip()
        try:
            if url:
                outbound.resolve(url)
        except outbound.NotSent as error:
            raise forms.ValidationError(str(error), code=error.code) from error
        return url


def connections(
    request: HttpRequest, study: Study, form: WebhookForm | None = None
) -> HttpResponse:
    problem = ""
    try:
        # A stored address may be from an earlier release or setting that allowed it.
        if study.webhook_url:
            outbound.parse(study.webhook_url)
    except outbound.NotSent as error:
        problem = str(error)
    context = {
        "form": form or WebhookForm(initial={"webhook_url": study.webhook_url}),
        "problem": problem,
        "deliveries": delivery_table(study),
        "max_tries": MAX_TRIES,
        "api_url": request.build_absolute_uri(reverse("api-v1-study", args=[study.slug])),
    }
    return study_page(request, study, "admin/desk/connections.html", "Connections", context)


def delivery_table(study: Study) -> Table:
    rows = []
    for delivery in study.webhook_deliveries.select_related("participant")[:MAX_LISTED]:
        person = delivery.participant
        is_tried_again = delivery.tries and delivery.state == State.WAITING
        rows.append(
            [
                format_second(delivery.created_at),
                delivery.get_event_display(),
                participant_link(person.pk, person.code) if person else UNKNOWN,
                delivery.get_state_display(),
                delivery.tries,
                format_second(delivery.tried_at) if delivery.tried_at else UNKNOWN,
                delivery.answer or UNKNOWN,
                format_minute(delivery.next_try_at) if is_tried_again else UNKNOWN,
            ]
        )
    return Table("Deliveries", DELIVERY_COLUMNS, rows)


def set_webhook(request: HttpRequest, study: Study) -> HttpResponse:
    form = WebhookForm(request.POST)
    if not form.is_valid():
        return connections(request, study, form)
    url = form.cleaned_data["webhook_url"]
    set_webhook_url(study, url, request.user)
    messages.success(request, "The webhook was set." if url else "The webhook was removed.")
    return redirect(address(study, "connections"))


def renew_secret(request: HttpRequest, study: Study) -> HttpResponse:
    replace_webhook_secret(study, request.user)
    messages.success(request, "From now on, deliveries are signed with the new secret.")
    return redirect(address(study, "connections"))


def test_webhook(request: HttpRequest, study: Study) -> HttpResponse:
    if study.webhook_url:
        announce_test(study)
        messages.success(request, "A test is on its way. Reload this page to see the result.")
    else:
        messages.error(request, "Set an address first.")
    return redirect(address(study, "connections"))


PAGES = (
    Page("connections", "connections/", connections, title="Connections"),
    Page("set_webhook", "connections/webhook/", set_webhook, edits=True, posts=True),
    Page("renew_secret", "connections/secret/", renew_secret, edits=True, posts=True),
    Page("test_webhook", "connections/test/", test_webhook, edits=True, posts=True),
)
