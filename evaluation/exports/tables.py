"""The tables of an export and where their rows come from: each is one statement, read as it is written."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from evaluation.models import EvaluationItem
from memorytest.models import MemoryRound
from studies.models import Participant, Study
from teaching.models import TeachingStep

from .columns import (
    Columns,
    evaluation_columns,
    memory_columns,
    participant_columns,
    teaching_columns,
)

# Rows in memory at a time: many enough that the database is not asked too often.
CHUNK = 2000


@dataclass(frozen=True)
class Table:
    name: str
    title: str
    description: str
    columns_of: Callable[[Study], Columns]
    rows_of: Callable[[Study, str], Iterator[Any]]
    """The rows of a study, through the connection with this name."""

    def columns(self, study: Study, *, identifiable: bool) -> Columns:
        """All columns, or those that name nobody."""
        return tuple(c for c in self.columns_of(study) if identifiable or not c.identifiable)


def participant_rows(study: Study, using: str) -> Iterator[Participant]:
    rows = Participant.objects.using(using).counted().filter(study=study).order_by("pk")
    joined_to = Origins(study)
    for participant in rows.iterator(chunk_size=CHUNK):
        joined_to(participant)
        yield participant


def teaching_rows(study: Study, using: str) -> Iterator[TeachingStep]:
    return _task_rows(TeachingStep.objects.using(using).select_related("example"), study)


def evaluation_rows(study: Study, using: str) -> Iterator[EvaluationItem]:
    return _task_rows(EvaluationItem.objects.using(using).select_related("example"), study)


def memory_rows(study: Study, using: str) -> Iterator[MemoryRound]:
    return _task_rows(MemoryRound.objects.using(using), study)


# What the columns of a task never read, and would be built anew for every row.
UNREAD = [
    f"participant__{field.name}"
    for field in Participant._meta.concrete_fields
    if field.name
    not in {"id", "study", "version", "code", "arm", "purpose", "software_version", "seed"}
]


class Origins:
    """Gives participants the study and its settings as they joined it, one object for all of a version."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.versions = {version.pk: version for version in study.versions.all()}
        self.settings = {pk: study.as_of(version) for pk, version in self.versions.items()}

    def __call__(self, participant: Participant) -> None:
        participant.study = self.study
        participant.version = self.versions[participant.version_id]
        participant.settings = self.settings[participant.version_id]


def _task_rows(tasks: QuerySet[Any], study: Study) -> Iterator[Any]:
    """Participant by participant, each one's tasks in order; all share one object of the study."""
    people = Participant.objects.counted().filter(study=study)
    rows = tasks.filter(participant__in=people).select_related("participant").defer(*UNREAD)
    ordered = rows.order_by("participant_id", "position")
    joined_to = Origins(study)
    for task in ordered.iterator(chunk_size=CHUNK):
        joined_to(task.participant)
        yield task


TABLES = {
    table.name: table
    for table in (
        Table(
            "participants",
            "Participants",
            "One row per participant, in the order of joining.",
            participant_columns,
            participant_rows,
        ),
        Table(
            "teaching",
            "Teaching steps",
            "One row per image that a teacher chose, with everything it knew when it chose and the "
            "worker's answer. The step that a worker has not answered yet is there without an answer.",
            teaching_columns,
            teaching_rows,
        ),
        Table(
            "evaluation",
            "Evaluation answers",
            "One row per image of the evaluation. All images are drawn when the evaluation begins; those "
            "not yet answered are there without an answer.",
            evaluation_columns,
            evaluation_rows,
        ),
        Table(
            "memory",
            "Memory rounds",
            "One row per round of the memory test, practice included.",
            memory_columns,
            memory_rows,
        ),
    )
}
