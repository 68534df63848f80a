"""Accuracies: first seen and in the evaluation, and by step of teaching."""

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.charts.axes import (
    LEFT,
    RIGHT,
    WIDTH,
    AxisScale,
    bottom_axis,
    extent,
    hue,
    mark,
    shortened,
    ticks,
)
from analysis.charts.shapes import Circle, Drawing, Line, Shape, Text
from analysis.charts.words import percent, signed_points
from analysis.stats import SampleSummary


@dataclass(frozen=True)
class ArmAccuracies:
    name: str
    first_seen: SampleSummary
    evaluation: SampleSummary


def accuracy_plot(title: str, arms: Sequence[ArmAccuracies]) -> Drawing:
    """First-seen accuracy, evaluation accuracy and the way between them, which is the gain."""
    row, top = 66.0, 34.0
    floor = top + row * max(1, len(arms))
    edges = [edge for arm in arms for s in (arm.first_seen, arm.evaluation) for edge in extent(s)]
    marks = ticks(min([0.4, *edges]), max([0.9, *edges]))
    scale = AxisScale(marks[0], marks[-1], LEFT + 8, WIDTH - 62)
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


def accuracy_row(place: int, arm: ArmAccuracies, y: float, scale: AxisScale) -> list[Shape]:
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
    place: int, summary: SampleSummary, y: float, scale: AxisScale, style: str, label_shift: float
) -> list[Shape]:
    shapes: list[Shape] = []
    value = summary.mean or 0.0
    if summary.interval:
        low, high = scale(summary.interval.low), scale(summary.interval.high)
        shapes.append(Line(low, y, high, y, f"whisker {hue(place)}"))
    shapes.append(mark(place, scale(value), y, 4.5, style))
    shapes.append(Text(scale(value), y + label_shift, f"{100 * value:.1f}", "tick", "middle"))
    return shapes
