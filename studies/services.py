"""Joining a study, and its states. Views, API, admin, commands and bots call these."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from . import audit, chain, errors, states
from .head_counts import furthest_stage
from .models import AuditEntry, Participant, Study, StudyVersion, digest_of
from .recruitment import Recruitment
from .software import software_version


def join(*, study: Study, recruitment: Recruitment) -> tuple[Participant, bool]:
    """The session of this person in this study, made if there is none: (participant, is new)."""
    if existing := recruitment.find(study):
        return resume(existing, recruitment), False
    with transaction.atomic():
        locked = Study.objects.select_for_update().get(pk=study.pk)
        # Again, now that nobody else can join: the same person may have pressed twice.
        if existing := recruitment.find(locked):
            return resume(existing, recruitment), False
        refuse_unless_open(locked, recruitment)
        return _create_participant(locked, recruitment), True


def resume(participant: Participant, recruitment: Recruitment) -> Participant:
    """A worker who gave a task back and accepted it again has another assignment, and hands in that one."""
    _keep_token(participant)
    newest = recruitment.external_session, recruitment.submit_to
    if recruitment.submit_to and newest != (participant.external_session, participant.submit_to):
        participant.external_session, participant.submit_to = newest
        participant.save(update_fields=("external_session", "submit_to"))
    return participant


def _keep_token(participant: Participant) -> None:
    """A link that no longer follows from the server's key is replaced by one that does."""
    if not participant.is_token_kept:
        participant.token_digest = digest_of(participant.token)
        participant.save(update_fields=("token_digest",))


def refuse_unless_open(study: Study, recruitment: Recruitment) -> None:
    if recruitment.is_preview:
        raise errors.PreviewOnly
    if recruitment.purpose:
        return
    if study.state not in Study.TAKES_PART:
        raise errors.StudyNotOpen
    if study.state == Study.State.OPEN and study.is_full():
        raise errors.StudyFull


def _create_participant(study: Study, recruitment: Recruitment) -> Participant:
    participant = Participant(
        study=study,
        version=StudyVersion.freeze(study),
        software_version=software_version(),
        purpose=recruitment.purpose_in(study),
        recruiter=recruitment.recruiter,
        external_id=recruitment.external_id,
        external_study=recruitment.external_study,
        external_session=recruitment.external_session,
        submit_to=recruitment.submit_to,
        roster_number=chain.take_roster_number(study),
    )
    participant.token_digest = digest_of(participant.token)
    participant.save(force_insert=True)
    chain.seal(participant.pk)
    return participant


def expire_sessions(study: Study) -> int:
    """Marks sessions whose worker has not been seen for too long; returns how many."""
    overdue = study.participants.overdue(study.cutoff)
    return overdue.update(stage=Participant.Stage.ABANDONED, finished_at=timezone.now())


def reopen_session(participant: Participant, actor: Any) -> None:
    """Let a participant whose session has expired go on where it stopped."""
    with transaction.atomic():
        rows = Participant.objects.select_for_update(of=("self",)).select_related("study")
        locked: Any = rows.annotate(reached=furthest_stage()).get(pk=participant.pk)
        if not locked.has_expired:
            raise errors.StateNotAllowed(f"The session of {locked.code} has not expired.")
        # A session that was marked as abandoned does not store its stage any more.
        Participant.objects.filter(pk=locked.pk).update(
            stage=locked.reached, last_seen_at=timezone.now(), finished_at=None
        )
        detail = f"The session of {locked.code} was reopened."
        audit.record(AuditEntry.Action.STATE, detail, study=locked.study, actor=actor)


def change_state(study: Study, state: str, actor: Any) -> Study:
    """Brings a study into another state, if that may follow, and writes down who did it."""
    with transaction.atomic():
        locked = Study.objects.select_for_update().get(pk=study.pk)
        _refuse_unless_allowed(locked, state)
        Study.objects.filter(pk=study.pk).update(state=state)
        detail = f"The state changed from {locked.state} to {state}."
        audit.record(AuditEntry.Action.STATE, detail, study=study, actor=actor)
    study.state = state
    return study


def _refuse_unless_allowed(study: Study, state: str) -> None:
    """The state must be allowed to follow, and nobody is let in while the settings would not pass the checks."""
    if not states.may_follow(study.state, state):
        raise errors.StateNotAllowed(f"A study that is {study.state} cannot become {state}.")
    if state not in Study.TAKES_PART:
        return
    try:
        study.full_clean()
    except ValidationError as error:
        raise errors.StateNotAllowed(
            f"The settings have to be corrected first: {' '.join(error.messages)}",
            fields=error.message_dict,
        ) from error
