"""Right answers by arm: accuracies first seen and in the evaluation, and learning curves."""

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.charts import axes
from analysis.charts.axes import LEFT, RIGHT, WIDTH, AxisScale
from analysis.charts.shapes import Circle, Drawing, Line, Path, Shape, Text
from analysis.charts.words import percent, plain, signed_points
from analysis.stats import TOO_FEW, Interval, SampleSummary


@dataclass(frozen=True)
class ArmAccuracies:
    name: str
    first_seen: SampleSummary
    evaluation: SampleSummary


def accuracy_plot(title: str, arms: Sequence[ArmAccuracies]) -> Drawing:
    """First-seen accuracy, evaluation accuracy and the way between them, which is the gain."""
    row, top = 66.0, 34.0
    floor = top + row * max(1, len(arms))
    edges = [
        edge for arm in arms for s in (arm.first_seen, arm.evaluation) for edge in axes.extent(s)
    ]
    marks = axes.ticks(min([0.4, *edges]), max([0.9, *edges]))
    scale = AxisScale(marks[0], marks[-1], LEFT + 8, WIDTH - 62)
    shapes: list[Shape] = [
        *axes.bottom_axis(scale, marks, top, floor, percent),
        Text((scale.start + scale.end) / 2, floor + 36, "accuracy, %", "label", "middle"),
        Text(WIDTH - RIGHT, 22, "gain", "label", "end"),
        Circle(LEFT + 14, 18, 4, f"hollow {axes.hue(0)}"),
        Text(LEFT + 23, 22, "first seen", "label"),
        Circle(LEFT + 104, 18, 4, f"solid {axes.hue(0)}"),
        Text(LEFT + 113, 22, "evaluation", "label"),
    ]
    for place, arm in enumerate(arms):
        shapes += accuracy_row(place, arm, top + row * (place + 0.5), scale)
    return Drawing(WIDTH, floor + 48, title, shapes)


def accuracy_row(place: int, arm: ArmAccuracies, y: float, scale: AxisScale) -> list[Shape]:
    shapes: list[Shape] = [Text(12, y + 4, axes.shortened(arm.name, 8), "name")]
    first, last = arm.first_seen.mean, arm.evaluation.mean
    if first is None or last is None:
        return shapes
    above, below = y - 10, y + 10
    shapes.append(Line(scale(first), above, scale(last), below, f"span {axes.hue(place)}"))
    shapes += lying_interval(place, arm.first_seen, above, scale, "hollow", label_shift=-9)
    shapes += lying_interval(place, arm.evaluation, below, scale, "solid", label_shift=18)
    shapes.append(Text(WIDTH - RIGHT, y + 4, signed_points(last - first), "name", "end"))
    return shapes


def lying_interval(
    place: int, summary: SampleSummary, y: float, scale: AxisScale, style: str, label_shift: float
) -> list[Shape]:
    shapes: list[Shape] = []
    value = summary.mean or 0.0
    if summary.interval:
        low, high = scale(summary.interval.low), scale(summary.interval.high)
        shapes.append(Line(low, y, high, y, f"whisker {axes.hue(place)}"))
    shapes.append(axes.mark(place, scale(value), y, 4.5, style))
    shapes.append(Text(scale(value), y + label_shift, f"{100 * value:.1f}", "tick", "middle"))
    return shapes


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


