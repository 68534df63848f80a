"""What a worker's page reports around its tasks. Kept in small, bounded amounts; no answer ever depends on it."""

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
# A page tries again and again; the first errors say what is the matter.
MAX_SERVER_ERRORS = 20
# An event that a page kept for longer, because it could not send it, counts as of this long ago.
MAX_AGE = timedelta(days=1)
# What a page may report; errors of the server are its own to note.
PAGE_EVENTS = [
    (kind.value, kind.label) for kind in SessionEvent.Kind if kind is not SessionEvent.Kind.SERVER
]
DETAIL_LENGTH = SessionEvent._meta.get_field("detail").max_length


@dataclass(frozen=True)
class PageEvent:
    """One thing, as the page tells it: by the page's own clock, and at the task that was current there."""

    kind: str
    client_ms: float | None = None
    position: int | None = None
    detail: str = ""


def try_to_note_server_error(token: str, error: BaseException | None, place: str) -> None:
    """By the number of the request. The log alone must do without a database."""
    detail = f"{request_ids.current()}: {type(error).__name__} in {place}"
    try:
        note_server_error(token, detail)
    except DatabaseError:
        logger.warning("the error could not be noted for the monitor", exc_info=True)


def note_server_error(token: str, detail: str) -> None:
    """Puts an error of the server where the researcher of the session sees it."""
    participant = Participant.objects.with_token(token).first()
    if participant is None:
        return
    if participant.events.filter(kind=SessionEvent.Kind.SERVER).count() < MAX_SERVER_ERRORS:
        note_events(participant, [PageEvent(SessionEvent.Kind.SERVER, detail=detail)])


def note_events(
    participant: Participant, reported: Sequence[PageEvent], sent_ms: float | None = None
) -> int:
    """Keeps the first of these events, as far as there is room; returns how many. A session that is over keeps none."""
    if participant.has_expired or not reported:
        return 0
    with transaction.atomic():
        # Held for two statements, so that a withdrawal leaves nothing behind.
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
        # A page may fall behind the server, and never runs ahead of it.
        position=min(reported.position or participant.position, participant.position),
        at=_moment(participant, reported, sent_ms),
        client_ms=reported.client_ms,
        detail=reported.detail[:DETAIL_LENGTH],
    )


def _moment(participant: Participant, reported: PageEvent, sent_ms: float | None) -> datetime:
    """By the server's clock, minus how long the page held the event back; never before the session began."""
    now = timezone.now()
    if sent_ms is None or reported.client_ms is None:
        return now
    age = min(max(0.0, sent_ms - reported.client_ms), MAX_AGE.total_seconds() * 1000)
    return max(now - timedelta(milliseconds=age), participant.created_at)
