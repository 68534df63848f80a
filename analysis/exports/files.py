"""Streams a study as files: one table, the teaching gain, or everything as one zip, all from one database snapshot."""

import hashlib
import io
import json
import secrets
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

from django.db import connection, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.utils import timezone

from studies.models import Study
from studies.version_groups import VersionChoice, choose_versions

from .datasheet import ExportedPeople, codebook_csv, codebook_markdown, datasheet
from .formats import FORMATS, csv_lines
from .people_columns import gain_columns
from .tables import TABLES, ExportTable, StudySnapshot, participant_rows

# Characters per chunk: sending every row by itself would cost more than reading it.
CHUNK_SIZE = 64 * 1024


@dataclass(frozen=True)
class Selection:
    """Which participants and columns of a study a researcher asks for."""

    study: Study
    identifiable: bool = False
    everyone: bool = False
    """Also pilots, previews, rehearsals and excluded participants."""
    version: str = ""
    """The versions of the settings, as a URL or a command names them; empty for the newest that may be analysed
    together."""

    @cached_property
    def versions(self) -> VersionChoice:
        """Cached, so that the name of a file and its rows agree."""
        people = self.study.participants.all()
        return choose_versions(self.study, people if self.everyone else people.live(), self.version)

    def file_mark(self, has_identifiable: bool) -> str:
        """The part of a file name that says which participants are in it."""
        everyone = "-everyone" if self.everyone else ""
        identifiable = "-identifiable" if self.identifiable and has_identifiable else ""
        return everyone + identifiable + self.versions.mark


@contextmanager
def snapshot() -> Iterator[str]:
    """The alias of a connection whose reads all see the database at one moment.

    It is a new connection with a transaction of its own. On SQLite, ordinary connections begin every transaction with
    the write lock, which would block all workers during an export. This one begins DEFERRED: in WAL mode its first
    read fixes what it sees, and writers go on. On Postgres, REPEATABLE READ and READ ONLY do the same; there the
    connection is outside the pool, so that it takes no worker's connection for minutes.

    A caller that is already in a transaction reads through it, because only it can see its own writes.
    """
    if connection.in_atomic_block:
        yield connection.alias
        return
    alias = f"snapshot-{secrets.token_hex(8)}"
    reader: BaseDatabaseWrapper = connection.copy(alias)
    options = reader.settings_dict["OPTIONS"]
    options.pop("pool", None)
    is_sqlite = reader.vendor == "sqlite"
    if is_sqlite:
        options["transaction_mode"] = "DEFERRED"
    connections[alias] = reader
    try:
        with transaction.atomic(using=alias):
            with reader.cursor() as cursor:
                if is_sqlite:
                    cursor.execute("PRAGMA query_only = ON")
                else:
                    cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield alias
    finally:
        reader.close()
        del connections[alias]


def study_in(using: str, wanted: Selection) -> StudySnapshot:
    """The study as the connection `using` sees it."""
    studies = Study.objects.using(using).select_related("dataset").defer("dataset__insight")
    study = studies.prefetch_related("versions").get(pk=wanted.study.pk)
    return StudySnapshot(study, using, wanted.versions.numbers, wanted.everyone)


def in_chunks(lines: Iterable[str]) -> Iterator[bytes]:
    waiting: list[str] = []
    size = 0
    for line in lines:
        waiting.append(line)
        size += len(line)
        if size >= CHUNK_SIZE:
            yield "".join(waiting).encode()
            waiting, size = [], 0
    if waiting:
        yield "".join(waiting).encode()


def table_name(wanted: Selection, table: str, extension: str) -> str:
    return f"{wanted.study.slug}-{member_name(wanted, table, extension)}"


def member_name(wanted: Selection, table: str, extension: str) -> str:
    """The name of a table in a zip, whose own name has the study's."""
    names_people = any(column.identifiable for column in TABLES[table].columns_of(wanted.study))
    return f"{table}{wanted.file_mark(names_people)}.{extension}"


def table_chunks(wanted: Selection, table: str, extension: str) -> Iterator[bytes]:
    with snapshot() as using:
        source = study_in(using, wanted)
        columns = TABLES[table].columns(source.study, identifiable=wanted.identifiable)
        yield from in_chunks(FORMATS[extension].lines(columns, TABLES[table].rows_of(source)))


def gain_name(wanted: Selection) -> str:
    return f"{wanted.study.slug}-teaching-gain{wanted.file_mark(False)}.csv"


def gain_csv(wanted: Selection) -> Iterator[str]:
    """The teaching gain of a study, one line per participant in the order of joining."""
    with snapshot() as using:
        source = study_in(using, wanted)
        yield from csv_lines(gain_columns(source.study), participant_rows(source))


def archive_name(wanted: Selection) -> str:
    return f"{wanted.study.slug}-export{wanted.file_mark(True)}.zip"


class Outbox(io.RawIOBase):
    """A file without seek(): zipfile writes into it, and the response takes what was written."""

    def __init__(self) -> None:
        self.waiting = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.waiting += data
        return len(data)

    def take(self) -> bytes:
        content = bytes(self.waiting)
        self.waiting.clear()
        return content


@dataclass
class Record:
    """What the datasheet says about a table, counted while its rows are written."""

    table: ExportTable
    file: str
    rows: int = 0
    digest: Any = field(default_factory=hashlib.sha256)

    def count(self, rows: Iterable[Any]) -> Iterator[Any]:
        for row in rows:
            self.rows += 1
            yield row

    def hash(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
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
    """The zip, chunk by chunk. The datasheet comes last, because it has the hash and the size of every table."""
    outbox, moment = Outbox(), timezone.now()
    with snapshot() as using, zipfile.ZipFile(outbox, "w", zipfile.ZIP_DEFLATED) as archive:
        source = study_in(using, wanted)
        people, records = ExportedPeople(source.study), []
        for table in TABLES.values():
            record = Record(table, member_name(wanted, table.name, "csv"))
            rows = table.rows_of(source)
            if table.name == "participants":
                rows = people.counted(rows)
            columns = table.columns(source.study, identifiable=wanted.identifiable)
            content = record.hash(in_chunks(csv_lines(columns, record.count(rows))))
            yield from _add_member(archive, outbox, record.file, content, moment)
            records.append(record)
        sheet = datasheet(wanted, source, moment, people, [one.as_json() for one in records])
        codebook = codebook_markdown(source.study, identifiable=wanted.identifiable)
        texts = {
            "codebook.md": f"# Codebook of {source.study.slug}\n\n{codebook}",
            "codebook.csv": codebook_csv(source.study, identifiable=wanted.identifiable),
            "datasheet.json": json.dumps(sheet, ensure_ascii=False, indent=2, allow_nan=False)
            + "\n",
        }
        for name, text in texts.items():
            yield from _add_member(archive, outbox, name, [text.encode()], moment)
    yield outbox.take()


def _add_member(
    archive: zipfile.ZipFile,
    outbox: Outbox,
    name: str,
    content: Iterable[bytes],
    moment: datetime,
) -> Iterator[bytes]:
    info = zipfile.ZipInfo(name, moment.timetuple()[:6])
    info.compress_type = zipfile.ZIP_DEFLATED
    # The size of a table is not known before it is written.
    with archive.open(info, "w", force_zip64=True) as member:
        for chunk in content:
            member.write(chunk)
            if outbox.waiting:
                yield outbox.take()
