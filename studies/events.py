"""Events that the participant's page reports, stored in bounded numbers. No answer depends on them."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import DatabaseError, transaction
from django.utils import timezone

from . import request_ids
from .models import Participant, SessionEvent

logger = logging.getLogger(__name__)

MAX_EVENTS_PER_CALL = 20
MAX_EVENTS = 500
# A page retries; the first errors are enough.
MAX_SERVER_ERRORS = 20
# An event that the page could not send for longer is dated this long ago.
MAX_AGE = timedelta(days=1)
# What a page may report. The server adds its own errors.
PAGE_EVENTS = [
    (kind.value, kind.label) for kind in SessionEvent.Kind if kind is not SessionEvent.Kind.SERVER
]
DETAIL_LENGTH = SessionEvent._meta.get_field("detail").max_length


@dataclass(frozen=True)
class PageEvent:
    """An event as reported: by the page's clock, at the task that was current on the page."""

    kind: str
    client_ms: float | None = None
    position: int | None = None
    detail: str = ""


def try_to_note_server_error(token: str, error: BaseException | None, place: str) -> None:
    """Store a server error under its request id; if the database fails, only log it."""
    detail = f"{request_ids.current()}: {type(error).__name__} in {place}"
    try:
        note_server_error(token, detail)
    except DatabaseError:
        logger.warning("the error could not be noted for the monitor", exc_info=True)


def note_server_error(token: str, detail: str) -> None:
    """Show a server error on the monitor of the study."""
    participant = Participant.objects.with_token(token).first()
    if participant is None:
        return
    if participant.events.filter(kind=SessionEvent.Kind.SERVER).count() < MAX_SERVER_ERRORS:
        note_events(participant, [PageEvent(SessionEvent.Kind.SERVER, detail=detail)])


def note_events(
    participant: Participant, reported: Sequence[PageEvent], sent_ms: float | None = None
) -> int:
    """Store the first of these events, up to the limits, unless the session is over; return how many."""
    if participant.has_expired or not reported:
        return 0
    with transaction.atomic():
        # Locked, so that a withdrawal at the same time leaves no event behind.
        row = Participant.objects.select_for_update().filter(pk=participant.pk).first()
        if row is None or not row.is_under_way:
            return 0
        room = max(0, MAX_EVENTS - row.events.count())
        kept = reported[: min(room, MAX_EVENTS_PER_CALL)]
        return len(SessionEvent.objects.bulk_create(_event(row, one, sent_ms) for one in kept))


def _event(participant: Participant, reported: PageEvent, sent_ms: float | None) -> SessionEvent:
    return SessionEvent(
        participant=participant,
        kind=reported.kind,
        # A page may lag behind the server, but is never ahead of it.
        position=min(reported.position or participant.position, participant.position),
        at=_moment(participant, reported, sent_ms),
        client_ms=reported.client_ms,
        detail=reported.detail[:DETAIL_LENGTH],
    )


def _moment(participant: Participant, reported: PageEvent, sent_ms: float | None) -> datetime:
    """The server's time minus the delay of the event; never before the session began."""
    now = timezone.now()
    if sent_ms is None or reported.client_ms is None:
        return now
    age = min(max(0.0, sent_ms - reported.client_ms), MAX_AGE.total_seconds() * 1000)
    return max(now - timedelta(milliseconds=age), participant.created_at)
