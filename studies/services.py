"""The verbs of a session. Views, API, admin, commands and bots all call these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.dispatch import Signal
from django.utils import timezone

from . import (
    audit,
    chain,
    errors,
    request_notes,
    rows,
    sessions,
    stages,
    states,
    turns,
    withdrawal,
    worker_page,
)
from .keys import digest_of
from .models import AuditEntry, Participant, Study, StudyVersion
from .recruitment import Recruitment
from .software import software_version
from .stages import Current, Json, Stage, Taken, TaskChanged

# A participant has answered the last task. Sent with `participant`, inside the transaction of that answer; the sender
# does not know who listens.
session_finished = Signal()

# "Last seen" is for time-outs of hours: a reload need not write it every time.
LAST_SEEN_STEP = timedelta(seconds=15)
OUTCOMES: dict[str, str] = {
    Participant.Stage.DONE: "completed",
    Participant.Stage.DECLINED: "declined",
    Participant.Stage.WITHDRAWN: "withdrawn",
}


def join(*, study: Study, recruitment: Recruitment) -> tuple[Participant, bool]:
    """The session of this person in this study, made if there is none: (participant, is new)."""
    if existing := recruitment.find(study):
        return resume(existing, recruitment), False
    with turns.writing():
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
    )
    participant.token_digest = digest_of(participant.token)
    participant.save(force_insert=True)
    return participant


def session_state(participant: Participant, current: Current | None = None) -> Json:
    """What the browser may know now: the session, its progress and the current task."""
    if participant.is_under_way:
        current = current or _current(participant)
    progress = _progress(participant, current)
    return {
        "session": {
            "code": participant.code,
            "study": participant.study.title,
            "classes": participant.classes,
            "stage": participant.stage,
            "stages": progress,
            "page": worker_page.page_of(participant, progress),
        },
        "task": current.task if current else _done_task(participant),
    }


def _current(participant: Participant) -> Current:
    with withdrawal.reading_tasks(participant):
        return stages.named(participant.stage).current(participant)


def _progress(participant: Participant, current: Current | None) -> list[Json]:
    """The counted stages with their units: all of a past stage's, none of a coming one's."""
    here = _place_in_flow(participant)
    rows = []
    for place, stage in enumerate(stages.flow()):
        total = stage.total(participant)
        is_here = place == here and current is not None
        done = (total or 0) if place < here else current.done if is_here and current else 0
        part = current.part if is_here and current else 0.0
        row = {"name": stage.name, "title": stage.title, "done": done, "part": part, "total": total}
        if stage.is_counted:
            rows.append(row)
    return rows


def _place_in_flow(participant: Participant) -> int:
    """The number of the current stage; beyond the last when all are done, the first for those who declined."""
    names = [stage.name for stage in stages.flow()]
    if participant.stage == Participant.Stage.DONE:
        return len(names)
    return names.index(participant.stage) if participant.is_under_way else 0


def _done_task(participant: Participant) -> Json:
    participant = sessions.read_whole(participant)
    is_completed = participant.stage == Participant.Stage.DONE
    has_score = is_completed and worker_page.has_score(participant)
    is_told = has_score and worker_page.tells_scores(participant.study)
    return {
        "kind": "done",
        "outcome": OUTCOMES[participant.stage],
        "keeps_answers": is_completed or _keeps_answers(participant),
        "score": {"evaluation_accuracy": participant.evaluation_accuracy} if is_told else None,
        "score_follows": has_score and not is_told,
        "comparison": worker_page.comparison(participant) if is_told else None,
        "bonus": worker_page.bonus_news(participant) if is_completed else None,
        "completion_code": participant.study.completion_code or None if is_completed else None,
        "return_url": participant.return_url if is_completed else None,
        "submission": participant.submission if is_completed else None,
    }


def _keeps_answers(participant: Participant) -> bool:
    """Those who declined gave none; those who withdrew were told beforehand."""
    has_withdrawn = participant.stage == Participant.Stage.WITHDRAWN
    return has_withdrawn and not withdrawal.deletes(participant)


def refuse_if_expired(participant: Participant) -> None:
    if participant.has_expired:
        raise errors.SessionOver("This session has expired, because it was left for too long.")


def touch(participant: Participant) -> None:
    """Notes that the participant was here; refuses a session that has expired."""
    refuse_if_expired(participant)
    now = timezone.now()
    if participant.is_under_way and now - participant.last_seen_at > LAST_SEEN_STEP:
        Participant.objects.filter(pk=participant.pk).update(last_seen_at=now)


def record_answer(*, participant: Participant, position: int, payload: Mapping[str, Any]) -> Json:
    """Takes the answer to a position, once: the feedback and the state after it."""
    refuse_if_expired(participant)
    if not participant.is_under_way or position != participant.position:
        return _repeat(participant, position, payload)
    stage = stages.named(participant.stage)
    answer = stage.read(participant, payload)
    with withdrawal.reading_tasks(participant):
        plan = stage.plan(participant, answer)
    if answered := stage.answered(plan):
        participant.chain_head = chain.link(participant, answered)
    if following := stages.after(stage.name):
        following.warm_up(participant.study_as_joined)
    try:
        with turns.writing():
            taken = _record(participant, stage, answer, plan) if _move_on(participant) else None
    except TaskChanged:
        # Nothing of it was written. The task is read as it is now, and the answer taken to that.
        again = sessions.read_again(participant)
        return record_answer(participant=again, position=position, payload=payload)
    if taken is None:
        # Somebody else was faster, in another tab: what stands now decides.
        return _repeat(sessions.read_again(participant), position, payload)
    request_notes.note_answer(stage.name)
    told = stage.tell(participant, plan)
    return {"feedback": told.feedback} | session_state(participant, told.current)


def _move_on(participant: Participant) -> bool:
    """Goes to the next position, if the session still is where it was read; the row is held until the transaction
    ends. Of two answers only one can do this, and all that it read of the session holds: every answer moves on."""
    moved = {
        "position": participant.position + 1,
        "last_seen_at": timezone.now(),
        "chain_head": participant.chain_head,
    }
    return rows.change(Participant, moved, _where_it_was_read(participant)) == 1


def lock(participant: Participant) -> bool:
    """Notes that the participant was here, and holds the row until the transaction ends, if the session still is where
    it was read."""
    seen = {"last_seen_at": timezone.now()}
    return rows.change(Participant, seen, _where_it_was_read(participant)) == 1


def _where_it_was_read(participant: Participant) -> Json:
    return {"id": participant.pk, "stage": participant.stage, "position": participant.position}


def _record(participant: Participant, stage: Stage, answer: Json, plan: Any) -> Taken:
    taken = stage.record(participant, answer, plan)
    participant.position += 1
    if taken.is_last:
        _save(participant, _leave(participant, stage, taken))
    if participant.stage == Participant.Stage.DONE:
        session_finished.send(sender=Participant, participant=participant)
    return taken


def _save(participant: Participant, changed: Iterable[str]) -> None:
    """Only what an answer changes is saved: a researcher's decision in the meantime stands."""
    unread = participant.get_deferred_fields()
    participant.save(update_fields=[name for name in changed if name not in unread])


