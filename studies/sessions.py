"""A session for one request: the participant as joined, and the state that the browser may know."""

from __future__ import annotations

import copy
import math
from datetime import timedelta
from functools import lru_cache
from statistics import fmean
from typing import Any, NamedTuple

from django.core.exceptions import ObjectDoesNotExist
from django.http import Http404
from django.utils import timezone

from . import database, stages, withdrawal, worker_page
from .classes import PEOPLE
from .errors import SessionOver
from .models import Dataset, Participant, Study, StudyVersion, digest_of
from .stages import Json, Stage

# As many as a busy server needs at once.
MAX_VERSIONS = 256
MAX_SESSIONS = 4096

# "Last seen" serves time-outs of hours: a reload need not write it every time.
LAST_SEEN_STEP = timedelta(seconds=15)
OUTCOMES: dict[str, str] = {
    Participant.Stage.DONE: "completed",
    Participant.Stage.DECLINED: "declined",
    Participant.Stage.WITHDRAWN: "withdrawn",
}


def find(token: str) -> Participant:
    """The participant with this link, ready for a step; 404 for everybody else."""
    participant = _load(database.SESSION_BY_TOKEN, digest_of(token), token)
    if participant is None:
        raise Http404
    return participant


def reload(participant: Participant) -> Participant:
    """The same session as it is stored now."""
    found = _load(database.SESSION_BY_ID, participant.pk, participant.token)
    if found is None:
        raise SessionOver("This session was removed.")
    return found


def _load(statement: str, value: Any, token: str) -> Participant | None:
    found = database.read_session(statement, value)
    if found is None:
        return None
    participant, version_hash, title, session_hours = found
    participant.token = token
    participant.version_hash = version_hash
    study = copy.copy(_study_of_version(participant.version_id, version_hash))
    study.title, study.session_hours = title, session_hours
    study.dataset = copy.copy(study.dataset)
    if participant.purpose in PEOPLE:
        study.dataset.class_names = _class_names(token, study.dataset.pk)
    participant.study = participant.study_as_joined = study
    return participant


@lru_cache(maxsize=MAX_VERSIONS)
def _study_of_version(version_id: int, version_hash: str) -> Study:
    """The study as participants of a version joined it, which never changes. What no version freezes is deferred, so
    that it is read when it is needed. The hash is here because a version of another database may have the same id."""
    version = StudyVersion.objects.get(pk=version_id, hash=version_hash)
    return Study.objects.only("pk").get(pk=version.study_id).as_of(version)


@lru_cache(maxsize=MAX_SESSIONS)
def _class_names(token: str, dataset_id: int) -> list[str]:
    """Class names cannot change while a person's session exists."""
    return Dataset(pk=dataset_id).class_names


def refuse_if_expired(participant: Participant) -> None:
    if participant.has_expired:
        raise SessionOver("This session has expired, because it was left for too long.")


def touch(participant: Participant) -> None:
    """Note that the participant was here; refuse a session that has expired."""
    refuse_if_expired(participant)
    now = timezone.now()
    if participant.is_under_way and now - participant.last_seen_at > LAST_SEEN_STEP:
        Participant.objects.filter(pk=participant.pk).update(last_seen_at=now)


def get_task(participant: Participant, stage: Stage) -> Any:
    """The current task; SessionOver if the participant withdrew in another tab, which may have deleted it."""
    try:
        return stage.get_task(participant, participant.position)
    except ObjectDoesNotExist as missing:
        if withdrawal.has_left(participant):
            raise SessionOver from missing
        raise


def session_state(participant: Participant, task: Any = None, feedback: Json | None = None) -> Json:
    """What the browser may know now: the session, its progress and the current task.

    The participant comes from `find` or `reload`. `task` and `feedback` are passed if they are known already.
    """
    study = participant.study_as_joined
    if participant.is_under_way:
        stage = stages.by_name()[participant.stage]
        task = task or get_task(participant, stage)
        described = {"kind": stage.name, "position": task.position}
        described |= stage.describe(participant, task, feedback)
    else:
        described = _done_task(participant)
    progress, minutes_left = _progress(participant, task)
    return {
        "session": {
            "code": participant.code,
            "study": study.title,
            "classes": participant.classes,
            "stage": participant.stage,
            "stages": progress,
            "page": {
                "answer_keys": study.answer_keys,
                "minutes_left": minutes_left if study.shows_minutes_left else None,
                "shows_effort": study.shows_effort,
                "offers_breaks": study.offers_breaks,
            },
        },
        "task": described,
    }


class Part(NamedTuple):
    """A counted stage: its place in the flow, its units (None while they are not settled) and how long it takes."""

    place: int
    name: str
    title: str
    total: int | None
    seconds: float


def _progress(participant: Participant, task: Any) -> tuple[list[Json], int]:
    """The counted stages with the units that are done, and the minutes that a typical participant still needs."""
    names = list(stages.by_name())
    if participant.stage == Participant.Stage.DONE:
        here = len(names)
    else:
        here = names.index(participant.stage) if participant.is_under_way else 0
    rows = []
    seconds = seconds_left = 0.0
    for place, name, title, total, expected in _parts(
        participant.version_id, participant.version_hash, participant.teaching_steps
    ):
        done, part = (total or 0, 0.0) if place < here else (0, 0.0)
        if place == here and task is not None:
            done, part = task.units_done, task.part_done
        rows.append({"name": name, "title": title, "done": done, "part": part, "total": total})
        share = min(1.0, (done + part) / total) if total else 0.0
        seconds += expected
        seconds_left += expected * (1 - share)
    study = participant.study_as_joined
    return rows, math.ceil(study.minutes * seconds_left / seconds) if seconds else 0


@lru_cache(maxsize=4 * MAX_VERSIONS)
def _parts(version_id: int, version_hash: str, teaching_steps: int | None) -> list[Part]:
    """Everything here follows from the version and from the length that was assigned with the teacher."""
    study, parts = _study_of_version(version_id, version_hash), []
    for place, stage in enumerate(stages.flow()):
        lengths = stage.lengths(study)
        total = teaching_steps if stage.assigns_arm else max(lengths)
        if stage.is_counted:
            units = total or fmean((min(lengths), max(lengths)))
            seconds = stage.seconds(study, units)
            parts.append(Part(place, stage.name, stage.title, total, seconds))
    return parts


def _done_task(participant: Participant) -> Json:
    """The last page, which needs every column of the participant and of the study."""
    rows = Participant.objects.select_related("study__dataset", "version")
    row = rows.filter(pk=participant.pk).first()
    if row is None:
        raise SessionOver("This session was removed.")
    row.token = participant.token
    is_completed = row.stage == Participant.Stage.DONE
    has_score = is_completed and worker_page.has_score(row)
    is_told = has_score and worker_page.tells_scores(row)
    # Participants who declined gave no answers; those who withdrew were told beforehand what becomes of theirs.
    has_withdrawn = row.stage == Participant.Stage.WITHDRAWN
    return {
        "kind": "done",
        "outcome": OUTCOMES[row.stage],
        "keeps_answers": is_completed or (has_withdrawn and not withdrawal.deletes(row)),
        "score": {"evaluation_accuracy": row.evaluation_accuracy} if is_told else None,
        "score_follows": has_score and not is_told,
        "comparison": worker_page.comparison(row) if is_told else None,
        "bonus": worker_page.bonus_news(row) if is_completed else None,
        "completion_code": row.study.completion_code or None if is_completed else None,
        "return_url": row.return_url if is_completed else None,
        "submission": row.submission if is_completed else None,
    }
