"""The tables of an export and where their rows come from: each is one statement, read as it is written."""

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

# Rows in memory at a time: enough that the database is not queried too often.
CHUNK = 2000


@dataclass(frozen=True)
class StudySnapshot:
    """Where rows come from: a study as a connection sees it, and which of its people."""

    study: Study
    using: str
    versions: tuple[int, ...]
    """The versions of the settings that they joined with."""
    everyone: bool = False
    """Also pilots, previews, rehearsals and excluded people."""

    def people(self, *, with_excluded: bool = False) -> ParticipantQuerySet:
        """Those who count, or everyone; `with_excluded`, also those who would count if nobody had excluded them."""
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
        """All columns, or those that name nobody."""
        return tuple(c for c in self.columns_of(study) if identifiable or not c.identifiable)


def participant_rows(
    source: StudySnapshot, *, with_excluded: bool = False
) -> Iterator[Participant]:
    joined_to = Origins(source.study)
    people = source.people(with_excluded=with_excluded).order_by("pk")
    for participant in people.iterator(chunk_size=CHUNK):
        joined_to(participant)
        yield participant


# What the columns of a task or an event read of its participant; the rest would be built anew for every row.
READ = {
    "id", "study", "version", "code", "arm", "purpose", "is_excluded", "software_version", "seed",
}  # fmt: skip
UNREAD = [
    f"participant__{field.name}"
    for field in Participant._meta.concrete_fields
    if field.name not in READ
]


class Origins:
    """Gives participants the study and its settings as they joined it, one object for all of a version."""

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
    """Participant by participant, each one's rows in order; all share one object of the study."""
    people = source.people(with_excluded=with_excluded)
    own = rows.using(source.using).filter(participant__in=people)
    light = own.select_related("participant").defer(*UNREAD)
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
    """A table of what participants did, whose columns are the same for every study."""
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
    """Adds tables of a package that this one does not know: they are part of every export from then on."""
    TABLES.update({table.name: table for table in tables})
