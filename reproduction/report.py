"""A report: sections of sentences, tables and figures, as one self-contained HTML file.

Every figure and table carries the numbers behind it, as a CSV file in the folder and inside the page itself.
"""

from __future__ import annotations

import base64
import csv
import io
import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from analysis.charts.shapes import Drawing
from analysis.charts.styles import CHARTS, TOKENS
from analysis.charts.svg import svg

FOLDER = Path(__file__).parent
SHEET = FOLDER / "report.css"
# A number and its sign stay in one line.
PERCENT = re.compile(r"(?<=\d) %")
LIBRARIES = ("numpy", "scipy", "django")


@dataclass(frozen=True)
class Data:
    """The numbers behind a figure or a table; `name` becomes the name of a CSV file."""

    name: str
    header: Sequence[str]
    rows: Sequence[Sequence[object]]

    @property
    def file_name(self) -> str:
        return f"{self.name}.csv"

    @property
    def link(self) -> str:
        """The file inside the page itself."""
        return f"data:text/csv;base64,{base64.b64encode(self.csv().encode()).decode()}"

    def csv(self) -> str:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.header)
        writer.writerows([_cell(value) for value in row] for row in self.rows)
        return text.getvalue()


@dataclass(frozen=True)
class Figure:
    drawing: Drawing
    caption: str
    data: Data

    @property
    def svg(self) -> str:
        return svg(self.drawing)


@dataclass(frozen=True)
class ReportTable:
    """`groups` spans columns: (title, how many), beginning after the column of names."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str
    data: Data
    groups: Sequence[tuple[str, int]] = ()


@dataclass(frozen=True)
class Section:
    title: str
    sentences: Sequence[str] = ()
    tables: Sequence[ReportTable] = ()
    figures: Sequence[Figure] = ()
    most_columns: int = 3
    """Two, where figures are read in pairs."""

    @property
    def columns(self) -> int:
        """How many figures stand beside each other."""
        return 2 if len(self.figures) in (1, 2, 4) else self.most_columns


@dataclass(frozen=True)
class Report:
    title: str
    sections: Sequence[Section]
    settings: Mapping[str, Any]
    software: Mapping[str, str] = field(default_factory=dict)

    @property
    def settings_in_words(self) -> dict[str, str]:
        return {name: _words(value) for name, value in self.settings.items()}

    def data(self) -> list[Data]:
        """Everything that has a CSV file."""
        tables = [table.data for section in self.sections for table in section.tables]
        return tables + [figure.data for section in self.sections for figure in section.figures]


def as_text(table: ReportTable) -> str:
    """A table for a terminal: names on the left, numbers on the right of their columns."""
    rows = [[str(cell) for cell in row] for row in (table.header, *table.rows)]
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join([name.ljust(widths[0]), *map(str.rjust, cells, widths[1:])]).rstrip()
        for name, *cells in rows
    ]
    return "\n".join([f"{table.title}. {table.caption}", "", *lines])


def versions(own: str) -> dict[str, str]:
    """What the numbers were made with."""
    others = {name: version(name) for name in LIBRARIES}
    return {
        "JEDI Web": own,
        "Python": platform.python_version(),
        **others,
        "machine": platform.machine(),
    }


def write(report: Report, folder: Path) -> Path:
    """Write the report and its CSV files into a folder, and return the path of the report."""
    folder.mkdir(parents=True, exist_ok=True)
    for data in report.data():
        (folder / data.file_name).write_text(data.csv(), encoding="utf-8")
    path = folder / "report.html"
    path.write_text(html(report), encoding="utf-8")
    return path


def html(report: Report) -> str:
    # Loaded when a page is written: an experiment runs in a notebook without Django.
    from django.template import Context, Engine

    page = Engine(dirs=[str(FOLDER)]).get_template("report.html")
    # Without Django's settings, which a notebook does not have, numbers cannot be written in a locale.
    told = page.render(Context({"report": report, "style_sheet": style_sheet()}, use_l10n=False))
    return PERCENT.sub("\N{NO-BREAK SPACE}%", told)


def style_sheet() -> str:
    """The project's colours by day and by night, the looks of its charts, and the page's own rules."""
    return "\n".join(sheet.read_text(encoding="utf-8") for sheet in (TOKENS, CHARTS, SHEET))


def _cell(value: object) -> object:
    """Six digits are more than any of these numbers deserves."""
    return f"{value:.6g}" if isinstance(value, float) else value


def _words(value: object) -> str:
    """A setting as people write it."""
    if isinstance(value, list | tuple):
        return ", ".join(_words(one) for one in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)
