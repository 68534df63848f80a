"""Reading a session for one request: few columns, and whatever never changes from the memory of the process.

Building a query costs more than running it. So the reads that every step needs are written down as SQL, and its writes
are those of `rows`; everything else goes through the models as usual.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, TypeVar

from django.db import connection
from django.http import Http404

from . import errors, rows
from .classes import PEOPLE
from .keys import digest_of
from .models import Dataset, Example, LabelTask, Participant, Study, StudyVersion, Task

# As many as a busy server needs at once; what was dropped is read again.
MOST_VERSIONS = 256
MOST_SESSIONS = 4096
MOST_EXAMPLES = 10_000

# What a step needs of a participant, and of the study what no version has: the rest comes with the version.
PARTICIPANT = (
    "id", "study_id", "version_id", "purpose", "code", "seed", "stage", "position", "chain_head", "last_seen_at",
    "beta", "arm", "teaching_steps",
)  # fmt: skip
SESSION = f"""
SELECT {", ".join(f"p.{name}" for name in PARTICIPANT)}, v.hash, s.title, s.session_hours
FROM studies_participant p
JOIN studies_study s ON s.id = p.study_id
JOIN studies_studyversion v ON v.id = p.version_id
"""  # noqa: S608 - the names are ours
TASKS = """
SELECT {columns} FROM {table} WHERE participant_id = %s AND position BETWEEN %s AND %s ORDER BY position
"""
EXAMPLE = ("id", "dataset_id", "split", "pool_index", "label", "key")
EXAMPLES = f"""
SELECT {", ".join(EXAMPLE)} FROM studies_example
WHERE id = %s AND dataset_id = (SELECT id FROM studies_dataset WHERE key = %s)
"""  # noqa: S608 - the names are ours
IMAGES = """
SELECT e.key FROM {table} t JOIN studies_example e ON e.id = t.example_id
WHERE t.participant_id = %s AND t.position <= %s ORDER BY t.position DESC
"""

AnyTask = TypeVar("AnyTask", bound=Task)
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
    found = rows_of(model, participant, first, last)
    for row in found:
        row.example = example(participant.study_as_joined.dataset, row.example_id)
    return found


def rows_of(model: type[AnyTask], participant: Participant, first: int, last: int) -> list[AnyTask]:
    """The participant's tasks of any kind from one position to another; there is at least one."""
    names = model.needed_by_every_step()
    statement = TASKS.format(columns=", ".join(names), table=model._meta.db_table)
    found = [row for row, _ in rows.read(model, names, statement, [participant.pk, first, last])]
    if not found:
        raise model.DoesNotExist
    for row in found:
        row.participant = participant
    return found


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
    for found, _ in rows.read(Example, EXAMPLE, EXAMPLES, [example_id, key]):
        return found
    raise Example.DoesNotExist


def _read(where: str, value: Any, token: str) -> Participant | None:
    for participant, (version_hash, title, hours) in rows.read(
        Participant, PARTICIPANT, SESSION + where, [value]
    ):
        participant.token = token
        bare, frozen, dataset = _frozen(participant.version_id, version_hash)
        participant.study, participant.study_as_joined = copy.copy(bare), copy.copy(frozen)
        for study in (participant.study, participant.study_as_joined):
            study.title, study.session_hours = title, hours
        participant.study_as_joined.dataset = _dataset(participant, dataset)
        return participant
    return None


@lru_cache(maxsize=MOST_VERSIONS)
def _frozen(version_id: int, digest: str) -> tuple[Study, Study, Dataset]:
    """A study without any of its columns, the same with what a version of it says, which never changes, and the data
    set of the version. The hash is here because a version of another database may have the same number."""
    version = StudyVersion.objects.get(pk=version_id, hash=digest)
    settings = Study.settings_of(version)
    dataset = Dataset.objects.defer("insight").get(key=settings["dataset"]["key"])
    bare = Study.objects.only("pk").get(pk=version.study_id)
    frozen = copy.copy(bare)
    for name, value in (settings | {"dataset": dataset}).items():
        setattr(frozen, name, value)
    return bare, frozen, dataset


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