def _leave(participant: Participant, stage: Stage, taken: Taken) -> tuple[str, ...]:
    """Goes on to the next stage, or ends the session; returns the columns that it has written."""
    if taken.ends_as:
        return (*_end(participant, taken.ends_as), *stage.columns)
    stage.finish(participant)
    following = stages.after(stage.name)
    if following is None:
        return (*_end(participant, Participant.Stage.DONE), *stage.columns)
    participant.stage = following.name
    following.begin(participant)
    return ("stage", *stage.columns, *following.columns)


def _end(participant: Participant, outcome: str) -> tuple[str, ...]:
    participant.stage, participant.finished_at = outcome, timezone.now()
    return ("stage", "finished_at")


def _repeat(participant: Participant, position: int, payload: Mapping[str, Any]) -> Json:
    """Answers a position that was answered before: the same content gets the same feedback, other content 409."""
    if participant.stage in (Participant.Stage.WITHDRAWN, Participant.Stage.ABANDONED):
        raise errors.SessionOver
    for stage in stages.flow():
        recorded = stage.recorded(participant, position)
        if recorded is None:
            continue
        answer = stage.read(participant, payload)
        if any(answer[name] != value for name, value in recorded.answer.items()):
            raise errors.AlreadyAnswered
        return {"feedback": recorded.feedback} | session_state(participant)
    if not participant.is_under_way:
        raise errors.SessionOver
    raise errors.NotCurrent


def expire_sessions(study: Study) -> int:
    """Marks sessions whose worker has not been seen for too long; returns how many."""
    overdue = study.participants.overdue(study.cutoff)
    return overdue.update(stage=Participant.Stage.ABANDONED, finished_at=timezone.now())


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
