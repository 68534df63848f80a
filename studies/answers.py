"""Recording answers: each position is answered once, and a repeated answer gets the first reply again."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from django.db import transaction
from django.dispatch import Signal
from django.utils import timezone

from . import chain, database, sessions, stages
from .errors import AlreadyAnswered, NotCurrent, SessionOver
from .models import Participant
from .stages import Json, Stage

# A participant has answered the last task. Sent with `participant`, inside the transaction of that answer.
session_finished = Signal()


def record_answer(participant: Participant, position: int, payload: Any) -> Json:
    """Store the answer to the current task once; return the feedback and the state after it."""
    sessions.refuse_if_expired(participant)
    if not participant.is_under_way or position != participant.position:
        return repeat_answer(participant, position, payload)
    stage = stages.by_name()[participant.stage]
    task = sessions.get_task(participant, stage)
    answer = stage.validate(participant, task, payload)

    task.set_answer(answer)
    chain_head = chain.link(participant, task) if stage.task_model else participant.chain_head
    results: Json = {}
    next_stage = None
    try:
        # Compute before the transaction, so that nobody waits for it.
        next_task = stage.next_task(participant, task)
        if next_task is None:
            results = stage.results(participant, task)
            next_stage = stages.after(stage)
            if next_stage:
                next_stage.prepare(participant.study_as_joined)

        with transaction.atomic():
            database.advance(participant, chain_head)
            stage.save_answer(participant, task, answer)
            if next_task is None:
                leave_stage(participant, results, next_stage)
            elif next_task.pk is None:  # the evaluation inserted all its tasks at its start
                next_task.created_at = timezone.now()
                next_task.save(force_insert=True)
    except database.Conflict:
        # What is stored now decides.
        return record_answer(sessions.reload(participant), position, payload)

    feedback = stage.feedback(participant, task)
    return {"feedback": feedback} | sessions.session_state(participant, next_task, feedback)


def leave_stage(participant: Participant, results: Json, next_stage: Stage | None) -> None:
    """Store the results of a stage and begin the next one, or end the session."""
    columns = {"stage": next_stage.name if next_stage else Participant.Stage.DONE} | results
    set_columns(participant, columns)
    if next_stage and participant.is_under_way:
        begun = next_stage.begin(participant)
    else:
        begun = {"finished_at": timezone.now()}
    set_columns(participant, begun)
    # Only these columns: a researcher may have decided something about the participant in the meantime.
    Participant.objects.filter(pk=participant.pk).update(**columns, **begun)
    chain.seal(participant.pk)
    if participant.stage == Participant.Stage.DONE:
        session_finished.send(sender=Participant, participant=participant)


def set_columns(participant: Participant, columns: Json) -> None:
    for name, value in columns.items():
        setattr(participant, name, value)


def repeat_answer(participant: Participant, position: int, payload: Any) -> Json:
    """Return the first reply again; refuse an answer that differs from the stored one."""
    if participant.stage in (Participant.Stage.WITHDRAWN, Participant.Stage.ABANDONED):
        raise SessionOver
    for stage in stages.flow():
        try:
            task = stage.get_task(participant, position)
        except ObjectDoesNotExist:
            continue
        if not task.is_answered:
            break
        if not task.has_answer(stage.validate(participant, task, payload)):
            raise AlreadyAnswered
        feedback = stage.feedback(participant, task)
        return {"feedback": feedback} | sessions.session_state(participant)
    if not participant.is_under_way:
        raise SessionOver
    raise NotCurrent
