"""Every participant in the plane, marked by arm."""

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.charts.axes import (
    LEFT,
    RIGHT,
    WIDTH,
    AxisScale,
    axis_title,
    dot_size,
    jitter,
    mark,
    shortened,
    ticks,
    value_axis,
)
from analysis.charts.shapes import Drawing, Line, Point, Shape, Text
from analysis.charts.words import plain, signed_tick


@dataclass(frozen=True)
class ArmPoints:
    name: str
    points: Sequence[Point]


def scatter(title: str, x_axis: str, y_axis: str, arms: Sequence[ArmPoints]) -> Drawing:
    """Every participant; spans are often equal, so that marks are moved a little sideways."""
    top, floor, height = 36.0, 280.0, 330.0
    points = [point for arm in arms for point in arm.points]
    x_marks = ticks(
        min((x for x, _ in points), default=1.0), max((x for x, _ in points), default=9.0), 7
    )
    y_marks = ticks(min([0.0, *(y for _, y in points)]), max([0.1, *(y for _, y in points)]))
    across = AxisScale(x_marks[0] - 0.25, x_marks[-1] + 0.25, LEFT, WIDTH - RIGHT)
    upward = AxisScale(y_marks[0], y_marks[-1], floor, top)
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
