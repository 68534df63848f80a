"""CSV files as laboratories write them: read strictly, and whatever is wrong is named by file, line and remedy."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .experiment import BadExperiment

# How pandas, NumPy and R write that there is no value.
MISSING = ("", "nan", "NaN", "NA")
# Of a first line that names other columns, so much is shown.
SHOWN = 60


@dataclass(frozen=True, slots=True)
class Row:
    """One line: its values by column, without spaces around them."""

    path: Path
    line: int
    values: Mapping[str, str]

    def __getitem__(self, name: str) -> str:
        return self.values[name]

    def wrong(self, complaint: str) -> BadExperiment:
        return BadExperiment(f"{self.path}, line {self.line}: {complaint}")

    def number(self, name: str, remedy: str) -> float:
        """The value of a column as a finite number."""
        try:
            value = float(self[name])
        except ValueError:
            value = float("nan")
        if not np.isfinite(value):
            raise self.wrong(f"{name} is {self[name]!r}, not a number; {remedy}.")
        return value


def read_rows(path: Path, needed: Sequence[str]) -> list[Row]:
    """All lines but blank ones; every column that is needed has a value in each."""
    records = _records(path)
    line, header = next(records, (1, []))
    _check_header(path, line, header, needed)
    rows = [_row(path, line, header, cells) for line, cells in records]
    for row in rows:
        for name in needed:
            if row[name] in MISSING:
                raise row.wrong(f"{name} is missing; fill it in or leave the line out.")
    return rows


def _row(path: Path, line: int, header: Sequence[str], cells: Sequence[str]) -> Row:
    """Columns without a name are left out: an index of the rows, or what a spreadsheet adds on the right."""
    if len(cells) != len(header):
        raise BadExperiment(
            f"{path}, line {line}: {len(header)} values are expected, and there are {len(cells)}; "
            "give every column one, and put texts with commas into quotes."
        )
    return Row(path, line, {name: cell for name, cell in zip(header, cells, strict=True) if name})


def _check_header(path: Path, line: int, header: Sequence[str], needed: Sequence[str]) -> None:
    missing = [name for name in needed if name not in header]
    if missing:
        raise BadExperiment(
            f"{path} has no column {', '.join(missing)}: its first line is {','.join(header)[:SHOWN]!r}. Name the "
            "columns there, with commas between them, as docs/data-formats.md has them."
        )
    twice = [name for name in header if name and header.count(name) > 1]
    if twice:
        raise BadExperiment(
            f"{path}, line {line}: the column {twice[0]} comes twice; rename one of them."
        )


def _records(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The records that are not blank, each with the number of the line where it begins."""
    text = io.StringIO(_text(path), newline="")
    reader = csv.reader(text, skipinitialspace=True, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            cells = [cell.strip() for cell in next(reader)]
        except StopIteration:
            return
        except csv.Error as error:
            raise BadExperiment(
                f"{path}, line {line}: this is not CSV ({error}); close every quote, and write quotes in a text twice."
            ) from error
        if any(cells):
            yield line, cells


def _text(path: Path) -> str:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BadExperiment(
            f"{path} cannot be read: {error.strerror}. docs/data-formats.md says what it holds."
        ) from error
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise BadExperiment(
            f"{path}, line {line}: this is not text in UTF-8; unpack the file if it is compressed, and save it as CSV "
            "in UTF-8."
        ) from error
