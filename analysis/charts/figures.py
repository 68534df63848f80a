"""The figures of a study, from numbers to shapes. Pure: the same numbers give the same drawing to the last digit.

An arm has its place, its name and its own mark besides its colour, so that no figure depends on seeing colours.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from analysis.stats import TOO_FEW, Box, Interval, SampleSummary, box

from .shapes import Circle, Drawing, Line, Path, Point, Rect, Shape, Text

WIDTH = 440.0
LEFT, RIGHT, TOP = 52.0, 12.0, 14.0
DOT = 3.2
# From this many on, an arm's marks shrink.
CROWD = 60
LONGEST_NAME = 14
GOLDEN = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True)
class ArmValues:
    """One number of every participant of an arm."""

    name: str
    values: Sequence[float]
    summary: SampleSummary


@dataclass(frozen=True)
class ArmAccuracies:
    name: str
    first_seen: SampleSummary
    evaluation: SampleSummary


@dataclass(frozen=True)
class StepAccuracy:
    step: int
    n: int
    share: float
    interval: Interval


@dataclass(frozen=True)
class ArmCurves:
    name: str
    every: Sequence[StepAccuracy]
    first_seen: Sequence[StepAccuracy]


@dataclass(frozen=True)
class ArmPoints:
    name: str
    points: Sequence[Point]


@dataclass(frozen=True)
class ArmConfusion:
    """`counts[truth][answer]`, both in the order of the class names."""

    name: str
    counts: tuple[tuple[int, int], tuple[int, int]]


@dataclass(frozen=True)
class ArmTimes:
    """Quantiles of response times in seconds; the whiskers are the 5 % and 95 % quantiles."""

    name: str
    stage: str
    box: Box | None


@dataclass(frozen=True)
class Scale:
    """From values to places on the paper."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers that span the range: steps of 1, 2 or 5 times a power of ten."""
    if not high > low:
        low, high = low - 0.5, high + 0.5
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(step * place, 10) for place in range(first, last + 1)]


def jitter(place: int) -> float:
    """Between −0.5 and 0.5: evenly spread, never random, and neighbours lie apart."""
    return (place * GOLDEN) % 1 - 0.5


def signed_points(share: float) -> str:
    """0.123 as +12.3, in percentage points."""
    return with_minus(f"{100 * share:+.1f}")


def signed_tick(share: float) -> str:
    return with_minus(f"{100 * share:+.0f}") if share else "0"


def with_minus(text: str) -> str:
    return text.replace("-", "−")


def plain(value: float) -> str:
    return with_minus(f"{value:g}")


def percent(share: float) -> str:
    return f"{100 * share:.0f}"


def shortened(name: str, longest: int = LONGEST_NAME) -> str:
    return name if len(name) <= longest else name[: longest - 1].rstrip() + "…"


def hue(place: int) -> str:
    return f"arm-{place % 6 + 1}"


def mark(place: int, x: float, y: float, size: float, style: str) -> Shape:
    """An arm's own mark: circle, square, triangle, diamond, and round again."""
    style = f"{style} {hue(place)}"
    match place % 4:
        case 0:
            return Circle(x, y, size, style)
        case 1:
            side = 1.8 * size
            return Rect(x - side / 2, y - side / 2, side, side, style)
        case 2:
            low, high = y + 0.8 * size, y - 1.2 * size
            return Path(
                ((x - 1.15 * size, low), (x + 1.15 * size, low), (x, high)), style, is_closed=True
            )
    reach = 1.3 * size
    corners = ((x - reach, y), (x, y - reach), (x + reach, y), (x, y + reach))
    return Path(corners, style, is_closed=True)


def value_axis(
    scale: Scale, values: Sequence[float], right: float, show: Callable[[float], str]
) -> Iterator[Shape]:
    """Horizontal lines with their values on the left."""
    for value in values:
        yield Line(LEFT, scale(value), right, scale(value), "grid")
    for value in values:
        yield Text(LEFT - 6, scale(value) + 4, show(value), "tick", "end")


def bottom_axis(
    scale: Scale, values: Sequence[float], top: float, floor: float, show: Callable[[float], str]
) -> Iterator[Shape]:
    """Vertical lines with their values below."""
    for value in values:
        yield Line(scale(value), top, scale(value), floor, "grid")
    for value in values:
        yield Text(scale(value), floor + 16, show(value), "tick", "middle")


def axis_title(text: str, top: float, floor: float) -> Text:
    return Text(13, (top + floor) / 2, text, "label", "middle", is_upright=True)


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
    scale = Scale(marks[0], marks[-1], floor, TOP)
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
    place: int, arm: ArmValues, middle: float, column: float, scale: Scale
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