def curve_plot(title: str, arms: Sequence[ArmCurves], *, chance: float) -> Drawing:
    """One panel for each arm: all answers as a line with its band, first-seen ones as marks with whiskers.

    `chance` is the share of right answers of somebody who guesses.
    """
    panel_height, gap, top = 132.0, 42.0, 36.0
    columns, rows = axes.grid(len(arms))
    last = max((step.step for arm in arms for step in arm.every), default=1)
    width = (WIDTH - LEFT - RIGHT - 18 * (columns - 1)) / columns
    floor = top + rows * (panel_height + gap)
    shapes: list[Shape] = [
        *curve_legend(),
        axes.axis_title("right answers, %", top, floor - gap),
        Text((LEFT + WIDTH - RIGHT) / 2, floor + 10, "step", "label", "middle"),
    ]
    for place, arm in enumerate(arms):
        left = LEFT + (place % columns) * (width + 18)
        up = top + (place // columns) * (panel_height + gap) + 12
        across = AxisScale(1, max(2, last), left, left + width)
        upward = AxisScale(0, 1, up + panel_height - 12, up)
        shapes += guessing(chance, across, upward)
        shapes += curve_panel(place, arm, across, upward, has_values=place % columns == 0)
    return Drawing(WIDTH, floor + 20, title, shapes)


def guessing(chance: float, across: AxisScale, upward: AxisScale) -> list[Shape]:
    return [Line(across.start, upward(chance), across.end, upward(chance), "zero")]


def curve_legend() -> list[Shape]:
    return [
        Line(LEFT, 14, LEFT + 22, 14, f"curve {axes.hue(0)}"),
        Text(LEFT + 28, 18, "all images", "label"),
        Circle(LEFT + 118, 14, 2.6, f"hollow {axes.hue(0)}"),
        Text(LEFT + 126, 18, "first seen, where images were repeated", "label"),
    ]


def curve_panel(
    place: int, arm: ArmCurves, across: AxisScale, upward: AxisScale, *, has_values: bool
) -> list[Shape]:
    shapes: list[Shape] = []
    for value in (0.0, 0.5, 1.0):
        shapes.append(Line(across.start, upward(value), across.end, upward(value), "grid"))
        if has_values:
            shapes.append(Text(LEFT - 6, upward(value) + 4, percent(value), "tick", "end"))
    for at in (at for at in axes.ticks(1, across.high, 4) if 1 <= at <= across.high):
        shapes.append(Text(across(at), upward.start + 16, plain(at), "tick", "middle"))
    shapes += band_around(arm.every, across, upward, f"band {axes.hue(place)}")
    shapes += line_through(arm.every, across, upward, f"curve {axes.hue(place)}")
    for step in different_steps(arm):
        x = across(step.step)
        low, high = upward(step.interval.low), upward(step.interval.high)
        shapes.append(Line(x, low, x, high, f"hair {axes.hue(place)}"))
        shapes.append(Circle(x, upward(step.share), 2.1, f"hollow thin {axes.hue(place)}"))
    if not drawable(arm.every):
        text = f"fewer than {TOO_FEW} answers per step"
        shapes.append(Text((across.start + across.end) / 2, upward(0.6), text, "tick", "middle"))
    shapes.append(
        Text(across.start, upward.end - 5, axes.shortened(arm.name), f"name {axes.hue(place)}")
    )
    return shapes


def drawable(steps: Sequence[StepAccuracy]) -> list[StepAccuracy]:
    """A share of fewer answers jumps too wildly to be drawn; the CSV has them all."""
    return [step for step in steps if step.n >= TOO_FEW]


def different_steps(arm: ArmCurves) -> list[StepAccuracy]:
    """First-seen accuracy where some images were shown again; elsewhere it is the line itself."""
    every = {step.step: step.n for step in arm.every}
    return [step for step in drawable(arm.first_seen) if step.n != every.get(step.step)]


def line_through(
    steps: Sequence[StepAccuracy], across: AxisScale, upward: AxisScale, style: str
) -> list[Shape]:
    points = tuple((across(step.step), upward(step.share)) for step in drawable(steps))
    return [Path(points, style)] if len(points) > 1 else []


def band_around(
    steps: Sequence[StepAccuracy], across: AxisScale, upward: AxisScale, style: str
) -> list[Shape]:
    kept = drawable(steps)
    above = [(across(step.step), upward(step.interval.high)) for step in kept]
    below = [(across(step.step), upward(step.interval.low)) for step in reversed(kept)]
    return [Path((*above, *below), style, is_closed=True)] if len(kept) > 1 else []
