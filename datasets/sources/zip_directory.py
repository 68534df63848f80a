"""The directory at the end of a zip, found and counted before anything is built from it."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from datasets.errors import BadArchive, unusable_zip

END_SIGNATURE = b"PK\x05\x06"
END = struct.Struct("<4s4H2LH")
ZIP64_LOCATOR = struct.Struct("<4sLQL")
ZIP64_END = struct.Struct("<4sQ2H2L4Q")
DIRECTORY_ENTRY = struct.Struct("<4s6H3L5H2L")
LONGEST_COMMENT = 0xFFFF


def check_directory(path: Path, most_entries: int) -> None:
    """Counts the entries before anything is built from them: the number in the zip may be a lie."""
    with path.open("rb") as file:
        head = file.read(4)
        if head == END_SIGNATURE:
            raise unusable_zip(path, "The zip is empty.")
        if head != b"PK\x03\x04":
            raise unusable_zip(
                path,
                "It does not start like a zip: it may be another kind of file with a zip inside.",
            )
        start, size = _directory_place(path, file)
        count = sum(1 for _ in _directory_headers(path, file, start, size, most_entries + 1))
    if count > most_entries:
        raise BadArchive(
            file=path.name,
            reason=f"The zip has more than {most_entries:,} entries.",
            remedy="Leave out what is not an image of the two classes, or import a folder.",
        )


def _directory_place(path: Path, file: IO[bytes]) -> tuple[int, int]:
    """Where the list of entries starts and how long it is, if it is the last thing in the file."""
    length = file.seek(0, os.SEEK_END)
    tail_start = max(0, length - END.size - LONGEST_COMMENT)
    file.seek(tail_start)
    tail = file.read()
    found = _end_record(tail)
    if found is None:
        raise unusable_zip(path, "The end of the zip is missing, as if an upload was interrupted.")
    end = tail_start + found
    size, start = END.unpack_from(tail, found)[5:7]
    directory_end = end
    locator = tail[found - ZIP64_LOCATOR.size : found] if found >= ZIP64_LOCATOR.size else b""
    if locator.startswith(b"PK\x06\x07"):
        directory_end = ZIP64_LOCATOR.unpack(locator)[2]
        file.seek(directory_end)
        record = file.read(ZIP64_END.size)
        stands_before_locator = file.tell() == end - ZIP64_LOCATOR.size
        if not stands_before_locator or not record.startswith(b"PK\x06\x06"):
            raise unusable_zip(path, "The directory of the zip is not where it should be.")
        size, start = ZIP64_END.unpack(record)[8:10]
    if start + size != directory_end:
        raise unusable_zip(path, "There are extra bytes before the zip or between its parts.")
    return start, size


def _end_record(tail: bytes) -> int | None:
    """The same choice as the standard library makes: no comment first, else the last signature."""
    plain = len(tail) - END.size
    if plain >= 0 and tail[plain : plain + 4] == END_SIGNATURE and tail.endswith(b"\0\0"):
        return plain
    found = tail.rfind(END_SIGNATURE)
    if found < 0 or len(tail) - found < END.size:
        return None
    comment_length = END.unpack_from(tail, found)[7]
    return found if found + END.size + comment_length == len(tail) else None


def _directory_headers(
    path: Path, file: IO[bytes], start: int, size: int, most: int
) -> Iterator[bytes]:
    file.seek(start)
    done, count = 0, 0
    while done < size and count < most:
        header = file.read(DIRECTORY_ENTRY.size)
        if len(header) < DIRECTORY_ENTRY.size or not header.startswith(b"PK\x01\x02"):
            raise unusable_zip(path, "The directory of the zip is damaged.")
        variable = sum(DIRECTORY_ENTRY.unpack(header)[10:13])
        file.seek(variable, os.SEEK_CUR)
        done, count = done + len(header) + variable, count + 1
        yield header
