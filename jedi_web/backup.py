"""Backups: one zip with every row, the files of the data folder, and a manifest with the SHA-256 of each part.

The rows are lines of JSON, because pg_dump and SQLite's own backup restore only into the database that they were made
from. These archives restore into either, and they move a site from SQLite to Postgres.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import datetime
from decimal import Decimal
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Any
from uuid import UUID
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from django.apps import apps as installed
from django.apps.registry import Apps
from django.conf import settings
from django.core.management import call_command
from django.core.management.color import no_style
from django.db import DEFAULT_DB_ALIAS, connection, connections, models, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from analysis.exports.files import snapshot
from studies.software import software_version

FORMAT = 1
MANIFEST = "manifest.json"
ROWS, FILES = "rows/", "files/"
# What belongs to a site besides its database. Static files are collected again at the next start.
FOLDERS = ("datasets", "imports")
SECRET_KEY = "secret_key"  # noqa: S105 - the name of the file
# `migrate` writes these into an empty database. The rows of the backup replace them.
MADE_BY_MIGRATE = (
    "contenttypes.ContentType",
    "auth.Permission",
    "auth.Group",
    "auth.Group_permissions",
)
BLOCK = 1 << 20
CHUNK = 2000


class BadBackup(Exception):
    """The file cannot be used as a backup here; the message says why and what to do."""


@dataclass
class Manifest:
    """The SHA-256 of every part, and the number of rows of every table."""

    software: str
    created_at: str
    migrations: list[str]
    rows: dict[str, int] = field(default_factory=dict)
    hashes: dict[str, str] = field(default_factory=dict)
    format: int = FORMAT

    @property
    def files(self) -> dict[str, Path]:
        """Every part that is a file, with its path in this site's data folder."""
        return {part: path_of(part) for part in self.hashes if part.startswith(FILES)}


def path_of(part: str) -> Path:
    """Where a file is restored: in a folder of the data sets or imports, whatever the archive says."""
    inside = PurePosixPath(part.removeprefix(FILES))
    is_file = inside.parts[:1] == (SECRET_KEY,) and len(inside.parts) == 1
    is_in_folder = inside.parts[:1] in [(folder,) for folder in FOLDERS] and len(inside.parts) > 1
    if ".." in inside.parts or "\\" in part or "\0" in part or not (is_file or is_in_folder):
        raise BadBackup(f"The backup contains {part!r}, which does not belong in one.")
    return Path(settings.JEDI_DATA_DIR, *inside.parts)


# Writing


def back_up(path: Path) -> Manifest:
    """Writes the site of one moment into a file, while participants go on answering.

    Files come after the rows: those of a data set are complete before its row is written, and never change.
    """
    draft = path.with_name(f"{path.name}.part")
    try:
        # Readable by its owner only, and under its name only when it is complete.
        with open(draft, "w+b", opener=partial(os.open, mode=0o600)) as file:
            with ZipFile(file, "w", ZIP_DEFLATED, compresslevel=1) as archive:
                manifest = _write(archive)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return manifest


def _write(archive: ZipFile) -> Manifest:
    with snapshot() as using:
        manifest = Manifest(
            software=software_version(),
            created_at=timezone.now().isoformat(timespec="seconds"),
            migrations=applied_migrations(using),
        )
        for model in tables():
            table = model._meta.db_table
            count = _add(archive, manifest, f"{ROWS}{table}.jsonl", lines(model, using))
            manifest.rows[table] = count
        for file in _site_files():
            part = FILES + file.relative_to(settings.JEDI_DATA_DIR).as_posix()
            try:
                with file.open("rb") as content:
                    _add(archive, manifest, part, iter(lambda: content.read(BLOCK), b""))
            except FileNotFoundError:
                # A finished import deletes its files, which are not needed then.
                if part.startswith(f"{FILES}datasets/"):
                    raise BadBackup(
                        f"{file} disappeared during the backup: a data set was removed. Run the backup again."
                    ) from None
    archive.writestr(MANIFEST, json.dumps(asdict(manifest), indent=1))
    return manifest


def _site_files() -> Iterator[Path]:
    data_dir = Path(settings.JEDI_DATA_DIR)
    if (data_dir / SECRET_KEY).exists():
        yield data_dir / SECRET_KEY
    for folder in FOLDERS:
        yield from sorted(path for path in (data_dir / folder).rglob("*") if path.is_file())


