"""The tables of an export and the query behind each, whose rows are streamed."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db.models import QuerySet

from evaluation.models import EvaluationItem
from memorytest.models import MemoryRound
from studies.models import Participant, ParticipantQuerySet, SessionEvent, Study
from teaching.models import TeachingStep

from . import task_columns
from .column import Columns
from .people_columns import participant_columns

# Rows fetched at a time.
CHUNK = 2000


@dataclass(frozen=True)
class StudySnapshot:
    """A study as one connection sees it, and which of its participants are exported."""

    study: Study
    using: str
    versions: tuple[int, ...]
    """Versions of the settings."""
    everyone: bool = False
    """Also pilots, previews, rehearsals and excluded participants."""

    def people(self, *, with_excluded: bool = False) -> ParticipantQuerySet:
        """Participants who count, or everyone. `with_excluded` adds those who would count if they were not excluded."""
        own = Participant.objects.using(self.using).filter(
            study=self.study, version__number__in=self.versions
        )
        if self.everyone:
            return own
        return own.live() if with_excluded else own.counted()


@dataclass(frozen=True)
class ExportTable:
    name: str
    title: str
    description: str
    columns_of: Callable[[Study], Columns]
    rows_of: Callable[[StudySnapshot], Iterator[Any]]

    def columns(self, study: Study, *, identifiable: bool) -> Columns:
        """All columns, or only those that identify nobody."""
        return tuple(c for c in self.columns_of(study) if identifiable or not c.identifiable)


def participant_rows(
    source: StudySnapshot, *, with_excluded: bool = False
) -> Iterator[Participant]:
    joined_to = Origins(source.study)
    people = source.people(with_excluded=with_excluded).order_by("pk")
    for participant in people.iterator(chunk_size=CHUNK):
        joined_to(participant)
        yield participant


# The columns of a participant that tasks and events need; deferring the others makes rows much cheaper.
NEEDED = {
    "id", "study", "version", "code", "arm", "purpose", "is_excluded", "software_version", "seed",
}  # fmt: skip
DEFERRED = [
    f"participant__{field.name}"
    for field in Participant._meta.concrete_fields
    if field.name not in NEEDED
]


class Origins:
    """Sets the study and its settings on participants, sharing one object per version."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.versions = {version.pk: version for version in study.versions.all()}
        self.study_as_joined = {pk: study.as_of(version) for pk, version in self.versions.items()}

    def __call__(self, participant: Participant) -> None:
        participant.study = self.study
        participant.version = self.versions[participant.version_id]
        participant.study_as_joined = self.study_as_joined[participant.version_id]


def rows_of_people(
    rows: QuerySet[Any],
    order: tuple[str, ...],
    source: StudySnapshot,
    *,
    with_excluded: bool = False,
) -> Iterator[Any]:
    """The rows of each participant in order; all share one study object."""
    people = source.people(with_excluded=with_excluded)
    own = rows.using(source.using).filter(participant__in=people)
    light = own.select_related("participant").defer(*DEFERRED)
    joined_to = Origins(source.study)
    for row in light.order_by("participant_id", *order).iterator(chunk_size=CHUNK):
        joined_to(row.participant)
        yield row


def task_table(
    name: str,
    title: str,
    description: str,
    columns: Columns,
    rows: QuerySet[Any],
    order: tuple[str, ...] = ("position",),
) -> ExportTable:
    """A table of tasks or events, whose columns are the same for every study."""
    return ExportTable(
        name, title, description, lambda study: columns, partial(rows_of_people, rows, order)
    )


TABLES = {
    table.name: table
    for table in (
        ExportTable(
            "participants",
            "Participants",
            "One row per participant, in the order of joining.",
            participant_columns,
            participant_rows,
        ),
        task_table(
            "teaching",
            "Teaching steps",
            "One row per image that a teacher chose, with everything it knew at that moment and the worker's "
            "answer. A step that has not been answered yet is included without an answer.",
            task_columns.TEACHING,
            TeachingStep.objects.select_related("example"),
        ),
        task_table(
            "evaluation",
            "Evaluation answers",
            "One row per image of the evaluation. All images are drawn when the evaluation begins; those not "
            "answered yet are included without an answer.",
            task_columns.EVALUATION,
            EvaluationItem.objects.select_related("example"),
        ),
        task_table(
            "memory",
            "Memory rounds",
            "One row per round of the memory test, practice included.",
            task_columns.MEMORY,
            MemoryRound.objects.all(),
        ),
        task_table(
            "events",
            "Events",
            "One row per event on a worker's page: opened, hidden and shown again, server unreachable and "
            "reachable again, errors. At most 500 for each participant.",
            task_columns.EVENTS,
            SessionEvent.objects.all(),
            ("at", "pk"),
        ),
    )
}


def register(*tables: ExportTable) -> None:
    """Adds tables of another package to every export."""
    TABLES.update({table.name: table for table in tables})
