"""Reading a stranger's zip: nothing is believed, nothing is unpacked under its own name.

The directory is judged as a whole before the first byte is inflated. Entries are then read one at
a time, straight from the zip, by their place in it; the bytes that really come out are counted.
"""

from __future__ import annotations

import os
import re
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from datasets.errors import BadArchive, BadImage, BadName, DuplicateName, shown

CHUNK = 1 << 16
MIB = 1 << 20
GIB = 1 << 30

LONGEST_NAME = 1_000
CLUTTER = {"thumbs.db", "ehthumbs.db", "desktop.ini", "icon\r", "__macosx"}
ARCHIVE_ENDINGS = {
    *(".zip", ".jar", ".7z", ".rar", ".tar", ".tgz", ".gz", ".bz2", ".tbz2", ".xz", ".txz"),
    *(".zst", ".lz", ".lzma", ".cab", ".iso", ".dmg", ".arj", ".cbz", ".cbr"),
}
ZIP_AGAIN = "Make the zip again from the plain folder with your system's own tool, and upload that."

_END_SIGNATURE = b"PK\x05\x06"
_END = struct.Struct("<4s4H2LH")
_ZIP64_LOCATOR = struct.Struct("<4sLQL")
_ZIP64_END = struct.Struct("<4sQ2H2L4Q")
_DIRECTORY_ENTRY = struct.Struct("<4s6H3L5H2L")
_LOCAL_HEADER = struct.Struct("<4s5H3L2H")
_LONGEST_COMMENT = 0xFFFF
_ENCRYPTED = 0x1 | 0x40 | 0x2000
_UTF8_NAME = 0x800


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


