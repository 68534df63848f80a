"""Reading a session for one request: few columns, and whatever never changes from the memory of the process.

Building a query costs more than running it. So the reads that every step needs are written down as SQL; everything
else, and every write, goes through the models as usual.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, TypeVar

from django.db import connection
from django.http import Http404

from . import errors
from .classes import PEOPLE
from .keys import digest_of
from .models import Dataset, Example, LabelTask, Participant, Study, StudyVersion

# As many as a busy server needs at once; what was dropped is read again.
MOST_VERSIONS = 256
MOST_SESSIONS = 4096
MOST_EXAMPLES = 10_000

# Of the study only what no version has: the rest comes with the version. Other columns are read if somebody asks.
SESSION = """
SELECT p.id, p.study_id, p.version_id, p.purpose, p.code, p.seed, p.stage, p.position, p.chain_head,
    p.last_seen_at, p.beta, p.arm, p.teaching_steps, v.hash AS version_hash,
    s.title AS study_title, s.session_hours AS study_hours
FROM studies_participant p
JOIN studies_study s ON s.id = p.study_id
JOIN studies_studyversion v ON v.id = p.version_id
"""
TASKS = """
SELECT {columns} FROM {table} WHERE participant_id = %s AND position BETWEEN %s AND %s ORDER BY position
"""
IMAGES = """
SELECT e.key FROM {table} t JOIN studies_example e ON e.id = t.example_id
WHERE t.participant_id = %s AND t.position <= %s ORDER BY t.position DESC
"""

AnyLabelTask = TypeVar("AnyLabelTask", bound=LabelTask)


def find(token: str) -> Participant:
    """The participant whose link this is, ready for a step."""
    found = _read("WHERE p.token_digest = %s", digest_of(token), token)
    if found is None:
        raise Http404
    return found


def read_again(participant: Participant) -> Participant:
    """The same session as it is now."""
    found = _read("WHERE p.id = %s", participant.pk, participant.token)
    if found is None:
        raise errors.SessionOver("This session was removed.")
    return found


def read_whole(participant: Participant) -> Participant:
    """With every column of the row and of the study, for what only the end of a session needs."""
    row = Participant.objects.select_related("study").filter(pk=participant.pk).first()
    if row is None:
        raise errors.SessionOver("This session was removed.")
    row.token = participant.token
    row.study_as_joined = study = copy.copy(row.study)
    for name in Study.CONFIGURATION:
        setattr(study, name, getattr(participant.study_as_joined, name))
    return row


def tasks(
    model: type[AnyLabelTask], participant: Participant, first: int, last: int
) -> list[AnyLabelTask]:
    """The participant's tasks from one position to another, each with its example; there is at least one."""
    sql = TASKS.format(columns=", ".join(model.NEEDED_BY_EVERY_STEP), table=model._meta.db_table)
    rows = list(model._default_manager.raw(sql, [participant.pk, first, last]))
    if not rows:
        raise model.DoesNotExist
    for row in rows:
        row.participant = participant
        row.example = example(participant.study_as_joined.dataset, row.example_id)
    return rows


def image_keys(model: type[LabelTask], participant: Participant, last: int) -> Iterator[str]:
    """The images of a participant's tasks up to a position, newest first."""
    with connection.cursor() as cursor:
        cursor.execute(IMAGES.format(table=model._meta.db_table), [participant.pk, last])
        for (key,) in cursor:
            yield key


def example(dataset: Dataset, example_id: int) -> Example:
    """An example of a data set. It never changes, so all threads share it."""
    return _example(example_id, dataset.key)


@lru_cache(maxsize=MOST_EXAMPLES)
def _example(example_id: int, key: str) -> Example:
    return Example.objects.get(pk=example_id, dataset__key=key)


def _read(where: str, value: Any, token: str) -> Participant | None:
    for participant in Participant.objects.raw(SESSION + where, [value]):
        participant.token = token
        return _with_study(participant)
    return None


def _with_study(participant: Any) -> Participant:
    study, settings = _frozen(participant.version_id, participant.version_hash)
    participant.study = live = copy.copy(study)
    live.title, live.session_hours = participant.study_title, participant.study_hours
    participant.study_as_joined = joined = copy.copy(live)
    for name, value in settings.items():
        setattr(joined, name, value)
    joined.dataset = _dataset(participant, settings["dataset"])
    return participant  # type: ignore[no-any-return]


@lru_cache(maxsize=MOST_VERSIONS)
def _frozen(version_id: int, digest: str) -> tuple[Study, dict[str, Any]]:
    """A study without any of its columns, and what a version of it says, which never changes. The hash is here
    because a version of another database may have the same number."""
    version = StudyVersion.objects.get(pk=version_id, hash=digest)
    settings = Study.settings_of(version)
    dataset = Dataset.objects.defer("insight").get(key=settings["dataset"]["key"])
    return Study.objects.only("pk").get(pk=version.study_id), settings | {"dataset": dataset}


def _dataset(participant: Participant, known: Dataset) -> Dataset:
    """One for each request, because names of classes can change as long as no person has joined."""
    dataset = copy.copy(known)
    if participant.purpose in PEOPLE:
        dataset.class_names = _class_names(participant.token, dataset.pk)
    return dataset


@lru_cache(maxsize=MOST_SESSIONS)
def _class_names(token: str, dataset_id: int) -> list[str]:
    """They stay as they are for as long as this person's session exists."""
    return Dataset(pk=dataset_id).class_names
