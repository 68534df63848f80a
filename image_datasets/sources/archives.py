"""Read zip archives from untrusted people: nothing is believed, nothing is unpacked under its own name.

The central directory is validated as a whole before the first byte is inflated. Entries are then read one at a time,
straight from the zip, by their offset; the bytes that really come out are counted.
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

from image_datasets.errors import (
    ZIP_AGAIN,
    BadArchive,
    BadImage,
    BadName,
    DuplicateName,
    printable,
    too_long,
    unusable_zip,
)

MIB = 1 << 20
GIB = 1 << 30
CHUNK = 1 << 16
MAX_NAME_LENGTH = 1_000

ARCHIVE_ENDINGS = {
    *(".zip", ".jar", ".7z", ".rar", ".tar", ".tgz", ".gz", ".bz2", ".tbz2", ".xz", ".txz"),
    *(".zst", ".lz", ".lzma", ".cab", ".iso", ".dmg", ".arj", ".cbz", ".cbr"),
}
# Files that operating systems leave behind; hidden files are ignored as well.
CLUTTER = {"thumbs.db", "ehthumbs.db", "desktop.ini", "icon\r", "__macosx"}

# The zip format, see APPNOTE.TXT.
ENCRYPTED = 0x1 | 0x40 | 0x2000
UTF8_NAME = 0x800
LOCAL_HEADER = struct.Struct("<4s5H3L2H")
DIRECTORY_ENTRY = struct.Struct("<4s6H3L5H2L")
END_SIGNATURE = b"PK\x05\x06"
END = struct.Struct("<4s4H2LH")
ZIP64_LOCATOR = struct.Struct("<4sLQL")
ZIP64_END = struct.Struct("<4sQ2H2L4Q")
MAX_COMMENT = 0xFFFF


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

    def is_bomb(self, size: int, compressed: int, max_ratio: float) -> bool:
        return size > self.ratio_free_bytes and size > max_ratio * max(compressed, 1)


# For what a researcher uploads; archives inside it, such as .npz, have limits of their own.
UPLOAD_LIMITS = ArchiveLimits()


@dataclass(frozen=True)
class ArchiveEntry:
    """One file of a validated zip. It opens the zip itself, so that it can be sent to another process."""

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
            raise too_long(self.name, self.size, limit)
        return b"".join(self.chunks())

    def chunks(self) -> Iterator[bytes]:
        """The content in small chunks. Damaged data raises `BadImage` before the last chunk."""
        with self.archive.open("rb") as file:
            self._seek_to_data(file)
            chunks = _stored_chunks(file, self.compressed_size)
            if self.method != zipfile.ZIP_STORED:
                chunks = _inflated_chunks(chunks)
            size, crc = 0, 0
            try:
                for chunk in chunks:
                    size, crc = size + len(chunk), zlib.crc32(chunk, crc)
                    if size > self.size:
                        raise self._damaged("It is longer than the zip says.")
                    yield chunk
            except (zlib.error, EOFError) as error:
                raise self._damaged("Its data are damaged or cut off.") from error
            if size < self.size:
                raise self._damaged("It is shorter than the zip says.")
            if crc != self.crc:
                raise self._damaged("Its checksum is wrong, so the data are damaged.")

    def _seek_to_data(self, file: IO[bytes]) -> None:
        file.seek(self.offset)
        header = file.read(LOCAL_HEADER.size)
        if len(header) < LOCAL_HEADER.size or header[:4] != b"PK\x03\x04":
            raise self._damaged("It is not where the zip says it is.")
        name_length, extra_length = LOCAL_HEADER.unpack(header)[-2:]
        if file.read(name_length) != self.raw_name:
            raise self._damaged("The zip names it differently in two places.")
        file.seek(extra_length, os.SEEK_CUR)

    def _damaged(self, reason: str) -> BadImage:
        return BadImage(file=self.name, reason=reason, remedy=ZIP_AGAIN)


def _stored_chunks(file: IO[bytes], length: int) -> Iterator[bytes]:
    while length > 0:
        chunk = file.read(min(CHUNK, length))
        if not chunk:
            raise EOFError
        length -= len(chunk)
        yield chunk


def _inflated_chunks(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Inflate without ever holding more than a chunk, however much a piece of input expands."""
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    for chunk in chunks:
        yield inflater.decompress(chunk, CHUNK)
        while inflater.unconsumed_tail and not inflater.eof:
            yield inflater.decompress(inflater.unconsumed_tail, CHUNK)
        if inflater.eof:
            return
    while not inflater.eof:
        rest = inflater.decompress(inflater.unconsumed_tail, CHUNK)
        if not rest:
            raise EOFError
        yield rest


