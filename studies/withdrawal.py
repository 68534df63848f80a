"""Withdrawal: a participant stops, and the answers are deleted or kept, as the study announced."""

from django.db import models, transaction
from django.utils import timezone

from . import audit, chain
from .errors import SessionOver
from .models import AuditEntry, Participant, Study

# The bare row that stays, so that counts and attrition stay true: random names, the arm, and how far it came when.
KEPT = (
    "id", "study", "version", "software_version", "purpose", "is_excluded", "code", "token_digest", "seed",
    "stage", "arm", "ticket", "created_at", "consented_at", "teaching_started_at", "evaluation_started_at",
    "last_seen_at", "finished_at", "roster_number", "seal",
)  # fmt: skip


def deletes(participant: Participant) -> bool:
    """Whether a withdrawal deletes, by the settings that this participant joined under."""
    return bool(participant.study_as_joined.on_withdrawal == Study.Withdrawal.DELETE)


def withdraw(participant: Participant) -> Participant:
    """End the session for good. Repeating it is a no-op; a session that has ended otherwise is refused."""
    with transaction.atomic():
        locked = Participant.objects.select_for_update().get(pk=participant.pk)
        if locked.stage == Participant.Stage.WITHDRAWN:
            return locked
        if locked.has_expired or not locked.is_under_way:
            raise SessionOver("This session has ended, so there is nothing to withdraw from.")
        _end(locked)
    return locked


def _end(participant: Participant) -> None:
    participant.stage = Participant.Stage.WITHDRAWN
    participant.finished_at = participant.last_seen_at = timezone.now()
    became = "kept"
    if deletes(participant):
        forget(participant)
        became = "deleted"
    participant.save()
    chain.seal(participant.pk)
    detail = f"{participant.code} withdrew; the answers so far were {became}."
    audit.record(AuditEntry.Action.WITHDRAW, detail, study=participant.study, actor=audit.WORKER)


def forget(participant: Participant) -> None:
    """Delete all rows that belong to the participant, and clear the columns that are not kept."""
    for relation in Participant._meta.related_objects:
        if relation.on_delete is models.CASCADE:
            rows = relation.related_model._base_manager.filter(**{relation.field.name: participant})
            rows.delete()
    for field in Participant._meta.concrete_fields:
        if field.name not in KEPT:
            setattr(participant, field.attname, field.get_default())


def has_left(participant: Participant) -> bool:
    """Whether the session was withdrawn from, or removed, since it was read."""
    others = Participant.objects.exclude(stage=Participant.Stage.WITHDRAWN)
    return not others.filter(pk=participant.pk).exists()
