"""Distributions by arm: box plots with every participant, and a histogram."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from analysis.charts.axes import (
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    AxisScale,
    axis_title,
    dot_size,
    hue,
    jitter,
    mark,
    shortened,
    ticks,
    value_axis,
)
from analysis.charts.shapes import Drawing, Line, Path, Rect, Shape, Text
from analysis.charts.words import plain
from analysis.stats import TOO_FEW, Box, SampleSummary, box


@dataclass(frozen=True)
class ArmValues:
    """One number of every participant of an arm."""

    name: str
    values: Sequence[float]
    summary: SampleSummary


def box_plot(
    *,
    title: str,
    axis: str,
    arms: Sequence[ArmValues],
    show_tick: Callable[[float], str],
    show_mean: Callable[[float], str],
    has_zero: bool = False,
) -> Drawing:
    """A box, every participant as a mark, and the mean with its interval, for each arm."""
    height, floor = 346.0, 280.0
    everything = [value for arm in arms for value in arm.values] + ([0.0] if has_zero else [])
    marks = ticks(min(everything, default=0.0), max(everything, default=1.0))
    scale = AxisScale(marks[0], marks[-1], floor, TOP)
    shapes = [
        axis_title(axis, TOP, floor),
        *value_axis(scale, marks, WIDTH - RIGHT, show_tick),
    ]
    if has_zero:
        shapes.append(Line(LEFT, scale(0), WIDTH - RIGHT, scale(0), "zero"))
    column = (WIDTH - LEFT - RIGHT) / max(1, len(arms))
    for place, arm in enumerate(arms):
        middle = LEFT + column * (place + 0.5)
        shapes += arm_column(place, arm, middle, column, scale)
        shapes.append(Text(middle, floor + 22, shortened(arm.name, 10), "name", "middle"))
        if arm.summary.mean is not None:
            shapes.append(Text(middle, floor + 40, show_mean(arm.summary.mean), "label", "middle"))
        shapes.append(Text(middle, floor + 56, f"n = {len(arm.values)}", "tick", "middle"))
    return Drawing(WIDTH, height, title, shapes)


def arm_column(
    place: int, arm: ArmValues, middle: float, column: float, scale: AxisScale
) -> list[Shape]:
    width = min(46.0, 0.5 * column)
    centre = middle - 0.1 * column
    size = dot_size(len(arm.values))
    shapes = [
        mark(place, centre + 0.85 * width * jitter(order), scale(value), size, "dot")
        for order, value in enumerate(sorted(arm.values))
    ]
    if len(arm.values) >= TOO_FEW:
        shapes += upright_box(box(arm.values), centre, width, scale, hue(place))
    return [*shapes, *mean_mark(arm.summary, centre + width / 2 + 0.14 * column, scale)]


def upright_box(
    numbers: Box | None, x: float, width: float, scale: AxisScale, colour: str
) -> list[Shape]:
    if numbers is None:
        return []
    left, right, cap = x - width / 2, x + width / 2, width / 4
    low, first, median, third, high = (
        scale(value)
        for value in (numbers.low, numbers.first, numbers.median, numbers.third, numbers.high)
    )
    return [
        Rect(left, third, width, first - third, f"box {colour}"),
        Line(left, median, right, median, f"median {colour}"),
        Line(x, first, x, low, f"whisker {colour}"),
        Line(x, third, x, high, f"whisker {colour}"),
        Line(x - cap, low, x + cap, low, f"whisker {colour}"),
        Line(x - cap, high, x + cap, high, f"whisker {colour}"),
    ]


def mean_mark(summary: SampleSummary, x: float, scale: AxisScale) -> list[Shape]:
    if summary.mean is None:
        return []
    shapes: list[Shape] = []
    if summary.interval:
        low, high = scale(summary.interval.low), scale(summary.interval.high)
        shapes = [
            Line(x, low, x, high, "interval"),
            Line(x - 3, low, x + 3, low, "interval"),
            Line(x - 3, high, x + 3, high, "interval"),
        ]
    y = scale(summary.mean)
    return [*shapes, Path(((x - 5, y), (x, y - 5), (x + 5, y), (x, y + 5)), "mean", is_closed=True)]


def histogram(title: str, axis: str, counts: Sequence[tuple[float, int]]) -> Drawing:
    """Bars at equally wide classes, each with its count on top. `counts` holds (middle, how many)."""
    floor, height = 262.0, 316.0
    middles = [middle for middle, _ in counts] or [1.0]
    step = min((b - a for a, b in pairwise(middles)), default=1.0)
    across = AxisScale(middles[0] - step, middles[-1] + step, LEFT, WIDTH - RIGHT)
    marks = [
        mark for mark in ticks(0, max([count for _, count in counts] or [1])) if mark == int(mark)
    ]
    upward = AxisScale(0, marks[-1], floor, TOP + 14)
    width = 0.8 * step / (across.high - across.low) * (across.end - across.start)
    shapes: list[Shape] = [
        axis_title("participants", TOP, floor),
        *value_axis(upward, marks, WIDTH - RIGHT, plain),
        Text((LEFT + WIDTH - RIGHT) / 2, floor + 40, axis, "label", "middle"),
    ]
    for middle, count in counts:
        x, y = across(middle), upward(count)
        shapes.append(Rect(x - width / 2, y, width, floor - y, f"bar {hue(0)}"))
        if count:
            shapes.append(Text(x, y - 5, str(count), "label", "middle"))
        shapes.append(Text(x, floor + 18, plain(middle), "tick", "middle"))
    return Drawing(WIDTH, height, title, shapes)
