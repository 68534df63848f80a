"""A report: sections of sentences, tables and figures, as one self-contained HTML file.

Every figure and table comes with its numbers, as a CSV file in the folder and inside the page.
"""

from __future__ import annotations

import base64
import csv
import io
import platform
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from scipy import special

from analysis.charts.accuracies import ArmBins
from analysis.charts.formatting import UNKNOWN, with_minus
from analysis.charts.shapes import Drawing
from analysis.charts.svg import CHARTS, TOKENS, svg
from analysis.stats import CONFIDENCE, Interval, SampleSummary
from teaching.engine.arrays import FloatArray

FOLDER = Path(__file__).parent
SHEET = FOLDER / "report.css"
# No line break between a number and its percent sign.
PERCENT = re.compile(r"(?<=\d) %")
LIBRARIES = ("numpy", "scipy", "django")
# The columns of a mean and its interval.
LIMITS = ("mean", "low", "high")


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
        """The file as a data URL."""
        return f"data:text/csv;base64,{base64.b64encode(self.csv().encode()).decode()}"

    def csv(self) -> str:
        """Floats have six significant digits."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.header)
        for row in self.rows:
            writer.writerow(f"{cell:.6g}" if isinstance(cell, float) else cell for cell in row)
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
    """`groups` spans columns: (title, how many), starting after the column of names."""

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
    max_columns: int = 3
    """2 if figures come in pairs."""

    @property
    def columns(self) -> int:
        """The number of figures in a row."""
        return 2 if len(self.figures) in (1, 2, 4) else self.max_columns


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


def _words(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(_words(one) for one in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


def as_text(table: ReportTable) -> str:
    """A table for a terminal: names left-aligned, numbers right-aligned."""
    rows = [[str(cell) for cell in row] for row in (table.header, *table.rows)]
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join([name.ljust(widths[0]), *map(str.rjust, cells, widths[1:])]).rstrip()
        for name, *cells in rows
    ]
    return "\n".join([f"{table.title}. {table.caption}", "", *lines])


def versions() -> dict[str, str]:
    """The software that the numbers were computed with."""
    project = tomllib.loads((FOLDER.parent / "pyproject.toml").read_text(encoding="utf-8"))
    return {
        "JEDI Web": project["project"]["version"],
        "Python": platform.python_version(),
        **{name: version(name) for name in LIBRARIES},
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
    # Imported here, so that a notebook can run experiments without Django.
    from django.template import Context, Engine

    page = Engine(dirs=[str(FOLDER)]).get_template("report.html")
    # Localisation would need Django's settings.
    text = page.render(Context({"report": report, "style_sheet": style_sheet()}, use_l10n=False))
    return PERCENT.sub("\N{NO-BREAK SPACE}%", text)


def style_sheet() -> str:
    """The product's colours and chart styles, and the report's own rules."""
    return "\n".join(sheet.read_text(encoding="utf-8") for sheet in (TOKENS, CHARTS, SHEET))


# From the numbers of many seeds to cells of tables and curves of figures


@dataclass(frozen=True)
class MeanCurve:
    """The mean of many curves at some steps, with its 95 % interval."""

    name: str
    steps: Sequence[int]
    mean: FloatArray
    low: FloatArray
    high: FloatArray


def mean_curve(name: str, steps: Sequence[int], curves: Sequence[Sequence[float]]) -> MeanCurve:
    """The mean over the seeds, with Student's interval at every step; a curve that ends early continues as NaN."""
    values = np.array(curves, dtype=np.float64)
    n, mean = np.isfinite(values).sum(axis=0), np.nanmean(values, axis=0)
    half = np.zeros_like(mean)
    if (several := n > 1).any():
        error = np.nanstd(values[:, several], axis=0, ddof=1) / np.sqrt(n[several])
        half[several] = error * special.stdtrit(n[several] - 1, (1 + CONFIDENCE) / 2)
    return MeanCurve(name, steps, mean, mean - half, mean + half)


def curve_data(name: str, curves: Sequence[MeanCurve]) -> Data:
    """The numbers behind a figure of curves."""
    rows = [
        [curve.name, step, float(mean), float(low), float(high)]
        for curve in curves
        for step, mean, low, high in zip(
            curve.steps, curve.mean, curve.low, curve.high, strict=True
        )
    ]
    return Data(name, ["teacher", "step", *LIMITS], rows)


def with_interval(summary: SampleSummary, digits: int) -> str:
    """24.3 [22.1, 26.6]."""
    if summary.mean is None:
        return UNKNOWN
    text = f"{summary.mean:.{digits}f}"
    if summary.interval is not None:
        text += f" [{summary.interval.low:.{digits}f}, {summary.interval.high:.{digits}f}]"
    return with_minus(text)


def with_limits(summary: SampleSummary) -> list[object]:
    """The mean and both ends of its interval as cells of a CSV file, empty if unknown."""
    limits = summary.interval
    cells = [summary.mean, limits.low if limits else None, limits.high if limits else None]
    return ["" if cell is None else cell for cell in cells]


def limits(name: str) -> list[str]:
    """The names of the columns of `with_limits`."""
    return [name, f"{name}_low", f"{name}_high"]


def bins_data(name: str, what: str, arms: Sequence[ArmBins]) -> Data:
    """The numbers behind panels of calibration; an interval of length 0 stands for none."""

    def ends(interval: Interval) -> tuple[object, object]:
        return (interval.low, interval.high) if interval.high > interval.low else ("", "")

    rows = [
        [arm.name, one.predicted, one.observed, one.n, *ends(one.interval)]
        for arm in arms
        for one in arm.bins
    ]
    return Data(name, [what, "predicted", "observed", "n", "low", "high"], rows)


def points_between(shares: Sequence[float], others: Sequence[float]) -> list[float]:
    """Differences between pairs of shares, in percentage points."""
    return [100 * (a - b) for a, b in zip(shares, others, strict=True)]
