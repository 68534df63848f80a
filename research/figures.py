"""Figures that only experiments have, in the style of a study's figures."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from analysis.charts import axes
from analysis.charts.axes import LEFT, RIGHT, WIDTH, AxisScale
from analysis.charts.formatting import plain
from analysis.charts.shapes import Circle, Drawing, Line, Path, Point, Rect, Shape, Text
from analysis.stats import SampleSummary
from teaching.engine.arrays import FloatArray, IntArray

from .report import LIMITS, Data, MeanCurve, with_limits

LEGEND_ROW, MAX_COLUMNS = 18.0, 4
# The average width of small letters in the widest common font, and the width of a mark in the legend.
LETTER_WIDTH, MARK_WIDTH = 6.9, 22.0
# Space for half of the last number of the axis.
MARGIN = 20.0
MARKS_PER_CURVE = 5
# The least space for the names of rows.
MIN_NAMES_WIDTH = 100.0


# The last step of each phase of a teaching sequence, in the paper's colours.
PHASES = {"1–100": 100, "101–200": 200, "201–300": 300, "301–500": 500}


def convergence_plot(
    title: str,
    axis: str,
    curves: Sequence[MeanCurve],
    *,
    is_logarithmic: bool = False,
    highest: float = math.inf,
    x_axis: str = "step",
) -> Drawing:
    """One line with its band for each teacher; marks distinguish the lines without colours.

    The axis is limited to 0 to `highest`, even if intervals exceed that.
    """
    names = [curve.name for curve in curves]
    top = 12 + _legend_height(names)
    floor = top + 250
    low = max(0.0, min(float(curve.low.min()) for curve in curves))
    high = min(highest, max(float(curve.high.max()) for curve in curves))
    marks = axes.ticks(low, high)
    upward = AxisScale(marks[0], marks[-1], floor, top)
    if is_logarithmic:
        marks = log_ticks(min(float(curve.mean.min()) for curve in curves), high)
        upward = LogScale(marks[0], marks[-1], floor, top)
    across = AxisScale(0, max(curves[0].steps[-1], 1), LEFT, WIDTH - MARGIN)
    steps = [at for at in axes.ticks(0, across.high) if at <= across.high and at == int(at)]
    shapes: list[Shape] = [
        # Further left than in a study's figures, because logarithmic ticks are long.
        replace(axes.axis_title(axis, top, floor), x=10),
        *axes.value_axis(upward, marks, WIDTH - MARGIN, plain),
        *axes.bottom_axis(across, steps, top, floor, plain),
        Text((LEFT + WIDTH - MARGIN) / 2, floor + 34, x_axis, "label", "middle"),
        *_legend(names),
    ]
    for place, curve in enumerate(curves):
        style = "band" if len(curve.steps) > 1 else "hair"
        shapes.append(_band(curve, across, upward, f"{style} {axes.hue(place)}"))
    for place, curve in enumerate(curves):
        shapes += _line(place, curve, across, upward)
    return Drawing(WIDTH, floor + 44, title, shapes)


@dataclass(frozen=True)
class Dots:
    """A row of a dot plot: one mean with its interval for each of the same teachers."""

    name: str
    means: Sequence[SampleSummary]


def dots_data(name: str, what: str, teachers: Iterable[str], rows: Sequence[Dots]) -> Data:
    """The numbers behind a dot plot; `what` is the header of the row names."""
    names = list(teachers)
    return Data(
        name,
        [what, "teacher", *LIMITS],
        [
            [row.name, teacher, *with_limits(summary)]
            for row in rows
            for teacher, summary in zip(names, row.means, strict=True)
        ],
    )


def dot_plot(title: str, axis: str, names: Sequence[str], rows: Sequence[Dots]) -> Drawing:
    """Rows of marks, one for each teacher, slightly offset so that intervals do not overlap.

    With one mark per row there is no legend.
    """
    line, gap = 6.0, 14.0 if len(names) > 1 else 20.0
    left = max(MIN_NAMES_WIDTH, 16 + LETTER_WIDTH * max(len(row.name) for row in rows))
    top = 12 + _legend_height(names)
    height = line * (len(names) - 1) + gap
    floor = top + height * len(rows) + 4
    edges = [edge for row in rows for summary in row.means for edge in axes.extent(summary)]
    values = axes.ticks(min(edges), max(edges))
    across = AxisScale(values[0], values[-1], left, WIDTH - MARGIN)
    shapes: list[Shape] = [
        *axes.bottom_axis(across, values, top, floor, plain),
        Text((left + WIDTH - MARGIN) / 2, floor + 34, axis, "label", "middle"),
        *_legend(names),
    ]
    for place, row in enumerate(rows):
        start = top + height * place
        middle = start + height / 2
        shapes.append(Text(left - 8, middle + 4, row.name, "tick", "end"))
        shapes.append(Line(left, start, WIDTH - MARGIN, start, "grid"))
        for number, summary in enumerate(row.means):
            shapes += _dot(number, summary, across, start + gap / 2 + line * number)
    return Drawing(WIDTH, floor + 44, title, shapes)


def _dot(place: int, summary: SampleSummary, across: AxisScale, y: float) -> list[Shape]:
    if summary.mean is None:
        return []
    shapes: list[Shape] = []
    if summary.interval:
        low, high = across(summary.interval.low), across(summary.interval.high)
        shapes.append(Line(low, y, high, y, f"whisker {axes.hue(place)}"))
    return [*shapes, axes.mark(place, across(summary.mean), y, 2.6, "solid")]


@dataclass(frozen=True)
class LogScale(AxisScale):
    """A logarithmic axis for positive values."""

    def __call__(self, value: float) -> float:
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self.start + share * (self.end - self.start)


def log_ticks(low: float, high: float) -> list[float]:
    """1, 2 and 5 times powers of ten that span a range above zero."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    every = [round(m * 10.0**power, 10) for power in powers for m in (1, 2, 5)]
    first = max(place for place, value in enumerate(every) if value <= low)
    last = min(place for place, value in enumerate(every) if value >= high)
    return every[first : max(last, first + 1) + 1]


