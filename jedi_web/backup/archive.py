"""One zip with a manifest: what is in it, and the hash of each part."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Self

FORMAT = 1
MANIFEST = "manifest.json"
ROWS, FILES = "rows/", "files/"
BLOCK = 1 << 20


class BadBackup(Exception):
    """The file cannot be used as a backup; the message says why and what to do."""


@dataclass
class Manifest:
    """What a backup holds: for every part its SHA-256, for every table how many rows it has."""

    software: str
    created_at: str
    migrations: list[str]
    rows: dict[str, int] = field(default_factory=dict)
    hashes: dict[str, str] = field(default_factory=dict)
    format: int = FORMAT

    @classmethod
    def read(cls, archive: zipfile.ZipFile) -> Self:
        try:
            manifest = cls(**json.loads(archive.read(MANIFEST)))
        except (KeyError, TypeError, ValueError) as error:
            raise BadBackup(
                "This is not a backup of JEDI Web, or it was cut off: it has no manifest. Use another copy."
            ) from error
        if manifest.format != FORMAT:
            raise BadBackup(
                f"This backup has format {manifest.format}, and this software reads format {FORMAT}. "
                f"Restore it with JEDI Web {manifest.software}."
            )
        return manifest


@contextmanager
def new_archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """A file that appears under its name when it is complete, readable by its owner only."""
    draft = path.with_name(f"{path.name}.part")
    descriptor = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "w+b") as file:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
                yield archive
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def open_archive(path: Path) -> Iterator[tuple[zipfile.ZipFile, Manifest]]:
    try:
        archive = zipfile.ZipFile(path)
    except OSError as error:
        raise BadBackup(f"{path} cannot be read ({error.strerror}).") from error
    except zipfile.BadZipFile as error:
        raise BadBackup(
            f"{path} is not a backup of JEDI Web, or it was cut off. Use another copy."
        ) from error
    with archive:
        yield archive, Manifest.read(archive)


def add(archive: zipfile.ZipFile, manifest: Manifest, name: str, blocks: Iterable[bytes]) -> int:
    """Writes a part and its hash; returns how many blocks it had."""
    digest, count = hashlib.sha256(), 0
    # Images are compressed already, and so are their pools' noisy numbers.
    info = zipfile.ZipInfo(name)
    info.compress_type = zipfile.ZIP_DEFLATED if name.startswith(ROWS) else zipfile.ZIP_STORED
    with archive.open(info, "w", force_zip64=True) as part:
        for block in blocks:
            digest.update(block)
            part.write(block)
            count += 1
    manifest.hashes[name] = digest.hexdigest()
    return count


def finish(archive: zipfile.ZipFile, manifest: Manifest) -> None:
    archive.writestr(MANIFEST, json.dumps(asdict(manifest), indent=1))


def blocks_of(file: IO[bytes]) -> Iterator[bytes]:
    while block := file.read(BLOCK):
        yield block


def damaged_parts(archive: zipfile.ZipFile, manifest: Manifest) -> list[str]:
    """Parts that are missing, or that do not have the hash which the manifest gives."""
    return [name for name in manifest.hashes if not _is_whole(archive, manifest, name)]


def _is_whole(archive: zipfile.ZipFile, manifest: Manifest, name: str) -> bool:
    try:
        with archive.open(name) as part:
            return hash_of(blocks_of(part)) == manifest.hashes[name]
    except (KeyError, zipfile.BadZipFile, OSError, EOFError):
        return False


def hash_of(blocks: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for block in blocks:
        digest.update(block)
    return digest.hexdigest()
