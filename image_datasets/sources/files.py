"""The files of a source, on disk or in a zip, listed without opening any of them."""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TypeAlias

from image_datasets.errors import BadImage, BadSource, too_long

from .archives import (
    CHUNK,
    UPLOAD_LIMITS,
    ArchiveEntry,
    check_distinct,
    checked_name,
    decoded_name,
    is_clutter,
    open_archive,
)

MAX_DEPTH = 20
DOCUMENT_ENDINGS = (".md", ".txt", ".rst", ".html", ".json", ".yaml", ".yml", ".xml", ".log")


@dataclass(frozen=True)
class DiskFile:
    """A regular file below the folder of the source, and its name there, with slashes."""

    path: Path
    name: str
    size: int

    def read(self, limit: int) -> bytes:
        """The content, if it is not longer than `limit` now, whatever it was when it was listed."""
        with self._open() as file:
            size = os.fstat(file.fileno()).st_size
            # Asking for `limit` bytes would allocate them all, however short the file is.
            content = file.read(min(size, limit) + 1)
        if max(size, len(content)) > limit:
            raise too_long(self.name, size, limit)
        return content

    def chunks(self) -> Iterator[bytes]:
        with self._open() as file:
            while chunk := file.read(CHUNK):
                yield chunk

    def _open(self) -> IO[bytes]:
        try:
            # A file that was replaced by a link since it was listed is not followed.
            return os.fdopen(os.open(self.path, os.O_RDONLY | os.O_NOFOLLOW), "rb")
        except OSError as error:
            raise BadImage(
                file=self.name,
                reason=f"The file cannot be read: {error.strerror}.",
                remedy="Check that it is still there and that the server may read it.",
            ) from error


# The content is read when it is needed, and not kept.
SourceFile: TypeAlias = ArchiveEntry | DiskFile


def list_files(path: Path) -> list[SourceFile]:
    """The files of a folder or a zip, sorted by name, without clutter."""
    if path.is_dir():
        files: list[SourceFile] = []
        for file in _walk(path, path, 0):
            files.append(file)
            if len(files) > UPLOAD_LIMITS.entries:
                raise BadSource(
                    file=path.name,
                    reason=f"The folder has more than {UPLOAD_LIMITS.entries:,} files.",
                    remedy="Leave out what is not an image of the two classes.",
                )
        files = _without_clutter(files)
        check_distinct(file.name for file in files)
        return files
    if not path.is_file():
        raise BadSource(
            file=path.name,
            reason="There is no such folder or file.",
            remedy="Check the spelling, and that the server may read it.",
        )
    with path.open("rb") as opened:
        head = opened.read(4)
    if head[:2] != b"PK" and path.suffix.casefold() != ".zip":
        raise BadSource(
            file=path.name,
            reason="It is neither a folder nor a zip.",
            remedy="Give the folder that the images and tables are in, or a zip of it.",
        )
    return _without_clutter(open_archive(path))


def _walk(root: Path, folder: Path, depth: int) -> Iterator[DiskFile]:
    if depth > MAX_DEPTH:
        raise BadSource(
            file=str(folder.relative_to(root)),
            reason=f"Folders are nested more than {MAX_DEPTH} levels deep.",
            remedy="Put the images into one folder for each class.",
        )
    for path in sorted(folder.iterdir()):
        status = path.lstat()
        name = unicodedata.normalize("NFC", decoded_name(os.fsencode(path.relative_to(root))))
        if stat.S_ISDIR(status.st_mode) and not is_clutter(name):
            yield from _walk(root, path, depth + 1)
        elif stat.S_ISREG(status.st_mode) or is_clutter(name):
            yield DiskFile(path, name if is_clutter(name) else checked_name(name), status.st_size)
        else:
            raise BadSource(
                file=name,
                reason="It is a link or a device, not a file.",
                remedy="Put the file itself into the folder, or remove the link.",
            )


def _without_clutter(files: Sequence[SourceFile]) -> list[SourceFile]:
    return sorted((file for file in files if not is_clutter(file.name)), key=lambda file: file.name)


def unwrap(files: Sequence[SourceFile]) -> dict[str, SourceFile]:
    """The files by name relative to the one folder that wraps everything, if there is one."""
    prefix = ""
    while wrapper := _wrapping_folder([file.name.removeprefix(prefix) for file in files]):
        prefix += wrapper
    relative = [replace(file, name=file.name.removeprefix(prefix)) for file in files]
    return {file.name: file for file in relative}


def _wrapping_folder(names: Sequence[str]) -> str | None:
    """The folder that contains everything except documents, unless it is itself a class."""
    names = [name for name in names if not is_document(name)]
    tops = {name.partition("/")[0] for name in names}
    if len(tops) != 1 or any("/" not in name for name in names):
        return None
    top = f"{tops.pop()}/"
    inside = [name.removeprefix(top) for name in names]
    # A folder that contains only images is a class.
    return top if any(is_table(name) or "/" in name for name in inside) else None


def is_document(name: str) -> bool:
    """Notes, licences and the like."""
    return name.casefold().endswith(DOCUMENT_ENDINGS)


def is_table(name: str) -> bool:
    """A manifest or features; they have to be in the top folder."""
    return "/" not in name and name.casefold().endswith((".csv", ".npz"))