def _legend_columns(names: Sequence[str]) -> int:
    """As many as fit with the longest name."""
    longest = MARK_WIDTH + LETTER_WIDTH * max(len(name) for name in names)
    return max(1, min(MAX_COLUMNS, int((WIDTH - LEFT - RIGHT) / longest)))


def _legend_height(names: Sequence[str]) -> float:
    """0 for a single name, which needs no legend."""
    return LEGEND_ROW * math.ceil(len(names) / _legend_columns(names)) if len(names) > 1 else 0.0


def _legend(names: Sequence[str]) -> list[Shape]:
    if len(names) < 2:
        return []
    columns = _legend_columns(names)
    width = (WIDTH - LEFT - RIGHT) / columns
    shapes: list[Shape] = []
    for place, name in enumerate(names):
        x = LEFT + width * (place % columns)
        y = 13 + LEGEND_ROW * (place // columns)
        shapes += [axes.mark(place, x + 5, y - 4, 3.4, "solid"), Text(x + 14, y, name, "tick")]
    return shapes


def _band(curve: MeanCurve, across: AxisScale, upward: AxisScale, style: str) -> Shape:
    def edge(values: FloatArray) -> list[Point]:
        within = np.clip(values, upward.low, upward.high)
        return [(across(s), upward(float(y))) for s, y in zip(curve.steps, within, strict=True)]

    return Path((*edge(curve.high), *reversed(edge(curve.low))), style, is_closed=True)


def _line(place: int, curve: MeanCurve, across: AxisScale, upward: AxisScale) -> list[Shape]:
    points: list[Point] = [
        (across(s), upward(float(y))) for s, y in zip(curve.steps, curve.mean, strict=True)
    ]
    # Marks of different lines are offset, so that they do not cover each other.
    gap = max(1, len(points) // MARKS_PER_CURVE)
    start = gap // 2 + place * gap // (2 * axes.ARM_COLOURS)
    marks = [axes.mark(place, x, y, 3.0, "solid") for x, y in points[start::gap]]
    return [Path(tuple(points), f"curve {axes.hue(place)}"), *marks]


def phase_scatter(
    title: str,
    features: FloatArray,
    labels: IntArray,
    chosen: Sequence[int],
    target: FloatArray,
    *,
    stride: int = 1,
) -> Drawing:
    """The pool in the plane, shown examples in the colour of the phase that showed them first, and the target line.

    `chosen` holds the example of every step; with a stride only one in that many steps is drawn.
    """
    side, top = WIDTH - LEFT - MARGIN, 24.0
    reach = float(np.ceil(np.abs(features).max() / 4) * 4)
    across = AxisScale(-reach, reach, LEFT, LEFT + side)
    upward = AxisScale(-reach, reach, top + side, top)
    values = [at for at in axes.ticks(-reach, reach) if abs(at) <= reach]
    places: list[Point] = [(across(x), upward(y)) for x, y in features]
    shapes: list[Shape] = [
        *axes.value_axis(upward, values, LEFT + side, plain),
        *axes.bottom_axis(across, values, top, top + side, plain),
        *_phase_legend(),
        *(
            _class_mark(point, label, 2.2, 3.8, "class-plus" if label > 0 else "class-minus")
            for point, label in zip(places, labels, strict=True)
        ),
        _plane(target, across, upward, reach),
        # Late phases first, so that early ones are drawn on top.
        *(
            _class_mark(places[example], labels[example], 3.6, 6.4, f"solid phase-{number + 1}")
            for example, number in sorted(
                first_phases(chosen, stride).items(), key=lambda pair: -pair[1]
            )
        ),
    ]
    return Drawing(WIDTH, top + side + 26, title, shapes)


def first_phases(chosen: Sequence[int], stride: int = 1) -> dict[int, int]:
    """The phase that first showed each example, looking at every `stride`-th step."""
    phases: dict[int, int] = {}
    *ends, _ = PHASES.values()
    for step in range(1, len(chosen) + 1, stride):
        phases.setdefault(chosen[step - 1], bisect_left(ends, step))
    return phases


def _phase_legend() -> list[Shape]:
    width = (WIDTH - LEFT - RIGHT) / len(PHASES)
    shapes: list[Shape] = []
    for number, name in enumerate(PHASES):
        x = LEFT + width * number
        shapes += [
            Circle(x + 5, 8, 4, f"solid phase-{number + 1}"),
            Text(x + 14, 12, name, "tick"),
        ]
    return shapes


def _class_mark(point: Point, label: float, radius: float, side: float, style: str) -> Shape:
    """A circle for +1, a square for −1."""
    x, y = point
    if label > 0:
        return Circle(x, y, radius, style)
    return Rect(x - side / 2, y - side / 2, side, side, style)


def _plane(target: FloatArray, across: AxisScale, upward: AxisScale, reach: float) -> Shape:
    """Where w*ᵀx = 0, from edge to edge."""
    along = np.array([-target[1], target[0]])
    end = along * (reach / np.abs(along).max())
    return Line(across(-end[0]), upward(-end[1]), across(end[0]), upward(end[1]), "plane")
