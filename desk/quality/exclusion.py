"""Excluding a participant from everything that counts, and undoing it: each a decision with a reason that is kept."""

from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from desk.models import Decision
from studies import audit, chain
from studies.models import AuditEntry, Participant

LONGEST_REASON = 400


@transaction.atomic
def decide(participant: Participant, *, excludes: bool, reason: str, actor: Any) -> bool:
    """Excludes a participant, or undoes that. Returns whether it changed anything: the first reason stands."""
    words = _cleaned(reason)
    rows = Participant.objects.filter(pk=participant.pk, is_excluded=not excludes)
    # In one statement: if two people decide the same at once, only one decision is written.
    if not rows.update(is_excluded=excludes):
        return False
    chain.seal(participant.pk)
    Decision.objects.create(
        participant=participant,
        excludes=excludes,
        reason=words,
        actor=actor,
        actor_name=actor.get_username(),
    )
    _audit(participant, excludes, words, actor)
    participant.is_excluded = excludes
    return True


def _cleaned(reason: str) -> str:
    words = " ".join(reason.replace("\0", "").split())
    if not words:
        raise ValidationError("Give a reason: it is kept with the decision.")
    if len(words) > LONGEST_REASON:
        raise ValidationError(f"Give the reason in at most {LONGEST_REASON} characters.")
    return words


def _audit(participant: Participant, excludes: bool, reason: str, actor: Any) -> None:
    action = AuditEntry.Action.EXCLUDE if excludes else AuditEntry.Action.INCLUDE
    verb = "Excluded" if excludes else "Undid the exclusion of"
    detail = f"{verb} {participant.code}: {reason}"
    audit.record(action, detail, study=participant.study, actor=actor)