def open_archive(path: Path, limits: ArchiveLimits = UPLOAD_LIMITS) -> tuple[ArchiveEntry, ...]:
    """The files of a zip, sorted by name. Raises `BadArchive` or `BadName` for the zip as a whole."""
    check_directory(path, limits.entries)
    try:
        with zipfile.ZipFile(path) as archive:
            infos = archive.infolist()
    except UnicodeDecodeError as error:
        raise BadName(
            file=path.name,
            reason="A name in the zip claims to be UTF-8 and is not.",
            remedy=f"Rename the files with plain letters. {ZIP_AGAIN}",
        ) from error
    except (zipfile.BadZipFile, NotImplementedError, struct.error, OSError, ValueError) as error:
        raise unusable_zip(path, "The directory of the zip is damaged.") from error
    entries = [_checked_entry(path, info) for info in infos]
    _check_sizes(path, entries, limits)
    _check_overlaps(path, entries)
    files = [entry for entry in entries if not entry.name.endswith("/")]
    check_distinct(entry.name for entry in files)
    for entry in files:
        ending = PurePosixPath(entry.name).suffix.casefold()
        if ending in ARCHIVE_ENDINGS and not is_clutter(entry.name):
            raise BadArchive(
                file=entry.name,
                reason="It is an archive inside the zip.",
                remedy="Unpack it, put its images into the folder of their class, and zip that.",
            )
    return tuple(sorted(files, key=lambda entry: entry.name))


def _checked_entry(path: Path, info: zipfile.ZipInfo) -> ArchiveEntry:
    # `filename` is cut at a zero byte and repaired in other ways; `orig_filename` is what the zip says.
    raw = info.orig_filename.encode("utf-8" if info.flag_bits & UTF8_NAME else "cp437")
    name = checked_name(decoded_name(raw))
    kind = stat.S_IFMT(info.external_attr >> 16)
    methods = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
    problems = {
        "It is encrypted.": bool(info.flag_bits & ENCRYPTED),
        "It is a symbolic link, which may point anywhere.": kind == stat.S_IFLNK,
        "It is neither a file nor a folder.": kind not in {0, stat.S_IFREG, stat.S_IFDIR},
        "It uses an unusual compression method.": info.compress_type not in methods,
    }
    for reason, holds in problems.items():
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


def _check_sizes(path: Path, entries: list[ArchiveEntry], limits: ArchiveLimits) -> None:
    for entry in entries:
        if entry.size > limits.entry_bytes:
            raise _too_large(entry.name, entry.size, limits.entry_bytes)
        if limits.is_bomb(entry.size, entry.compressed_size, limits.entry_ratio):
            raise _bomb(entry.name, entry.size / max(entry.compressed_size, 1))
    total, length = sum(entry.size for entry in entries), path.stat().st_size
    if total > limits.total_bytes:
        raise _too_large(path.name, total, limits.total_bytes)
    if limits.is_bomb(total, length, limits.total_ratio):
        raise _bomb(path.name, total / length)


def _too_large(name: str, size: int, limit: int) -> BadArchive:
    return BadArchive(
        file=name,
        reason=f"It unpacks to {size:,} bytes; at most {limit:,} are read.",
        remedy="Make the images smaller, or import fewer of them.",
    )


def _bomb(name: str, ratio: float) -> BadArchive:
    return BadArchive(
        file=name,
        reason=f"It unpacks to {ratio:,.0f} times its size, which photographs never do.",
        remedy="Leave it out of the zip.",
    )


def _check_overlaps(path: Path, entries: list[ArchiveEntry]) -> None:
    """Entries must follow one another from the first byte: zip bombs make entries share their data."""
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


# The central directory


def check_directory(path: Path, max_entries: int) -> None:
    """Count the entries before `zipfile` builds objects from them: the number in the zip may be a lie."""
    with path.open("rb") as file:
        head = file.read(4)
        if head == END_SIGNATURE:
            raise unusable_zip(path, "The zip is empty.")
        if head != b"PK\x03\x04":
            raise unusable_zip(
                path,
                "It does not start like a zip: it may be another kind of file with a zip inside.",
            )
        start, size = _locate_directory(path, file)
        file.seek(start)
        position = count = 0
        while position < size and count <= max_entries:
            header = file.read(DIRECTORY_ENTRY.size)
            if len(header) < DIRECTORY_ENTRY.size or not header.startswith(b"PK\x01\x02"):
                raise unusable_zip(path, "The directory of the zip is damaged.")
            variable = sum(DIRECTORY_ENTRY.unpack(header)[10:13])
            file.seek(variable, os.SEEK_CUR)
            position, count = position + len(header) + variable, count + 1
    if count > max_entries:
        raise BadArchive(
            file=path.name,
            reason=f"The zip has more than {max_entries:,} entries.",
            remedy="Leave out what is not an image of the two classes, or import a folder.",
        )


