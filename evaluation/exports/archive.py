"""The whole study as one zip: every table, the codebook and a datasheet, made while it is sent."""

import hashlib
import io
import json
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Count
from django.utils import timezone

from studies.models import Example, Participant, Study
from studies.software import software_version

from .codebook import codebook_csv, codebook_markdown
from .columns import participant_columns
from .files import Selection, inner_name, pieces, study_of
from .formats import csv_lines, json_value
from .snapshot import snapshot
from .tables import TABLES, Table

# What gets a worker paid, or belongs to the database alone, is no part of the record that is handed on.
LEFT_OUT = {
    "id",
    "dataset",
    "completion_code",
    "return_url",
    "next_ticket",
    "next_pilot_ticket",
    "current_version",
    "owner",
}


class Outbox(io.RawIOBase):
    """A file that cannot be rewound: what was written waits here until it is sent."""

    def __init__(self) -> None:
        self.waiting = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.waiting += data
        return len(data)

    def take(self) -> bytes:
        taken = bytes(self.waiting)
        self.waiting.clear()
        return taken


class Census:
    """How many people stand where, by arm, as the column `status` has it."""

    def __init__(self, study: Study) -> None:
        self.status = next(c.value for c in participant_columns(study) if c.name == "status")
        self.by_arm: dict[str, Counter[str]] = {}

    def counted(self, participants: Iterable[Participant]) -> Iterator[Participant]:
        for participant in participants:
            counts = self.by_arm.setdefault(participant.arm or "unassigned", Counter())
            counts[str(self.status(participant))] += 1
            yield participant

    def as_json(self) -> dict[str, Any]:
        by_status: Counter[str] = sum(self.by_arm.values(), Counter())
        return {"total": by_status.total(), "by_status": by_status, "by_arm": self.by_arm}


@dataclass
class Record:
    """What the datasheet tells of a table, counted while its rows pass."""

    table: Table
    file: str
    rows: int = 0
    digest: Any = field(default_factory=hashlib.sha256)

    def counted(self, rows: Iterable[Any]) -> Iterator[Any]:
        for row in rows:
            self.rows += 1
            yield row

    def hashed(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        for chunk in chunks:
            self.digest.update(chunk)
            yield chunk

    def as_json(self) -> dict[str, Any]:
        return {
            "table": self.table.name,
            "file": self.file,
            "rows": self.rows,
            "sha256": self.digest.hexdigest(),
        }


def archive_chunks(wanted: Selection) -> Iterator[bytes]:
    """The zip, piece by piece. The datasheet comes last: only then are all hashes and counts known."""
    outbox = Outbox()
    moment = timezone.now()
    with snapshot() as using, zipfile.ZipFile(outbox, "w", zipfile.ZIP_DEFLATED) as archive:
        study = study_of(wanted, using)
        census, records = Census(study), []
        for table in TABLES.values():
            record = Record(table, inner_name(wanted, table.name, "csv"))
            rows = table.rows_of(study, using)
            if table.name == "participants":
                rows = census.counted(rows)
            columns = table.columns(study, identifiable=wanted.identifiable)
            content = record.hashed(pieces(csv_lines(columns, record.counted(rows))))
            yield from _member(archive, outbox, record.file, content, moment)
            records.append(record)
        datasheet = {
            "software": {"name": "JEDI Web", "version": software_version()},
            "exported_at": json_value(moment),
            "identifiable": wanted.identifiable,
            "study": _settings(study),
            "dataset": _dataset(study, using),
            "participants": census.as_json(),
            "tables": [record.as_json() for record in records],
        }
        texts = _codebooks(study, wanted.identifiable) | {"datasheet.json": _indented(datasheet)}
        for name, text in texts.items():
            yield from _member(archive, outbox, name, [text.encode()], moment)
    yield outbox.take()


def _member(
    archive: zipfile.ZipFile,
    outbox: Outbox,
    name: str,
    content: Iterable[bytes],
    moment: datetime,
) -> Iterator[bytes]:
    info = zipfile.ZipInfo(name, moment.timetuple()[:6])
    info.compress_type = zipfile.ZIP_DEFLATED
    # How long a table gets is not known before it is written.
    with archive.open(info, "w", force_zip64=True) as member:
        for chunk in content:
            member.write(chunk)
            if outbox.waiting:
                yield outbox.take()


def _codebooks(study: Study, identifiable: bool) -> dict[str, str]:
    title = f"# Codebook of {study.slug}\n\n"
    return {
        "codebook.md": title + codebook_markdown(study, identifiable=identifiable),
        "codebook.csv": codebook_csv(study, identifiable=identifiable),
    }


def _indented(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _settings(study: Study) -> dict[str, Any]:
    names = [field.name for field in study._meta.concrete_fields if field.name not in LEFT_OUT]
    return {name: json_value(getattr(study, name)) for name in names}


def _dataset(study: Study, using: str) -> dict[str, Any]:
    dataset = study.dataset
    examples = Example.objects.using(using).filter(dataset=dataset).order_by()
    return {
        "name": dataset.name,
        "version": dataset.version,
        "key": dataset.key,
        "negative_class": dataset.negative_class,
        "positive_class": dataset.positive_class,
        "extractor": dataset.extractor,
        "seed": dataset.seed,
        "images": dict(examples.values_list("split").annotate(Count("pk"))),
    }
