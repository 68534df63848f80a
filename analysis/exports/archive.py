"""The whole study as one zip: every table, the codebook and a datasheet, made while it is sent."""

import hashlib
import io
import json
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.utils import timezone

from studies.models import Study

from .datasheet import ExportedPeople, codebook_csv, codebook_markdown, datasheet
from .files import Selection, inner_name, pieces, source_of
from .formats import csv_lines
from .snapshot import snapshot
from .tables import TABLES, ExportTable


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


@dataclass
class Record:
    """What the datasheet says about a table, counted while its rows are written."""

    table: ExportTable
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
        source = source_of(wanted, using)
        people, records = ExportedPeople(source.study), []
        for table in TABLES.values():
            record = Record(table, inner_name(wanted, table.name, "csv"))
            rows = table.rows_of(source)
            if table.name == "participants":
                rows = people.counted(rows)
            columns = table.columns(source.study, identifiable=wanted.identifiable)
            content = record.hashed(pieces(csv_lines(columns, record.counted(rows))))
            yield from _member(archive, outbox, record.file, content, moment)
            records.append(record)
        sheet = datasheet(wanted, source, moment, people, [r.as_json() for r in records])
        texts = _codebooks(wanted, source.study) | {"datasheet.json": _indented(sheet)}
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


def _codebooks(wanted: Selection, study: Study) -> dict[str, str]:
    title = f"# Codebook of {study.slug}\n\n"
    return {
        "codebook.md": title + codebook_markdown(study, identifiable=wanted.identifiable),
        "codebook.csv": codebook_csv(study, identifiable=wanted.identifiable),
    }


def _indented(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