def _add(archive: ZipFile, manifest: Manifest, part: str, blocks: Iterable[bytes]) -> int:
    """Writes a part and its hash; returns the number of blocks."""
    digest, count = hashlib.sha256(), 0
    # Images are compressed already, and the noisy numbers of their pools hardly compress.
    info = ZipInfo(part)
    info.compress_type = ZIP_DEFLATED if part.startswith(ROWS) else ZIP_STORED
    with archive.open(info, "w", force_zip64=True) as file:
        for block in blocks:
            digest.update(block)
            file.write(block)
            count += 1
    manifest.hashes[part] = digest.hexdigest()
    return count


# Reading


@contextmanager
def open_backup(path: Path) -> Iterator[tuple[ZipFile, Manifest]]:
    """The archive, if it is one of ours; all its paths are safe."""
    try:
        archive = ZipFile(path)
    except OSError as error:
        raise BadBackup(f"{path} cannot be read ({error.strerror}).") from error
    except BadZipFile as error:
        raise BadBackup(
            f"{path} is not a backup of JEDI Web, or it was cut off. Use another copy."
        ) from error
    with archive:
        try:
            manifest = Manifest(**json.loads(archive.read(MANIFEST)))
        except (KeyError, TypeError, ValueError) as error:
            raise BadBackup(f"{path} is not a backup of JEDI Web: it has no manifest.") from error
        if manifest.format != FORMAT:
            raise BadBackup(
                f"This backup has format {manifest.format}, and this software reads format {FORMAT}. "
                f"Restore it with JEDI Web {manifest.software}."
            )
        # Refuses unsafe paths before anything is written.
        _ = manifest.files
        yield archive, manifest


def damaged_parts(archive: ZipFile, manifest: Manifest) -> list[str]:
    """Parts that are missing, or that do not have the hash in the manifest."""
    damaged = []
    for part in sorted({*manifest.hashes, *(f"{ROWS}{table}.jsonl" for table in manifest.rows)}):
        try:
            is_whole = _sha256(archive.open(part)) == manifest.hashes[part]
        except (KeyError, BadZipFile, OSError, EOFError):
            is_whole = False
        if not is_whole:
            damaged.append(part)
    return damaged


def _sha256(file: IO[bytes]) -> str:
    with file:
        return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]


def restore(path: Path) -> Manifest:
    """Restores a backup of this release or an earlier one into an empty place, on either database.

    The tables stay those of the release that made it. The next start migrates them, with the secret key of the backup:
    this process still has another one.
    """
    with open_backup(path) as (archive, manifest):
        if damaged := damaged_parts(archive, manifest):
            raise BadBackup(
                f"{path} is damaged: {damaged[0]} and {len(damaged) - 1} more parts do not have the hash that its "
                "manifest gives. Use another copy."
            )
        _refuse_taken_place(manifest)
        models_then = _make_tables(manifest)
        for part, place in manifest.files.items():
            place.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(part) as source, place.open("wb") as file:
                while block := source.read(BLOCK):
                    file.write(block)
            if place.name == SECRET_KEY:
                place.chmod(0o600)
        load(saved_rows(archive, manifest), models_then)
    return manifest


def saved_rows(archive: ZipFile, manifest: Manifest) -> Iterator[tuple[str, Iterator[bytes]]]:
    """The rows of every table, as lines."""
    for table in manifest.rows:
        with archive.open(f"{ROWS}{table}.jsonl") as part:
            yield table, part


def _make_tables(manifest: Manifest) -> Apps:
    """Makes the tables of the release that wrote the backup; returns its models.

    Only a database without tables is brought to an earlier release: going back would delete columns.
    """
    if applied_migrations(DEFAULT_DB_ALIAS):
        call_command("migrate", verbosity=0)
        if applied_migrations(DEFAULT_DB_ALIAS) != manifest.migrations:
            raise BadBackup(
                f"JEDI Web {manifest.software} made the backup with other tables than this database has. Restore it "
                "into a database without tables: set DATABASE_URL or JEDI_DATA_DIR to a new place."
            )
        return installed
    executor = MigrationExecutor(connection)
    newest = dict(sorted(name.split(".", 1) for name in manifest.migrations))
    if unknown := newest.items() - executor.loader.graph.nodes.keys():
        raise BadBackup(
            f"JEDI Web {manifest.software} made the backup with tables that this version does not know "
            f"({'.'.join(min(unknown))}). Install that version or a newer one."
        )
    return executor.migrate([*newest.items()]).apps


