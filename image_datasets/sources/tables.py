"""CSV files as people make them: from a spreadsheet, with commas or semicolons, with or without BOM.

They name images relative to the folder, with or without the extension.
"""

from __future__ import annotations

import csv
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from ..errors import BadImage, BadSource, shown
from .files import SourceFile

MANIFEST_BYTES = 64 * (1 << 20)
HEADER_BYTES = 1 << 20


class Names:
    """The images of a source by every name that a table may use for them."""

    def __init__(self, names: Iterable[str]) -> None:
        self._exact = set(names)
        self._by_stem: dict[str, list[str]] = defaultdict(list)
        for name in self._exact:
            self._by_stem[str(PurePosixPath(name).with_suffix(""))].append(name)

    def found(self, written: str) -> str | None:
        """The image that is meant, if exactly one is. Nothing is looked up on a disk."""
        # Tables are written on Windows too.
        name = unicodedata.normalize("NFC", written.strip()).replace("\\", "/").removeprefix("./")
        if name in self._exact:
            return name
        without_ending = self._by_stem.get(name, [])
        return without_ending[0] if len(without_ending) == 1 else None


@dataclass(frozen=True)
class Header:
    """The first line of a CSV: its column names in lower case, and what separates them."""

    columns: tuple[str, ...]
    delimiter: str


def header_of(file: SourceFile, problem: type[BadSource]) -> Header:
    """Reads no more than the first line."""
    line = next(_lines(file, problem), "")
    delimiter = ";" if line.count(";") > line.count(",") else ","
    try:
        cells = next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error as error:
        raise _unreadable(file, 1, problem) from error
    return Header(tuple(cell.strip().casefold() for cell in cells), delimiter)


def rows_of(
    file: SourceFile, header: Header, problem: type[BadSource]
) -> Iterator[tuple[int, list[str]]]:
    """Line numbers and cells below the header; empty lines are skipped."""
    reader = csv.reader(_lines(file, problem), delimiter=header.delimiter)
    while True:
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise _unreadable(file, reader.line_num, problem) from error
        if row is None:
            return
        cells = [cell.strip() for cell in row]
        if reader.line_num == 1 or not any(cells):
            continue
        if len(cells) != len(header.columns):
            raise problem(
                file=file.name,
                reason=f"Line {reader.line_num} has {len(cells)} cells, the header has {len(header.columns)}.",
                remedy="Put names that contain a comma or a semicolon in double quotes.",
            )
        yield reader.line_num, cells


def _lines(file: SourceFile, problem: type[BadSource]) -> Iterator[str]:
    """Decoded line by line, so that a large table is never in memory as text."""
    number = 0
    try:
        for number, line in enumerate(_raw_lines(file, problem), start=1):
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        raise problem(
            file=file.name,
            reason=f"Line {number} is not UTF-8 text.",
            remedy="Save the table as “CSV UTF-8”.",
        ) from error
    except BadImage as error:
        raise problem(file=file.name, reason=error.reason, remedy=error.remedy) from error


def _raw_lines(file: SourceFile, problem: type[BadSource]) -> Iterator[bytes]:
    rest = b""
    for chunk in file.chunks():
        *lines, rest = (rest + chunk).split(b"\n")
        yield from (line.rstrip(b"\r") + b"\n" for line in lines)
        if len(rest) > HEADER_BYTES:
            raise problem(
                file=file.name,
                reason=f"A line has more than {HEADER_BYTES:,} bytes.",
                remedy="Save the table again with one image in each line.",
            )
    if rest:
        yield rest


def _unreadable(file: SourceFile, line: int, problem: type[BadSource]) -> BadSource:
    return problem(
        file=file.name,
        reason=f"Line {line} cannot be read as CSV.",
        remedy="Save the table again as “CSV UTF-8”.",
    )


def quoted(columns: tuple[str, ...]) -> str:
    """Column names for a message."""
    return ", ".join(f"“{shown(column)}”" for column in columns[:12]) or "nothing"
