"""How values and rows are written: CSV for spreadsheets, JSON lines for programs."""

import csv
import io
import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from .column import Cell, Columns

# Spreadsheets read these as the beginning of a formula; some accept the full-width signs, too.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
# Text that begins with the escape sign itself gets one more, so that a reader can always remove one.
MARKED_STARTS = (*FORMULA_STARTS, "'")


def cell(value: Cell) -> str | int | float:
    """A value that is safe in a spreadsheet: numbers stay numbers, and text never becomes a formula."""
    match value:
        case None:
            return ""
        case bool():
            return int(value)
        case int() | float():
            return value
        case datetime():
            return _utc(value)
        case list():
            return json.dumps(value, ensure_ascii=False)
    return f"'{value}" if value.lstrip(" ").startswith(MARKED_STARTS) else value


def json_value(value: Cell) -> str | int | float | list[Any] | None:
    """The same value for JSON: text is not escaped, and a missing value is null."""
    match value:
        case bool():
            return int(value)
        case float():
            # JSON has no infinity, and strict parsers reject the whole line.
            return value if math.isfinite(value) else None
        case datetime():
            return _utc(value)
    return value


def _utc(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat()


class _Echo:
    """A file whose write() returns the line, so that csv.writer can stream (as in Django's documentation)."""

    def write(self, text: str) -> str:
        return text


def csv_lines(columns: Columns, rows: Iterable[Any]) -> Iterator[str]:
    writer = csv.writer(_Echo())
    yield writer.writerow([column.name for column in columns])
    for row in rows:
        yield writer.writerow([cell(column.value(row)) for column in columns])


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """A small table as one string."""
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(header)
    writer.writerows([cell(value) for value in row] for row in rows)
    return file.getvalue()


def json_lines(columns: Columns, rows: Iterable[Any]) -> Iterator[str]:
    for row in rows:
        values = {column.name: json_value(column.value(row)) for column in columns}
        yield json.dumps(values, ensure_ascii=False, allow_nan=False) + "\n"


@dataclass(frozen=True)
class Format:
    extension: str
    title: str
    content_type: str
    lines: Callable[[Columns, Iterable[Any]], Iterator[str]]


FORMATS = {
    form.extension: form
    for form in (
        Format("csv", "CSV", "text/csv; charset=utf-8", csv_lines),
        Format("jsonl", "JSON lines", "application/jsonl; charset=utf-8", json_lines),
    )
}
