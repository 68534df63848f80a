"""The codebook and the datasheet of an export.

The codebook describes every column of every table, from the registry that makes the files. The datasheet has versions,
settings, who is in the files and who is not, and a checksum of each table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from django.db.models import Count

from studies.head_counts import enrolment
from studies.models import Example, ImageClass, Participant, Study
from studies.software import software_version
from studies.version_groups import VersionChoice

from .column import Column
from .formats import csv_text, json_value
from .people_columns import participant_columns
from .tables import TABLES, ExportTable, StudySnapshot

if TYPE_CHECKING:
    from .files import Selection

CODEBOOK_HEADER = ("table", "column", "kind", "meaning", "identifiable")
Json = dict[str, Any]

# Secrets, codes for payment and columns that only the database needs are not published.
PRIVATE_FIELDS = {
    "id",
    "dataset",
    "completion_code",
    "return_url",
    "prolific_return_url",
    "mturk_return_url",
    "webhook_url",
    "webhook_secret",
    "next_ticket",
    "next_pilot_ticket",
    "roster",
    "current_version",
    "owner",
}


def codebook_markdown(study: Study, *, identifiable: bool) -> str:
    """The codebook for people: a section for each table."""
    return "\n".join(_section(table, study, identifiable) for table in TABLES.values())


def _section(table: ExportTable, study: Study, identifiable: bool) -> str:
    lines = [f"## {table.title}: `{table.name}`", "", table.description, ""]
    lines += ["| column | kind | meaning |", "| --- | --- | --- |"]
    lines += [_line(column) for column in table.columns(study, identifiable=identifiable)]
    return "\n".join([*lines, ""])


def _line(column: Column[object]) -> str:
    meaning = f"{column.meaning} **Identifiable.**" if column.identifiable else column.meaning
    return f"| `{column.name}` | {column.kind} | {meaning} |"


def codebook_csv(study: Study, *, identifiable: bool) -> str:
    """The codebook for programs: a row for each column."""
    rows = (
        (table.name, column.name, column.kind, column.meaning, column.identifiable)
        for table in TABLES.values()
        for column in table.columns(study, identifiable=identifiable)
    )
    return csv_text(CODEBOOK_HEADER, rows)


class ExportedPeople:
    """The number of participants by arm and by the column `status`, counted while their rows are written."""

    def __init__(self, study: Study) -> None:
        self.status = next(c.value for c in participant_columns(study) if c.name == "status")
        self.by_arm: dict[str, Counter[str]] = {}
        self.by_version: Counter[int] = Counter()

    @property
    def total(self) -> int:
        return self.by_version.total()

    def counted(self, participants: Iterable[Participant]) -> Iterator[Participant]:
        for participant in participants:
            counts = self.by_arm.setdefault(participant.arm or "unassigned", Counter())
            counts[str(self.status(participant))] += 1
            self.by_version[participant.version.number] += 1
            yield participant

    def as_json(self) -> Json:
        by_status: Counter[str] = sum(self.by_arm.values(), Counter())
        return {
            "total": self.total,
            "by_status": by_status,
            "by_arm": self.by_arm,
            "by_version": self.by_version,
        }


def datasheet(
    wanted: Selection,
    source: StudySnapshot,
    moment: datetime,
    people: ExportedPeople,
    tables: list[Json],
) -> Json:
    return {
        "software": {"name": "JEDI Web", "version": software_version()},
        "exported_at": json_value(moment),
        "identifiable": wanted.identifiable,
        "everyone": wanted.everyone,
        "study": settings_of(source.study),
        "versions": [version_as_json(version) for version in source.study.versions.all()],
        "versions_in_files": versions_as_json(wanted.versions),
        "dataset": dataset_as_json(source),
        "people": people_as_json(source, in_files=people.total),
        "participants": people.as_json(),
        "tables": tables,
    }


def settings_of(study: Study) -> Json:
    """The current settings; those that a session uses are in its version."""
    names = [
        field.name for field in study._meta.concrete_fields if field.name not in PRIVATE_FIELDS
    ]
    values = {name: getattr(study, name) for name in names}
    values["learning_rate"] = study.effective_learning_rate
    return {
        name: float(value) if isinstance(value, Decimal) else json_value(value)
        for name, value in values.items()
    }


def version_as_json(version: Any) -> Json:
    return {
        "number": version.number,
        "configuration_hash": version.hash,
        "created_at": json_value(version.created_at),
        "configuration": version.configuration,
    }


def versions_as_json(versions: VersionChoice) -> Json:
    """The versions of the rows, how many participants have another version, and whether versions are pooled."""
    return {
        "numbers": versions.numbers,
        "left_out": {one.number: one.joined for one in versions.left_out},
        "is_pooled": versions.is_mixed,
        "differing_settings": versions.differing if versions.is_mixed else (),
    }


def people_as_json(source: StudySnapshot, *, in_files: int) -> Json:
    """All participants by purpose, how many of them are excluded, and how many are in no file."""
    everybody = enrolment(source.study, source.using)
    left_out = everybody.joined.total() - in_files
    return {"joined": everybody.joined, "excluded": everybody.excluded, "left_out": left_out}


def dataset_as_json(source: StudySnapshot) -> Json:
    dataset = source.study.dataset
    examples = Example.objects.using(source.using).filter(dataset=dataset).order_by()
    return {
        "name": dataset.name,
        "version": dataset.version,
        "key": dataset.key,
        "classes": [class_as_json(one) for one in dataset.classes.all()],
        "extractor": dataset.extractor,
        "suggested_learning_rate": dataset.learning_rate,
        "seed": dataset.seed,
        "images": dict(examples.values_list("split").annotate(Count("pk"))),
    }


def class_as_json(one: ImageClass) -> Json:
    return {
        "index": one.index,
        "name": one.name,
        "display_name": one.display_name,
        "description": one.description,
    }
