"""Joining a study, its states, places and arms. Views, API, admin, commands and bots call these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from . import audit, chain, errors
from .head_counts import furthest_stage
from .models import AuditEntry, Participant, Study, StudyVersion, digest_of
from .recruitment import Recruitment
from .software import software_version

State = Study.State
MAX_PLACES_AT_ONCE = 10_000

STATE_MEANINGS: dict[str, str] = {
    State.DRAFT: "Nobody can begin yet. You can try every stage yourself.",
    State.PILOT: "The link lets people in as pilots: they take up no places and are left out of the results.",
    State.OPEN: "The link lets people in, and they count.",
    State.PAUSED: "Nobody new can begin for now. Those who have begun can finish.",
    State.CLOSED: "The study has ended. Nobody new can begin; those who have begun can finish.",
}


@dataclass(frozen=True)
class Move:
    """A state that may follow, under the name of its button."""

    state: str
    name: str
    sentence: str


_OPEN = "People who use the link from now on count. Their settings are frozen as a version."
_CLOSE = "The link says that the study has ended. Those who have begun can finish."

STATE_MOVES: dict[str, tuple[Move, ...]] = {
    State.DRAFT: (
        Move(
            State.PILOT, "Begin a pilot", "The link works; people who use it are marked as pilots."
        ),
        Move(State.OPEN, "Open the study", _OPEN),
    ),
    State.PILOT: (
        Move(State.OPEN, "Open the study", f"{_OPEN} Pilots who have begun stay pilots."),
        Move(State.DRAFT, "Back to draft", "The link stops working. Pilots can finish."),
    ),
    State.OPEN: (
        Move(State.PAUSED, "Pause", "Nobody new can begin until you open the study again."),
        Move(State.CLOSED, "Close", _CLOSE),
    ),
    State.PAUSED: (
        Move(State.OPEN, "Open again", "The link lets people in again."),
        Move(State.CLOSED, "Close", _CLOSE),
    ),
    State.CLOSED: (Move(State.OPEN, "Open again", "The link lets people in again."),),
}


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
    """Store the newest assignment of a participant who returned a task and accepted it again."""
    _keep_token(participant)
    newest = recruitment.external_session, recruitment.submit_to
    if recruitment.submit_to and newest != (participant.external_session, participant.submit_to):
        participant.external_session, participant.submit_to = newest
        participant.save(update_fields=("external_session", "submit_to"))
    return participant


def _keep_token(participant: Participant) -> None:
    """Replace a link that was derived from another secret key."""
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
    """Mark sessions that were left for too long as abandoned; return how many."""
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
    """Change the state of a study, if that is allowed, and log who did it."""
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
    if not any(move.state == state for move in STATE_MOVES[study.state]):
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


def close_arm(study: Study, arm: str, actor: Any) -> None:
    """Assign an arm to nobody new; participants who have it continue. One arm always stays open."""
    with transaction.atomic():
        locked = _lock_study_with_arm(study, arm)
        if arm in locked.closed_arms:
            return
        if locked.open_arms == [arm]:
            raise errors.StateNotAllowed(
                "This is the last open teacher, and participants need one. Pause or close the study instead."
            )
        _set_closed_arms(locked, [*locked.closed_arms, arm])
        audit.record(
            AuditEntry.Action.STATE, f"The teacher {arm} was closed.", study=study, actor=actor
        )


def reopen_arm(study: Study, arm: str, actor: Any) -> None:
    with transaction.atomic():
        locked = _lock_study_with_arm(study, arm)
        if arm not in locked.closed_arms:
            return
        _set_closed_arms(locked, [name for name in locked.closed_arms if name != arm])
        audit.record(
            AuditEntry.Action.STATE,
            f"The teacher {arm} was opened again.",
            study=study,
            actor=actor,
        )


def _lock_study_with_arm(study: Study, arm: str) -> Study:
    locked = Study.objects.select_for_update().get(pk=study.pk)
    if arm not in locked.arm_names:
        raise errors.StateNotAllowed("This study has no such teacher.")
    return locked


def _set_closed_arms(study: Study, closed: list[str]) -> None:
    """Arms that the settings no longer have are dropped, so that they are open if they come back."""
    known = [name for name in closed if name in study.arm_names]
    Study.objects.filter(pk=study.pk).update(closed_arms=known)


def add_places(study: Study, more: int, actor: Any) -> int:
    """Raise the maximum number of participants; return the new maximum."""
    if not 1 <= more <= MAX_PLACES_AT_ONCE:
        raise errors.StateNotAllowed(f"Add between 1 and {MAX_PLACES_AT_ONCE:,} places at once.")
    with transaction.atomic():
        limited = Study.objects.filter(pk=study.pk, max_participants__isnull=False)
        if not limited.update(max_participants=F("max_participants") + more):
            raise errors.StateNotAllowed("The number of places in this study is not limited.")
        places = int(limited.values_list("max_participants", flat=True).get() or 0)
        detail = f"{more} places were added; there are {places} now."
        audit.record(AuditEntry.Action.STATE, detail, study=study, actor=actor)
    return places