def dot_size(n: int) -> float:
    """Many marks are smaller, so that a crowd does not become a blot."""
    return max(1.2, DOT * min(1.0, math.sqrt(CROWD / max(1, n))))


def upright_box(
    numbers: Box | None, x: float, width: float, scale: Scale, colour: str
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


def mean_mark(summary: SampleSummary, x: float, scale: Scale) -> list[Shape]:
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


def accuracy_plot(title: str, arms: Sequence[ArmAccuracies]) -> Drawing:
    """First-seen accuracy, evaluation accuracy and the way between them, which is the gain."""
    row, top = 66.0, 34.0
    floor = top + row * max(1, len(arms))
    edges = [edge for arm in arms for s in (arm.first_seen, arm.evaluation) for edge in extent(s)]
    marks = ticks(min([0.4, *edges]), max([0.9, *edges]))
    scale = Scale(marks[0], marks[-1], LEFT + 8, WIDTH - 62)
    shapes: list[Shape] = [
        *bottom_axis(scale, marks, top, floor, percent),
        Text((scale.start + scale.end) / 2, floor + 36, "accuracy, %", "label", "middle"),
        Text(WIDTH - RIGHT, 22, "gain", "label", "end"),
        Circle(LEFT + 14, 18, 4, f"hollow {hue(0)}"),
        Text(LEFT + 23, 22, "first seen", "label"),
        Circle(LEFT + 104, 18, 4, f"solid {hue(0)}"),
        Text(LEFT + 113, 22, "evaluation", "label"),
    ]
    for place, arm in enumerate(arms):
        shapes += accuracy_row(place, arm, top + row * (place + 0.5), scale)
    return Drawing(WIDTH, floor + 48, title, shapes)


def extent(summary: SampleSummary) -> list[float]:
    if summary.interval:
        return [summary.interval.low, summary.interval.high]
    return [] if summary.mean is None else [summary.mean]


def accuracy_row(place: int, arm: ArmAccuracies, y: float, scale: Scale) -> list[Shape]:
    shapes: list[Shape] = [Text(12, y + 4, shortened(arm.name, 8), "name")]
    first, last = arm.first_seen.mean, arm.evaluation.mean
    if first is None or last is None:
        return shapes
    above, below = y - 10, y + 10
    shapes.append(Line(scale(first), above, scale(last), below, f"span {hue(place)}"))
    shapes += lying_interval(place, arm.first_seen, above, scale, "hollow", label_shift=-9)
    shapes += lying_interval(place, arm.evaluation, below, scale, "solid", label_shift=18)
    shapes.append(Text(WIDTH - RIGHT, y + 4, signed_points(last - first), "name", "end"))
    return shapes


def lying_interval(
    place: int, summary: SampleSummary, y: float, scale: Scale, style: str, label_shift: float
) -> list[Shape]:
    shapes: list[Shape] = []
    value = summary.mean or 0.0
    if summary.interval:
        low, high = scale(summary.interval.low), scale(summary.interval.high)
        shapes.append(Line(low, y, high, y, f"whisker {hue(place)}"))
    shapes.append(mark(place, scale(value), y, 4.5, style))
    shapes.append(Text(scale(value), y + label_shift, f"{100 * value:.1f}", "tick", "middle"))
    return shapes


def curve_plot(title: str, arms: Sequence[ArmCurves]) -> Drawing:
    """One panel for each arm: all answers as a line with its band, first-seen ones as marks with whiskers."""
    panel_height, gap, top = 132.0, 42.0, 36.0
    columns = min(2, max(1, len(arms)))
    rows = max(1, math.ceil(len(arms) / columns))
    last = max((step.step for arm in arms for step in arm.every), default=1)
    width = (WIDTH - LEFT - RIGHT - 18 * (columns - 1)) / columns
    floor = top + rows * (panel_height + gap)
    shapes: list[Shape] = [
        *curve_legend(),
        axis_title("right answers, %", top, floor - gap),
        Text((LEFT + WIDTH - RIGHT) / 2, floor + 10, "step", "label", "middle"),
    ]
    for place, arm in enumerate(arms):
        left = LEFT + (place % columns) * (width + 18)
        up = top + (place // columns) * (panel_height + gap) + 12
        across = Scale(1, max(2, last), left, left + width)
        upward = Scale(0, 1, up + panel_height - 12, up)
        shapes += curve_panel(place, arm, across, upward, has_values=place % columns == 0)
    return Drawing(WIDTH, floor + 20, title, shapes)


def curve_legend() -> list[Shape]:
    return [
        Line(LEFT, 14, LEFT + 22, 14, f"curve {hue(0)}"),
        Text(LEFT + 28, 18, "all images", "label"),
        Circle(LEFT + 118, 14, 2.6, f"hollow {hue(0)}"),
        Text(LEFT + 126, 18, "first seen, where images were repeated", "label"),
    ]


def curve_panel(
    place: int, arm: ArmCurves, across: Scale, upward: Scale, *, has_values: bool
) -> list[Shape]:
    shapes: list[Shape] = []
    for value in (0.0, 0.5, 1.0):
        style = "zero" if value == 0.5 else "grid"
        shapes.append(Line(across.start, upward(value), across.end, upward(value), style))
        if has_values:
            shapes.append(Text(LEFT - 6, upward(value) + 4, percent(value), "tick", "end"))
    for at in (at for at in ticks(1, across.high, 4) if 1 <= at <= across.high):
        shapes.append(Text(across(at), upward.start + 16, plain(at), "tick", "middle"))
    shapes += band_around(arm.every, across, upward, f"band {hue(place)}")
    shapes += line_through(arm.every, across, upward, f"curve {hue(place)}")
    for step in different_steps(arm):
        x = across(step.step)
        low, high = upward(step.interval.low), upward(step.interval.high)
        shapes.append(Line(x, low, x, high, f"hair {hue(place)}"))
        shapes.append(Circle(x, upward(step.share), 2.1, f"hollow thin {hue(place)}"))
    if not drawable(arm.every):
        text = f"fewer than {TOO_FEW} answers per step"
        shapes.append(Text((across.start + across.end) / 2, upward(0.6), text, "tick", "middle"))
    shapes.append(Text(across.start, upward.end - 5, shortened(arm.name), f"name {hue(place)}"))
    return shapes


def drawable(steps: Sequence[StepAccuracy]) -> list[StepAccuracy]:
    """A share of fewer answers jumps too wildly to be drawn; the CSV has them all."""
    return [step for step in steps if step.n >= TOO_FEW]


def different_steps(arm: ArmCurves) -> list[StepAccuracy]:
    """First-seen accuracy where some images were shown again; elsewhere it is the line itself."""
    every = {step.step: step.n for step in arm.every}
    return [step for step in drawable(arm.first_seen) if step.n != every.get(step.step)]


def line_through(
    steps: Sequence[StepAccuracy], across: Scale, upward: Scale, style: str
) -> list[Shape]:
    points = tuple((across(step.step), upward(step.share)) for step in drawable(steps))
    return [Path(points, style)] if len(points) > 1 else []


def band_around(
    steps: Sequence[StepAccuracy], across: Scale, upward: Scale, style: str
) -> list[Shape]:
    kept = drawable(steps)
    above = [(across(step.step), upward(step.interval.high)) for step in kept]
    below = [(across(step.step), upward(step.interval.low)) for step in reversed(kept)]
    return [Path((*above, *below), style, is_closed=True)] if len(kept) > 1 else []


def histogram(title: str, axis: str, counts: Sequence[tuple[float, int]]) -> Drawing:
    """Bars at equally wide classes, each with its count on top. `counts` holds (middle, how many)."""
    floor, height = 262.0, 316.0
    middles = [middle for middle, _ in counts] or [1.0]
    step = min((b - a for a, b in pairwise(middles)), default=1.0)
    across = Scale(middles[0] - step, middles[-1] + step, LEFT, WIDTH - RIGHT)
    marks = [
        mark for mark in ticks(0, max([count for _, count in counts] or [1])) if mark == int(mark)
    ]
    upward = Scale(0, marks[-1], floor, TOP + 14)
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


def scatter(title: str, x_axis: str, y_axis: str, arms: Sequence[ArmPoints]) -> Drawing:
    """Every participant; spans are often equal, so that marks are moved a little sideways."""
    top, floor, height = 36.0, 280.0, 330.0
    points = [point for arm in arms for point in arm.points]
    x_marks = ticks(
        min((x for x, _ in points), default=1.0), max((x for x, _ in points), default=9.0), 7
    )
    y_marks = ticks(min([0.0, *(y for _, y in points)]), max([0.1, *(y for _, y in points)]))
    across = Scale(x_marks[0] - 0.25, x_marks[-1] + 0.25, LEFT, WIDTH - RIGHT)
    upward = Scale(y_marks[0], y_marks[-1], floor, top)
    shapes: list[Shape] = [
        axis_title(y_axis, top, floor),
        Text((LEFT + WIDTH - RIGHT) / 2, floor + 38, x_axis, "label", "middle"),
        *value_axis(upward, y_marks, WIDTH - RIGHT, signed_tick),
        *(Text(across(x), floor + 18, plain(x), "tick", "middle") for x in x_marks),
        Line(LEFT, upward(0), WIDTH - RIGHT, upward(0), "zero"),
    ]
    column = (WIDTH - LEFT - RIGHT) / max(1, len(arms))
    size = dot_size(len(points) // 2)
    for place, arm in enumerate(arms):
        left = LEFT + column * place
        shapes += [
            mark(place, left + 6, 14, 4.5, "solid"),
            Text(left + 17, 18, shortened(arm.name, 9), "name"),
        ]
        for order, (x, y) in enumerate(sorted(arm.points)):
            shapes.append(mark(place, across(x + 0.3 * jitter(order)), upward(y), size, "dot"))
    return Drawing(WIDTH, height, title, shapes)


def confusion_plot(title: str, names: tuple[str, str], arms: Sequence[ArmConfusion]) -> Drawing:
    """For each arm, truth by answer: the shares within a true class, and the counts."""
    columns = min(2, max(1, len(arms)))
    rows = max(1, math.ceil(len(arms) / columns))
    panel_width, panel_height = (WIDTH - 8) / columns, 154.0
    shapes: list[Shape] = []
    for place, arm in enumerate(arms):
        left = 4 + (place % columns) * panel_width
        top = (place // columns) * panel_height
        shapes += confusion_panel(place, arm, names, left, top, panel_width)
    shapes.append(
        Text(
            WIDTH / 2,
            rows * panel_height + 16,
            "rows: true class; columns: answer",
            "tick",
            "middle",
        )
    )
    return Drawing(WIDTH, rows * panel_height + 26, title, shapes)


def confusion_panel(
    place: int, arm: ArmConfusion, names: tuple[str, str], left: float, top: float, width: float
) -> list[Shape]:
    label = 76.0
    cell_width, cell_height = (width - label - 14) / 2, 50.0
    shapes: list[Shape] = [Text(left, top + 16, shortened(arm.name), f"name {hue(place)}")]
    for answer, name in enumerate(names):
        middle = left + label + cell_width * (answer + 0.5)
        shapes.append(Text(middle, top + 34, shortened(name, 8), "tick", "middle"))
    for truth, name in enumerate(names):
        y = top + 42 + truth * cell_height
        shapes.append(Text(left + label - 6, y + 30, shortened(name, 8), "tick", "end"))
        total = sum(arm.counts[truth])
        for answer in (0, 1):
            count = arm.counts[truth][answer]
            share = count / total if total else 0.0
            x = left + label + answer * cell_width
            style = f"cell {hue(place)}"
            # Never so dark that the ink on it could not be read.
            shapes.append(Rect(x, y, cell_width, cell_height, style, strength=0.45 * share))
            if total:
                middle = x + cell_width / 2
                shapes.append(Text(middle, y + 23, f"{100 * share:.0f} %", "name", "middle"))
                shapes.append(Text(middle, y + 40, str(count), "tick", "middle"))
    return shapes


def times_plot(title: str, rows: Sequence[ArmTimes]) -> Drawing:
    """Lying boxes of response times; whiskers from the 5 % to the 95 % quantile."""
    left, top, line = 124.0, 14.0, 30.0
    floor = top + line * max(1, len(rows))
    longest = max((row.box.high for row in rows if row.box), default=1.0)
    marks = ticks(0, longest)
    scale = Scale(0, marks[-1], left, WIDTH - 44)
    shapes: list[Shape] = [
        *bottom_axis(scale, marks, top, floor, plain),
        Text((left + WIDTH - 44) / 2, floor + 36, "response time, s", "label", "middle"),
    ]
    order = list(dict.fromkeys(row.name for row in rows))
    for place, row in enumerate(rows):
        y = top + line * (place + 0.5)
        is_first = place == 0 or rows[place - 1].name != row.name
        if is_first:
            shapes.append(Text(8, y + 4, shortened(row.name, 7), "name"))
        shapes.append(Text(left - 8, y + 4, row.stage, "tick", "end"))
        if row.box:
            shapes += lying_box(row.box, y, scale, hue(order.index(row.name)))
    return Drawing(WIDTH, floor + 48, title, shapes)


def lying_box(numbers: Box, y: float, scale: Scale, colour: str) -> list[Shape]:
    first, third = scale(numbers.first), scale(numbers.third)
    return [
        Line(scale(numbers.low), y, first, y, f"whisker {colour}"),
        Line(third, y, scale(numbers.high), y, f"whisker {colour}"),
        Rect(first, y - 7, third - first, 14, f"box {colour}"),
        Line(scale(numbers.median), y - 7, scale(numbers.median), y + 7, f"median {colour}"),
        Text(scale(numbers.high) + 6, y + 4, f"{numbers.median:.2f}", "tick"),
    ]
