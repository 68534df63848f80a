"""Distributions by arm: box plots and scatter plots with every participant, histograms, and response times."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from analysis.stats import TOO_FEW, Box, SampleSummary, box

from . import axes
from .axes import LEFT, RIGHT, TOP, WIDTH, AxisScale
from .formatting import percent, plain, signed_points, signed_tick
from .shapes import Drawing, Line, Path, Point, Rect, Shape, Text


@dataclass(frozen=True)
class ArmValues:
    """One value of every participant of an arm."""

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
    marks = _ticks(everything, otherwise=(0.0, 1.0))
    scale = AxisScale(marks[0], marks[-1], floor, TOP)
    shapes = [
        axes.axis_title(axis, TOP, floor),
        *axes.value_axis(scale, marks, WIDTH - RIGHT, show_tick),
    ]
    if has_zero:
        shapes.append(Line(LEFT, scale(0), WIDTH - RIGHT, scale(0), "zero"))
    column = (WIDTH - LEFT - RIGHT) / max(1, len(arms))
    for place, arm in enumerate(arms):
        middle = LEFT + column * (place + 0.5)
        shapes += arm_column(place, arm, middle, column, scale)
        shapes.append(Text(middle, floor + 22, axes.shortened(arm.name, 10), "name", "middle"))
        if arm.summary.mean is not None:
            shapes.append(Text(middle, floor + 40, show_mean(arm.summary.mean), "label", "middle"))
        shapes.append(Text(middle, floor + 56, f"n = {len(arm.values)}", "tick", "middle"))
    return Drawing(WIDTH, height, title, shapes)


def arm_column(
    place: int, arm: ArmValues, middle: float, column: float, scale: AxisScale
) -> list[Shape]:
    width = min(46.0, 0.5 * column)
    centre = middle - 0.1 * column
    size = axes.dot_size(len(arm.values))
    shapes = [
        axes.mark(place, centre + 0.85 * width * axes.jitter(order), scale(value), size, "dot")
        for order, value in enumerate(sorted(arm.values))
    ]
    if len(arm.values) >= TOO_FEW:
        shapes += upright_box(box(arm.values), centre, width, scale, axes.hue(place))
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


@dataclass(frozen=True)
class OutcomeStyle:
    """How the values of an outcome are written."""

    axis: str
    show_tick: Callable[[float], str]
    show_mean: Callable[[float], str]
    has_zero: bool


OUTCOME_STYLES = {
    "teaching_gain": OutcomeStyle(
        "teaching gain, points", signed_tick, signed_points, has_zero=True
    ),
    "evaluation_accuracy": OutcomeStyle(
        "evaluation accuracy, %",
        percent,
        lambda value: f"{100 * value:.1f}",
        has_zero=False,
    ),
}


def outcome_plot(outcome: str, title: str, arms: Sequence[ArmValues]) -> Drawing:
    style = OUTCOME_STYLES[outcome]
    return box_plot(
        title=title,
        axis=style.axis,
        arms=arms,
        show_tick=style.show_tick,
        show_mean=style.show_mean,
        has_zero=style.has_zero,
    )


def histogram(
    title: str,
    axis: str,
    counts: Sequence[tuple[float, float]],
    *,
    y_axis: str = "participants",
    show_middle: Callable[[float], str] = plain,
) -> Drawing:
    """Bars of equally wide classes with their counts on top. `counts` holds (middle, count)."""
    floor, height = 262.0, 316.0
    middles = [middle for middle, _ in counts] or [1.0]
    step = min((b - a for a, b in pairwise(middles)), default=1.0)
    across = AxisScale(middles[0] - step, middles[-1] + step, LEFT, WIDTH - RIGHT)
    highest = max([1.0, *(count for _, count in counts)])
    marks = [value for value in axes.ticks(0, highest) if value == int(value)]
    upward = AxisScale(0, marks[-1], floor, TOP + 14)
    width = 0.8 * step / (across.high - across.low) * (across.end - across.start)
    shapes: list[Shape] = [
        axes.axis_title(y_axis, TOP, floor),
        *axes.value_axis(upward, marks, WIDTH - RIGHT, plain),
        Text((LEFT + WIDTH - RIGHT) / 2, floor + 40, axis, "label", "middle"),
    ]
    for middle, count in counts:
        x, y = across(middle), upward(count)
        shapes.append(Rect(x - width / 2, y, width, floor - y, f"bar {axes.hue(0)}"))
        if round(count):
            shapes.append(Text(x, y - 5, f"{count:.0f}", "label", "middle"))
        shapes.append(Text(x, floor + 18, show_middle(middle), "tick", "middle"))
    return Drawing(WIDTH, height, title, shapes)


@dataclass(frozen=True)
class ArmPoints:
    """Arms without a name have no legend."""

    name: str
    points: Sequence[Point]


def scatter(
    title: str,
    x_axis: str,
    y_axis: str,
    arms: Sequence[ArmPoints],
    *,
    show_tick: Callable[[float], str] = signed_tick,
    has_zero: bool = True,
    moves_marks: bool = True,
    reference: Sequence[Point] = (),
) -> Drawing:
    """Every participant. Marks are moved a little sideways, because memory spans are often equal.

    `reference` is a dashed line, clipped to the range of the points.
    """
    floor, height = 280.0, 330.0
    top = 36.0 if any(arm.name for arm in arms) else TOP
    points = [point for arm in arms for point in arm.points]
    x_marks = _ticks([x for x, _ in points], otherwise=(1.0, 9.0), about=7)
    across = AxisScale(x_marks[0] - 0.25, x_marks[-1] + 0.25, LEFT, WIDTH - RIGHT)
    line = [(x, y) for x, y in reference if across.low <= x <= across.high]
    heights = [y for _, y in [*points, *line]] + ([0.0, 0.1] if has_zero else [])
    y_marks = _ticks(heights, otherwise=(0.0, 1.0))
    upward = AxisScale(y_marks[0], y_marks[-1], floor, top)
    shapes: list[Shape] = [
        axes.axis_title(y_axis, top, floor),
        Text((LEFT + WIDTH - RIGHT) / 2, floor + 38, x_axis, "label", "middle"),
        *axes.value_axis(upward, y_marks, WIDTH - RIGHT, show_tick),
        *(Text(across(x), floor + 18, plain(x), "tick", "middle") for x in x_marks),
    ]
    lines = [[(across.low, 0.0), (across.high, 0.0)]] if has_zero else []
    for one in (*lines, line):
        places = [(across(x), upward(y)) for x, y in one]
        shapes += [Line(*start, *end, "zero") for start, end in pairwise(places)]
    shapes += _marked(arms, across, upward, sideways=0.3 if moves_marks else 0.0)
    return Drawing(WIDTH, height, title, shapes)


def _ticks(values: Sequence[float], *, otherwise: Point, about: int = 5) -> list[float]:
    """Ticks that span all values, or `otherwise` if there are none."""
    low, high = (min(values), max(values)) if values else otherwise
    return axes.ticks(low, high, about)


def _marked(
    arms: Sequence[ArmPoints], across: AxisScale, upward: AxisScale, *, sideways: float
) -> list[Shape]:
    """The points of every arm, with a legend if it has a name."""
    size = axes.dot_size(sum(len(arm.points) for arm in arms) // 2)
    shapes: list[Shape] = []
    for place, arm in enumerate(arms):
        if arm.name:
            shapes += axes.legend_entry(place, arm.name, len(arms))
        shapes += [
            axes.mark(place, across(x + sideways * axes.jitter(order)), upward(y), size, "dot")
            for order, (x, y) in enumerate(sorted(arm.points))
        ]
    return shapes


@dataclass(frozen=True)
class ArmTimes:
    """Quantiles of response times in seconds; the whiskers are the 5 % and 95 % quantiles."""

    name: str
    stage: str
    box: Box | None


def times_plot(title: str, rows: Sequence[ArmTimes]) -> Drawing:
    """Horizontal boxes of response times; whiskers from the 5 % to the 95 % quantile."""
    left, top, line = 144.0, 14.0, 30.0
    floor = top + line * max(1, len(rows))
    longest = max((row.box.high for row in rows if row.box), default=1.0)
    marks = axes.ticks(0, longest)
    scale = AxisScale(0, marks[-1], left, WIDTH - 44)
    shapes: list[Shape] = [
        *axes.bottom_axis(scale, marks, top, floor, plain),
        Text((left + WIDTH - 44) / 2, floor + 36, "response time, s", "label", "middle"),
    ]
    order = list(dict.fromkeys(row.name for row in rows))
    for place, row in enumerate(rows):
        y = top + line * (place + 0.5)
        is_first = place == 0 or rows[place - 1].name != row.name
        if is_first:
            shapes.append(Text(8, y + 4, axes.shortened(row.name, 7), "name"))
        shapes.append(Text(left - 8, y + 4, row.stage, "tick", "end"))
        if row.box:
            shapes += lying_box(row.box, y, scale, axes.hue(order.index(row.name)))
    return Drawing(WIDTH, floor + 48, title, shapes)


def lying_box(numbers: Box, y: float, scale: AxisScale, colour: str) -> list[Shape]:
    first, third = scale(numbers.first), scale(numbers.third)
    return [
        Line(scale(numbers.low), y, first, y, f"whisker {colour}"),
        Line(third, y, scale(numbers.high), y, f"whisker {colour}"),
        Rect(first, y - 7, third - first, 14, f"box {colour}"),
        Line(scale(numbers.median), y - 7, scale(numbers.median), y + 7, f"median {colour}"),
        Text(scale(numbers.high) + 6, y + 4, f"{numbers.median:.2f}", "tick"),
    ]