def _locate_directory(path: Path, file: IO[bytes]) -> tuple[int, int]:
    """Offset and length of the central directory, which must be the last thing in the file."""
    length = file.seek(0, os.SEEK_END)
    tail_start = max(0, length - END.size - MAX_COMMENT)
    file.seek(tail_start)
    tail = file.read()
    position = _find_end_record(tail)
    if position is None:
        raise unusable_zip(path, "The end of the zip is missing, as if an upload was interrupted.")
    end = tail_start + position
    size, start = END.unpack_from(tail, position)[5:7]
    directory_end = end
    locator = tail[max(0, position - ZIP64_LOCATOR.size) : position]
    if len(locator) == ZIP64_LOCATOR.size and locator.startswith(b"PK\x06\x07"):
        directory_end = ZIP64_LOCATOR.unpack(locator)[2]
        file.seek(directory_end)
        record = file.read(ZIP64_END.size)
        precedes_locator = file.tell() == end - ZIP64_LOCATOR.size
        if not precedes_locator or not record.startswith(b"PK\x06\x06"):
            raise unusable_zip(path, "The directory of the zip is not where it should be.")
        size, start = ZIP64_END.unpack(record)[8:10]
    if start + size != directory_end:
        raise unusable_zip(path, "There are extra bytes before the zip or between its parts.")
    return start, size


def _find_end_record(tail: bytes) -> int | None:
    """The record that `zipfile` chooses too: the one without a comment, else the last signature."""
    plain = len(tail) - END.size
    if plain >= 0 and tail[plain : plain + 4] == END_SIGNATURE and tail.endswith(b"\0\0"):
        return plain
    position = tail.rfind(END_SIGNATURE)
    if position < 0 or len(tail) - position < END.size:
        return None
    comment_length = END.unpack_from(tail, position)[7]
    return position if position + END.size + comment_length == len(tail) else None


# Names


def checked_name(name: str) -> str:
    """The name, if it stays below its folder on every system. The name of a folder ends with a slash."""
    parts = name.removesuffix("/").split("/")
    has_control = any(unicodedata.category(character) == "Cc" for character in name)
    is_absolute = name.startswith("/") or re.match("[A-Za-z]:", name) is not None
    problems = {
        "The name is empty.": not name,
        f"The name is longer than {MAX_NAME_LENGTH} characters.": len(name) > MAX_NAME_LENGTH,
        "The name has a backslash in it.": "\\" in name,
        "The name is an absolute path.": is_absolute,
        "The name leads out of its folder.": ".." in parts,
        "The name has an empty part.": "" in parts or "." in parts,
        "The name has a control character in it.": has_control and not is_clutter(name),
    }
    for reason, holds in problems.items():
        if holds:
            raise BadName(file=name, reason=reason, remedy=f"Rename it. {ZIP_AGAIN}")
    return name


def decoded_name(raw: bytes) -> str:
    """UTF-8 if it is valid, whatever the zip says; otherwise the historical cp437.

    Every byte is a character in cp437, so any name can be shown, and two different names stay different. A folder names
    a class, which participants read: it must be valid UTF-8.
    """
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        name = raw.decode("cp437")
    folder = raw if raw.endswith(b"/") else raw.rpartition(b"/")[0]
    try:
        folder.decode("utf-8")
    except UnicodeDecodeError:
        raise BadName(
            file=name,
            reason="The name of its folder is not UTF-8 text, so people could not read it.",
            remedy="Rename the folder with plain letters and make the zip again.",
        ) from None
    return name


def is_clutter(name: str) -> bool:
    """Whether an operating system left it behind, or it is hidden."""
    return any(
        part.startswith(".") or part.casefold() in CLUTTER
        for part in name.removesuffix("/").split("/")
    )


def check_distinct(names: Iterable[str]) -> None:
    """Refuse names that some file systems take for the same one."""
    seen: dict[str, str] = {}
    for name in names:
        key = unicodedata.normalize("NFC", name).casefold()
        if key in seen:
            raise DuplicateName(
                file=name,
                reason=f"There is also {printable(seen[key])}; on many computers that is the same name.",
                remedy="Rename one of the two.",
            )
        seen[key] = name
