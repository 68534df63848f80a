"""Making a backup, restoring it, and comparing it with a site."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from zipfile import ZipFile

from django.conf import settings
from django.core.management import call_command
from django.db import DEFAULT_DB_ALIAS
from django.utils import timezone

from analysis.exports.snapshot import snapshot
from studies.software import software_version

from . import rows
from .archive import (
    FILES,
    ROWS,
    BadBackup,
    Manifest,
    add,
    blocks_of,
    damaged_parts,
    finish,
    hash_of,
    new_archive,
    open_archive,
)

# What belongs to the site beside its database. Static files are made again at the next start.
FOLDERS = ("datasets", "imports")
SECRET = "secret_key"  # noqa: S105 - the name of the file


def data_dir() -> Path:
    return Path(settings.JEDI_DATA_DIR)


def back_up(path: Path) -> Manifest:
    """Writes the site of one moment into a file, while workers go on answering.

    Files come after the rows: those of a data set are complete before its row is written, and never change.
    """
    with snapshot() as using, new_archive(path) as archive:
        manifest = Manifest(
            software=software_version(),
            created_at=timezone.now().isoformat(timespec="seconds"),
            migrations=rows.migrations(using),
        )
        for model in rows.tables():
            table = model._meta.db_table
            part = f"{ROWS}{table}.jsonl"
            manifest.rows[table] = add(archive, manifest, part, rows.lines(model, using))
        for file in site_files():
            _add_file(archive, manifest, file)
        finish(archive, manifest)
    return manifest


def site_files() -> Iterator[Path]:
    """Everything on disk that a restored site needs, in a fixed order."""
    secret = data_dir() / SECRET
    if secret.exists():
        yield secret
    for folder in FOLDERS:
        yield from sorted(path for path in (data_dir() / folder).rglob("*") if path.is_file())


def _add_file(archive: ZipFile, manifest: Manifest, file: Path) -> None:
    try:
        with file.open("rb") as content:
            add(archive, manifest, part_of(file), blocks_of(content))
    except FileNotFoundError:
        # Work in progress of an import, which was finished or removed meanwhile.
        if file.is_relative_to(data_dir() / "datasets"):
            raise BadBackup(
                f"{file} disappeared during the backup: a data set was removed. Run the backup again."
            ) from None


def part_of(file: Path) -> str:
    return FILES + file.relative_to(data_dir()).as_posix()


def restore(path: Path) -> Manifest:
    """Brings a backup into an empty place, whatever database that has; all of it or nothing."""
    with open_archive(path) as (archive, manifest):
        _refuse_damage(path, archive, manifest)
        call_command("migrate", verbosity=0)
        _refuse_other_tables(manifest)
        _refuse_filled_place(manifest)
        restore_files(archive, manifest)
        rows.load(saved_rows(archive, manifest))
    return manifest


def restore_files(archive: ZipFile, manifest: Manifest) -> None:
    for name in manifest.hashes:
        if name.startswith(FILES):
            _restore_file(archive, name)


def saved_rows(archive: ZipFile, manifest: Manifest) -> Iterator[tuple[str, Iterator[bytes]]]:
    """The rows of every table, as lines."""
    for table in manifest.rows:
        with archive.open(f"{ROWS}{table}.jsonl") as part:
            yield table, part


def _refuse_damage(path: Path, archive: ZipFile, manifest: Manifest) -> None:
    if damaged := damaged_parts(archive, manifest):
        raise BadBackup(
            f"{path} is damaged: {damaged[0]} and {len(damaged) - 1} more parts do not have the hash that its "
            "manifest gives. Use another copy."
        )


def _refuse_other_tables(manifest: Manifest) -> None:
    if manifest.migrations != rows.migrations(DEFAULT_DB_ALIAS):
        raise BadBackup(
            f"The backup was made by JEDI Web {manifest.software} with other tables than this version has. "
            "Restore it with the version that made it, then install this one, which migrates it."
        )


def _refuse_filled_place(manifest: Manifest) -> None:
    if filled := rows.filled_tables():
        raise BadBackup(
            f"This database is in use: {', '.join(filled[:3])} have rows. Restore into an empty one: set "
            "DATABASE_URL or JEDI_DATA_DIR to a new place."
        )
    taken = [name for name in manifest.hashes if name.startswith(FILES) and place_of(name).exists()]
    if [name for name in taken if name != FILES + SECRET]:
        raise BadBackup(
            f"{place_of(taken[-1])} exists already. Set JEDI_DATA_DIR to an empty folder."
        )


def place_of(part: str) -> Path:
    """Where a part of the backup goes; never outside the data folder, whatever a file says."""
    inside = PurePosixPath(part.removeprefix(FILES))
    if inside.is_absolute() or ".." in inside.parts or inside.parts[0] not in (*FOLDERS, SECRET):
        raise BadBackup(f"The backup has a part {part!r}, which does not belong in one.")
    return data_dir().joinpath(*inside.parts)


def _restore_file(archive: ZipFile, name: str) -> None:
    place = place_of(name)
    place.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(name) as part, place.open("wb") as file:
        for block in blocks_of(part):
            file.write(block)
    if place.name == SECRET:
        place.chmod(0o600)


@dataclass
class Comparison:
    """A backup beside the site: which tables and files say something else."""

    damaged: list[str] = field(default_factory=list)
    differing_tables: list[str] = field(default_factory=list)
    differing_files: list[str] = field(default_factory=list)

    @property
    def is_equal(self) -> bool:
        return not (self.damaged or self.differing_tables or self.differing_files)


def compare(path: Path) -> Comparison:
    """Hashes everything again: the parts of the file, and the rows and files of this site."""
    with open_archive(path) as (archive, manifest):
        damaged = damaged_parts(archive, manifest)
    with snapshot() as using:
        current = {
            model._meta.db_table: hash_of(rows.lines(model, using)) for model in rows.tables()
        }
    saved = {table: manifest.hashes.get(f"{ROWS}{table}.jsonl") for table in manifest.rows}
    return Comparison(
        damaged,
        sorted(table for table in current | saved if current.get(table) != saved.get(table)),
        [
            name
            for name in manifest.hashes
            if name.startswith(FILES) and not _is_same(name, manifest)
        ],
    )


def _is_same(name: str, manifest: Manifest) -> bool:
    try:
        with place_of(name).open("rb") as file:
            return hash_of(blocks_of(file)) == manifest.hashes[name]
    except FileNotFoundError:
        return False
