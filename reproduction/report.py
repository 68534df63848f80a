"""A report: sections of sentences, tables and figures, as one HTML file that asks nobody for anything.

Every figure and table carries the numbers behind it, as a CSV file in the folder and inside the page itself.
"""

from __future__ import annotations

import base64
import csv
import io
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.metadata import version
from pathlib import Path
from typing import Any

from analysis.charts.shapes import Drawing
from analysis.charts.styles import CHARTS, TOKENS
from analysis.charts.svg import svg

SHEET = Path(__file__).parent / "report.css"
LIBRARIES = ("numpy", "scipy", "django")


@dataclass(frozen=True)
class Data:
    """The numbers behind a figure or a table; `name` becomes the name of a CSV file."""

    name: str
    header: Sequence[str]
    rows: Sequence[Sequence[object]]

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


@dataclass(frozen=True)
class Report:
    title: str
    sections: Sequence[Section]
    settings: Mapping[str, Any]
    software: Mapping[str, str] = field(default_factory=dict)

    def data(self) -> list[Data]:
        """Everything that has a CSV file."""
        tables = [table.data for section in self.sections for table in section.tables]
        return tables + [figure.data for section in self.sections for figure in section.figures]


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
        (folder / f"{data.name}.csv").write_text(data.csv(), encoding="utf-8")
    path = folder / "report.html"
    path.write_text(html(report), encoding="utf-8")
    return path


def html(report: Report) -> str:
    sections = "\n".join(_section(section) for section in report.sections)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(report.title)}</title>\n<style>\n{style_sheet()}</style>\n</head>\n"
        f"<body>\n<main>\n<h1>{escape(report.title)}</h1>\n{sections}\n{_footer(report)}\n"
        "</main>\n</body>\n</html>\n"
    )


def style_sheet() -> str:
    """The project's colours by day and by night, the looks of its charts, and the page's own rules."""
    return "\n".join(sheet.read_text(encoding="utf-8") for sheet in (TOKENS, CHARTS, SHEET))


def _section(section: Section) -> str:
    sentences = "".join(f"<p>{escape(text)}</p>\n" for text in section.sentences)
    tables = "".join(_table(table) for table in section.tables)
    figures = "".join(_figure(figure) for figure in section.figures)
    columns = 2 if len(section.figures) in (1, 2, 4) else 3
    grid = f'<div class="figures in-{columns}">\n{figures}</div>\n' if figures else ""
    return f"<section>\n<h2>{escape(section.title)}</h2>\n{sentences}{tables}{grid}</section>"


def _table(table: ReportTable) -> str:
    body = "".join(_row(row) for row in table.rows)
    return (
        f'<figure class="wide"><table>\n<caption>{escape(table.title)}</caption>\n'
        f"<thead>{_groups(table)}<tr>{''.join(_heading(name) for name in table.header)}</tr></thead>\n"
        f"<tbody>\n{body}</tbody>\n</table>\n{_below(table.caption, table.data)}</figure>\n"
    )


def _groups(table: ReportTable) -> str:
    if not table.groups:
        return ""
    cells = "".join(
        f'<th scope="colgroup" colspan="{span}">{escape(title)}</th>'
        for title, span in table.groups
    )
    return f"<tr><td></td>{cells}</tr>"


def _heading(name: str) -> str:
    return f'<th scope="col">{escape(name)}</th>' if name else "<td></td>"


def _row(row: Sequence[str]) -> str:
    name, *values = row
    cells = "".join(f"<td>{escape(value)}</td>" for value in values)
    return f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>\n'


def _figure(figure: Figure) -> str:
    title = escape(figure.drawing.title)
    below = _below(figure.caption, figure.data)
    return f"<figure>\n<h3>{title}</h3>\n{svg(figure.drawing)}{below}</figure>\n"


def _below(caption: str, data: Data) -> str:
    return f"<figcaption>{escape(caption)} {_download(data)}</figcaption>\n"


def _download(data: Data) -> str:
    content = base64.b64encode(data.csv().encode()).decode()
    name = escape(f"{data.name}.csv")
    return f'<a download="{name}" href="data:text/csv;base64,{content}">{name}</a>'


def _footer(report: Report) -> str:
    settings = _list({name: str(value) for name, value in report.settings.items()})
    return (
        f"<section>\n<h2>How this was made</h2>\n<h3>Settings</h3>\n{settings}"
        f"<h3>Software</h3>\n{_list(report.software)}</section>"
    )


def _list(pairs: Mapping[str, str]) -> str:
    items = "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>\n" for k, v in pairs.items())
    return f"<dl>\n{items}</dl>\n"


def _cell(value: object) -> object:
    """Six digits are more than any of these numbers deserves."""
    return f"{value:.6g}" if isinstance(value, float) else value
