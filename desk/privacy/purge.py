"""Deleting what is kept about people: one of them, everybody in a study, or everybody last seen long ago.

Studies, their settings and data sets stay, and so do the audit entries, which name people by their random codes
only. A worker's withdrawal is different: it leaves a bare row, so that counts stay true; a purge leaves nothing.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from studies import audit, chain
from studies.models import AuditEntry, Participant, ParticipantQuerySet, Study

# People in one transaction: other people's answers wait no longer than such a batch takes.
BATCH = 100


class PurgeRefused(Exception):
    """Says why, and what to do first."""


def people_of_study(study: Study) -> ParticipantQuerySet:
    """Everybody in a study that nobody can join now; people who have its page open lose their session."""
    if study.state in Study.TAKES_PART:
        raise PurgeRefused(
            f"{study.title} is {study.get_state_display()}. Pause or close it first."
        )
    return study.participants.all()


def people_before(days: int) -> ParticipantQuerySet:
    """Everybody whose session ended, or was left, more than this many days ago."""
    moment = timezone.now() - timedelta(days=days)
    old = Participant.objects.filter(last_seen_at__lt=moment)
    under_way = old.under_way().select_related("study").iterator()
    return old.exclude(pk__in=[person.pk for person in under_way if not person.has_expired])


def purge_people(people: ParticipantQuerySet, *, why: str, actor: Any) -> int:
    """Deletes them study by study, each batch with its entry in the record. Returns how many there were."""
    by_study: dict[int, list[int]] = {}
    for study_id, pk in people.order_by("study_id", "pk").values_list("study_id", "pk"):
        by_study.setdefault(study_id, []).append(pk)
    numbers = [
        _purge_batch(study, by_study[study.pk][start : start + BATCH], why, actor)
        for study in Study.objects.filter(pk__in=by_study)
        for start in range(0, len(by_study[study.pk]), BATCH)
    ]
    return sum(numbers)


def _purge_batch(study: Study, batch: list[int], why: str, actor: Any) -> int:
    with transaction.atomic():
        number = chain.remove_participants(study.participants.filter(pk__in=batch))
        noun = "participant" if number == 1 else "participants"
        detail = f"Deleted everything about {number} {noun} ({why})."
        audit.record(AuditEntry.Action.DELETE, detail, study=study, actor=actor)
    return number