@dataclass(frozen=True)
class ArchiveEntry:
    """One file of a checked zip. It opens the zip itself, so it can go to another process."""

    archive: Path
    name: str
    size: int
    compressed_size: int
    offset: int
    crc: int
    method: int
    raw_name: bytes

    def read(self, limit: int) -> bytes:
        """The content, if it is not longer than `limit`; never more than that in memory."""
        if self.size > limit:
            raise BadImage(
                file=self.name,
                reason=f"The file has {self.size:,} bytes; at most {limit:,} are read.",
                remedy="Save it smaller, or remove it.",
            )
        return b"".join(self.chunks())

    def chunks(self) -> Iterator[bytes]:
        """The content in small pieces. Broken data raises before the last piece has come."""
        with self.archive.open("rb") as file:
            self._seek_to_data(file)
            yield from self._counted(_inflated(file, self.compressed_size, self.method))

    def _seek_to_data(self, file: IO[bytes]) -> None:
        file.seek(self.offset)
        header = file.read(_LOCAL_HEADER.size)
        if len(header) < _LOCAL_HEADER.size or header[:4] != b"PK\x03\x04":
            raise self._broken("Its place in the zip is empty or taken.")
        name_length, extra_length = _LOCAL_HEADER.unpack(header)[-2:]
        if file.read(name_length) != self.raw_name:
            raise self._broken("The zip names it differently in two places.")
        file.seek(extra_length, os.SEEK_CUR)

    def _counted(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        size, crc = 0, 0
        try:
            for piece in pieces:
                size, crc = size + len(piece), zlib.crc32(piece, crc)
                if size > self.size:
                    raise self._broken("It is longer than the zip says.")
                yield piece
        except (zlib.error, EOFError) as error:
            raise self._broken("Its data are damaged or cut off.") from error
        if size < self.size:
            raise self._broken("It is shorter than the zip says.")
        if crc != self.crc:
            raise self._broken("Its checksum is wrong, so the data are damaged.")

    def _broken(self, reason: str) -> BadImage:
        return BadImage(file=self.name, reason=reason, remedy=ZIP_AGAIN)


def open_archive(path: Path, limits: ArchiveLimits | None = None) -> tuple[ArchiveEntry, ...]:
    """The files of a zip in the order of their names, or a named refusal of the whole zip."""
    limits = limits or ArchiveLimits()
    _check_directory(path, limits)
    infos = _directory(path)
    entries = [_entry(path, info) for info in infos]
    _check_sizes(path, entries, limits)
    _check_places(path, entries)
    files = [entry for entry in entries if not entry.name.endswith("/")]
    check_distinct(entry.name for entry in files)
    for entry in files:
        _check_not_nested(entry)
    return tuple(sorted(files, key=lambda entry: entry.name))


# Names


def checked_name(name: str) -> str:
    """The name, if it stays below the folder on every system. A folder's name ends with a slash."""
    reason = _name_problem(name)
    if reason:
        raise BadName(file=name, reason=reason, remedy=f"Rename it. {ZIP_AGAIN}")
    return name


def _name_problem(name: str) -> str | None:
    parts = name.removesuffix("/").split("/")
    problems = {
        "The name is empty.": not name,
        f"The name is longer than {LONGEST_NAME} characters.": len(name) > LONGEST_NAME,
        "The name has a backslash in it.": "\\" in name,
        "The name starts at the root of a disk.": name.startswith("/")
        or re.match("[A-Za-z]:", name) is not None,
        "The name leads out of its folder.": ".." in parts,
        "The name has an empty part.": "" in parts or "." in parts,
        "The name has a control character in it.": any(
            unicodedata.category(character) == "Cc" for character in name
        )
        and not is_clutter(name),
    }
    return next((reason for reason, holds in problems.items() if holds), None)


def decoded_name(raw: bytes) -> str:
    """UTF-8 where it is that, also when the zip does not say so; otherwise the historical cp437.

    Every byte has a sign in cp437, so any name can be shown, and two different names stay
    different. A folder names a class, and people will read that: it must be real text.
    """
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        name = raw.decode("cp437")
    folder, _, _ = raw.removesuffix(b"/").rpartition(b"/")
    if not _is_utf8(raw if raw.endswith(b"/") else folder):
        raise BadName(
            file=name,
            reason="The name of its folder is not UTF-8 text, so it could not be shown to people.",
            remedy="Rename the folder with plain letters and make the zip again.",
        )
    return name


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def is_clutter(name: str) -> bool:
    """What operating systems leave behind, and hidden files."""
    return any(
        part.startswith(".") or part.casefold() in CLUTTER
        for part in name.removesuffix("/").split("/")
    )


def check_distinct(names: Iterable[str]) -> None:
    """Refuses names that some file systems take for the same one."""
    seen: dict[str, str] = {}
    for name in names:
        key = unicodedata.normalize("NFC", name).casefold()
        if key in seen:
            raise DuplicateName(
                file=name,
                reason=f"There is also {shown(seen[key])}; on many computers that is the same name.",
                remedy="Rename one of the two.",
            )
        seen[key] = name


# The directory


def _check_directory(path: Path, limits: ArchiveLimits) -> None:
    """Counts the entries before anything is built from them: the number in the zip may be a lie."""
    with path.open("rb") as file:
        head = file.read(4)
        if head == _END_SIGNATURE:
            raise _refused(path, "The zip is empty.")
        if head != b"PK\x03\x04":
            raise _refused(path, "It does not start as a zip, so it may be two things at once.")
        start, size = _directory_place(path, file)
        count = sum(1 for _ in _directory_headers(path, file, start, size, limits.entries + 1))
    if count > limits.entries:
        raise BadArchive(
            file=path.name,
            reason=f"The zip has more than {limits.entries:,} entries.",
            remedy="Leave out what is not an image of the two classes, or import a folder.",
        )


def _directory_place(path: Path, file: IO[bytes]) -> tuple[int, int]:
    """Where the list of entries starts and how long it is, if it is the last thing in the file."""
    length = file.seek(0, os.SEEK_END)
    tail_start = max(0, length - _END.size - _LONGEST_COMMENT)
    file.seek(tail_start)
    tail = file.read()
    found = _end_record(tail)
    if found is None:
        raise _refused(path, "The end of the zip is missing, as after a broken upload.")
    end = tail_start + found
    size, start = _END.unpack_from(tail, found)[5:7]
    directory_end = end
    locator = tail[found - _ZIP64_LOCATOR.size : found] if found >= _ZIP64_LOCATOR.size else b""
    if locator.startswith(b"PK\x06\x07"):
        directory_end = _ZIP64_LOCATOR.unpack(locator)[2]
        file.seek(directory_end)
        record = file.read(_ZIP64_END.size)
        stands_before_locator = file.tell() == end - _ZIP64_LOCATOR.size
        if not stands_before_locator or not record.startswith(b"PK\x06\x06"):
            raise _refused(path, "The directory of the zip is not where it should be.")
        size, start = _ZIP64_END.unpack(record)[8:10]
    if start + size != directory_end:
        raise _refused(path, "Something stands before the zip or between its parts.")
    return start, size


def _end_record(tail: bytes) -> int | None:
    """The same choice as the standard library makes: no comment first, else the last signature."""
    plain = len(tail) - _END.size
    if plain >= 0 and tail[plain : plain + 4] == _END_SIGNATURE and tail.endswith(b"\0\0"):
        return plain
    found = tail.rfind(_END_SIGNATURE)
    if found < 0 or len(tail) - found < _END.size:
        return None
    comment_length = _END.unpack_from(tail, found)[7]
    return found if found + _END.size + comment_length == len(tail) else None


def _directory_headers(
    path: Path, file: IO[bytes], start: int, size: int, most: int
) -> Iterator[bytes]:
    file.seek(start)
    done, count = 0, 0
    while done < size and count < most:
        header = file.read(_DIRECTORY_ENTRY.size)
        if len(header) < _DIRECTORY_ENTRY.size or not header.startswith(b"PK\x01\x02"):
            raise _refused(path, "The directory of the zip is damaged.")
        variable = sum(_DIRECTORY_ENTRY.unpack(header)[10:13])
        file.seek(variable, os.SEEK_CUR)
        done, count = done + len(header) + variable, count + 1
        yield header


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
        raise _refused(path, "The directory of the zip is damaged.") from error


def _entry(path: Path, info: zipfile.ZipInfo) -> ArchiveEntry:
    # `filename` is cut at a zero byte and repaired in other ways; this is what the zip says.
    encoding = "utf-8" if info.flag_bits & _UTF8_NAME else "cp437"
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
        "It is encrypted.": bool(info.flag_bits & _ENCRYPTED),
        "It is a symbolic link, which may point anywhere.": kind == stat.S_IFLNK,
        "It is neither a file nor a folder.": kind not in {0, stat.S_IFREG, stat.S_IFDIR}
        and kind != stat.S_IFLNK,
        "It is compressed in an uncommon way.": info.compress_type
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
            raise _refused(path, "Something stands before the first entry of the zip.")
        end = entry.offset + _LOCAL_HEADER.size + len(entry.raw_name) + entry.compressed_size
    if end > path.stat().st_size:
        raise _refused(path, "The zip is shorter than its directory says.")


def _check_not_nested(entry: ArchiveEntry) -> None:
    ending = PurePosixPath(entry.name).suffix.casefold()
    if ending in ARCHIVE_ENDINGS and not is_clutter(entry.name):
        raise BadArchive(
            file=entry.name,
            reason="It is an archive inside the zip.",
            remedy="Unpack it, put its images into the folder of their class, and zip that.",
        )


# The data


def _inflated(file: IO[bytes], length: int, method: int) -> Iterator[bytes]:
    stored = _pieces(file, length)
    return stored if method == zipfile.ZIP_STORED else _deflated(stored)


def _pieces(file: IO[bytes], length: int) -> Iterator[bytes]:
    while length > 0:
        piece = file.read(min(CHUNK, length))
        if not piece:
            raise EOFError
        length -= len(piece)
        yield piece


def _deflated(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Inflates without ever holding more than a chunk, however far a piece would blow up."""
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    for piece in pieces:
        yield inflater.decompress(piece, CHUNK)
        while inflater.unconsumed_tail and not inflater.eof:
            yield inflater.decompress(inflater.unconsumed_tail, CHUNK)
        if inflater.eof:
            return
    while not inflater.eof:
        rest = inflater.decompress(inflater.unconsumed_tail, CHUNK)
        if not rest:
            raise EOFError
        yield rest


# Refusals


def _refused(path: Path, reason: str) -> BadArchive:
    return BadArchive(file=path.name, reason=reason, remedy=ZIP_AGAIN)


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
