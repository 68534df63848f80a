"""Reading a stranger's zip: nothing is believed, nothing is unpacked under its own name.

The directory is judged as a whole before the first byte is inflated. Entries are then read one at
a time, straight from the zip, by their place in it; the bytes that really come out are counted.
"""

from __future__ import annotations

import os
import stat
import struct
import unicodedata
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from image_datasets.errors import ZIP_AGAIN, BadArchive, BadName, unusable_zip

from .entries import LOCAL_HEADER, ArchiveEntry
from .safe_names import check_distinct, checked_name, decoded_name, is_clutter

MIB = 1 << 20
GIB = 1 << 30

ARCHIVE_ENDINGS = {
    *(".zip", ".jar", ".7z", ".rar", ".tar", ".tgz", ".gz", ".bz2", ".tbz2", ".xz", ".txz"),
    *(".zst", ".lz", ".lzma", ".cab", ".iso", ".dmg", ".arj", ".cbz", ".cbr"),
}
ENCRYPTED = 0x1 | 0x40 | 0x2000
UTF8_NAME = 0x800
END_SIGNATURE = b"PK\x05\x06"
END = struct.Struct("<4s4H2LH")
ZIP64_LOCATOR = struct.Struct("<4sLQL")
ZIP64_END = struct.Struct("<4sQ2H2L4Q")
DIRECTORY_ENTRY = struct.Struct("<4s6H3L5H2L")
LONGEST_COMMENT = 0xFFFF


@dataclass(frozen=True)
class ArchiveLimits:
    """Where a zip stops being a collection of photographs, which hardly compress at all."""

    entries: int = 100_000
    entry_bytes: int = 512 * MIB
    total_bytes: int = 16 * GIB
    entry_ratio: float = 200.0
    total_ratio: float = 50.0
    # Small files may compress well (a table, a drawing): they cannot do harm.
    ratio_free_bytes: int = MIB


# Of what a researcher uploads; the archives inside it have their own.
UPLOAD_LIMITS = ArchiveLimits()


def open_archive(path: Path, limits: ArchiveLimits = UPLOAD_LIMITS) -> tuple[ArchiveEntry, ...]:
    """The files of a zip in the order of their names, or a named refusal of the whole zip."""
    check_directory(path, limits.entries)
    infos = _directory(path)
    entries = [_entry(path, info) for info in infos]
    _check_sizes(path, entries, limits)
    _check_places(path, entries)
    files = [entry for entry in entries if not entry.name.endswith("/")]
    check_distinct(entry.name for entry in files)
    for entry in files:
        _check_not_nested(entry)
    return tuple(sorted(files, key=lambda entry: entry.name))


def _directory(path: Path) -> list[zipfile.ZipInfo]:
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.infolist()
    except UnicodeDecodeError as error:
        raise BadName(
            file=path.name,
            reason="A name in the zip claims to be UTF-8 and is not.",
            remedy=f"Rename the files with plain letters. {ZIP_AGAIN}",
        ) from error
    except (zipfile.BadZipFile, NotImplementedError, struct.error, OSError, ValueError) as error:
        raise unusable_zip(path, "The directory of the zip is damaged.") from error


def _entry(path: Path, info: zipfile.ZipInfo) -> ArchiveEntry:
    # `filename` is cut at a zero byte and repaired in other ways; this is what the zip says.
    encoding = "utf-8" if info.flag_bits & UTF8_NAME else "cp437"
    raw = info.orig_filename.encode(encoding)
    name = checked_name(decoded_name(raw))
    for reason, holds in _entry_problems(info).items():
        if holds:
            raise BadArchive(file=name, reason=reason, remedy=ZIP_AGAIN)
    return ArchiveEntry(
        archive=path,
        name=unicodedata.normalize("NFC", name),
        size=info.file_size,
        compressed_size=info.compress_size,
        offset=info.header_offset,
        crc=info.CRC,
        method=info.compress_type,
        raw_name=raw,
    )


def _entry_problems(info: zipfile.ZipInfo) -> dict[str, bool]:
    kind = stat.S_IFMT(info.external_attr >> 16)
    return {
        "It is encrypted.": bool(info.flag_bits & ENCRYPTED),
        "It is a symbolic link, which may point anywhere.": kind == stat.S_IFLNK,
        "It is neither a file nor a folder.": kind not in {0, stat.S_IFREG, stat.S_IFDIR},
        "It uses an unusual compression method.": info.compress_type
        not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED},
    }


def _check_sizes(path: Path, entries: list[ArchiveEntry], limits: ArchiveLimits) -> None:
    for entry in entries:
        if entry.size > limits.entry_bytes:
            raise _too_large(entry.name, entry.size, limits.entry_bytes)
        if _ratio_is_high(entry.size, entry.compressed_size, limits.entry_ratio, limits):
            raise _bomb(entry.name, entry.size / max(entry.compressed_size, 1))
    total, length = sum(entry.size for entry in entries), path.stat().st_size
    if total > limits.total_bytes:
        raise _too_large(path.name, total, limits.total_bytes)
    if _ratio_is_high(total, length, limits.total_ratio, limits):
        raise _bomb(path.name, total / length)


def _ratio_is_high(size: int, compressed: int, most: float, limits: ArchiveLimits) -> bool:
    return size > limits.ratio_free_bytes and size > most * max(compressed, 1)


def _check_places(path: Path, entries: list[ArchiveEntry]) -> None:
    """Entries stand one after the other from the first byte on: bombs let them share their data."""
    end = 0
    for entry in sorted(entries, key=lambda entry: entry.offset):
        if entry.offset < end:
            raise BadArchive(
                file=entry.name, reason="It shares its data with another entry.", remedy=ZIP_AGAIN
            )
        if end == 0 and entry.offset > 0:
            raise unusable_zip(path, "There are extra bytes before the first entry of the zip.")
        end = entry.offset + LOCAL_HEADER.size + len(entry.raw_name) + entry.compressed_size
    if end > path.stat().st_size:
        raise unusable_zip(path, "The zip is shorter than its directory says.")


def _check_not_nested(entry: ArchiveEntry) -> None:
    ending = PurePosixPath(entry.name).suffix.casefold()
    if ending in ARCHIVE_ENDINGS and not is_clutter(entry.name):
        raise BadArchive(
            file=entry.name,
            reason="It is an archive inside the zip.",
            remedy="Unpack it, put its images into the folder of their class, and zip that.",
        )


def _too_large(name: str, size: int, most: int) -> BadArchive:
    return BadArchive(
        file=name,
        reason=f"It unpacks to {size:,} bytes; at most {most:,} are read.",
        remedy="Make the images smaller, or import fewer of them.",
    )


def _bomb(name: str, ratio: float) -> BadArchive:
    return BadArchive(
        file=name,
        reason=f"It unpacks to {ratio:,.0f} times its size, which photographs never do.",
        remedy="Leave it out of the zip.",
    )


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