def _refuse_taken_place(manifest: Manifest) -> None:
    if filled := filled_tables():
        raise BadBackup(
            f"This database is in use: {', '.join(filled[:3])} have rows. Restore into an empty one: set "
            "DATABASE_URL or JEDI_DATA_DIR to a new place."
        )
    # Every command makes a secret key; that of the backup replaces it.
    for place in manifest.files.values():
        if place.name != SECRET_KEY and place.exists():
            raise BadBackup(f"{place} exists already. Set JEDI_DATA_DIR to an empty folder.")


def differences(path: Path) -> dict[str, list[str]]:
    """What is damaged in a backup, and which tables and files of this site differ from it."""
    with open_backup(path) as (archive, manifest), snapshot() as using:
        damaged = damaged_parts(archive, manifest)
        if not damaged and manifest.migrations != applied_migrations(using):
            raise BadBackup(
                f"{path} is whole, but JEDI Web {manifest.software} made it with other tables than this site has, so "
                "their rows cannot be compared."
            )
        current = {
            f"{ROWS}{model._meta.db_table}.jsonl": hash_of_rows(model, using) for model in tables()
        }
        saved = {part: digest for part, digest in manifest.hashes.items() if part.startswith(ROWS)}
        return {
            "Damaged in the backup": damaged,
            "Tables that differ from this site": sorted(
                part.removeprefix(ROWS).removesuffix(".jsonl")
                for part in current | saved
                if current.get(part) != saved.get(part)
            ),
            "Files that differ from this site": [
                part
                for part, place in manifest.files.items()
                if not place.is_file() or _sha256(place.open("rb")) != manifest.hashes[part]
            ],
        }


# Tables


def tables(known: Apps = installed) -> list[type[models.Model]]:
    """Every table, including those of many-to-many relations."""
    return [model for model in known.get_models(include_auto_created=True) if not model._meta.proxy]


def applied_migrations(using: str) -> list[str]:
    applied = MigrationRecorder(connections[using]).applied_migrations()
    return sorted(f"{app}.{name}" for app, name in applied)


def lines(model: type[models.Model], using: str) -> Iterator[bytes]:
    """The rows of a table as JSON in the order of their keys, the same on SQLite and on Postgres."""
    names = [field.attname for field in model._meta.concrete_fields]
    rows = model._base_manager.using(using).order_by("pk").values_list(*names)
    for values in rows.iterator(chunk_size=CHUNK):
        row = dict(zip(names, values, strict=True))
        yield json.dumps(row, default=_text, sort_keys=True, ensure_ascii=False).encode() + b"\n"


def _text(value: Any) -> str:
    # Django's own encoder cuts microseconds, and a restored row would differ from the saved one.
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Decimal | UUID):
        return str(value)
    raise TypeError(f"No rule to write {type(value).__name__} into a backup.")


def hash_of_rows(model: type[models.Model], using: str) -> str:
    digest = hashlib.sha256()
    for line in lines(model, using):
        digest.update(line)
    return digest.hexdigest()


def filled_tables() -> list[str]:
    """The tables that hold something beyond what `migrate` writes."""
    existing = connection.introspection.table_names()
    return [
        model._meta.db_table
        for model in tables()
        if model._meta.label not in MADE_BY_MIGRATE
        and model._meta.db_table in existing
        and model._base_manager.exists()
    ]


@transaction.atomic
def load(contents: Iterable[tuple[str, Iterable[bytes]]], known: Apps = installed) -> None:
    """Writes the rows of all tables or none; `known` are the models of the release that saved them.

    Tables come in any order: both databases check references when the transaction ends.
    """
    by_table = {model._meta.db_table: model for model in tables(known)}
    for model in by_table.values():
        if model._meta.label in MADE_BY_MIGRATE:
            model._base_manager.all().delete()
    loaded = []
    for table, saved in contents:
        if table not in by_table:
            raise BadBackup(f"The backup has a table {table!r} that JEDI Web does not know.")
        model = by_table[table]
        fields = {field.attname: field for field in model._meta.concrete_fields}
        for line in saved:
            row = {name: fields[name].to_python(value) for name, value in json.loads(line).items()}
            # Raw: the row as it was, without the time of today and without signals.
            model(**row).save_base(raw=True, force_insert=True, using=connection.alias)
        loaded.append(model)
    connection.check_constraints()
    with connection.cursor() as cursor:
        # The next new row gets a number after those that were restored.
        for statement in connection.ops.sequence_reset_sql(no_style(), loaded):
            cursor.execute(statement)
