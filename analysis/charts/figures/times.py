"""Response times by arm and stage."""

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.charts.axes import WIDTH, AxisScale, bottom_axis, hue, shortened, ticks
from analysis.charts.shapes import Drawing, Line, Rect, Shape, Text
from analysis.charts.words import plain
from analysis.stats import Box


@dataclass(frozen=True)
class ArmTimes:
    """Quantiles of response times in seconds; the whiskers are the 5 % and 95 % quantiles."""

    name: str
    stage: str
    box: Box | None


def times_plot(title: str, rows: Sequence[ArmTimes]) -> Drawing:
    """Lying boxes of response times; whiskers from the 5 % to the 95 % quantile."""
    left, top, line = 124.0, 14.0, 30.0
    floor = top + line * max(1, len(rows))
    longest = max((row.box.high for row in rows if row.box), default=1.0)
    marks = ticks(0, longest)
    scale = AxisScale(0, marks[-1], left, WIDTH - 44)
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


def lying_box(numbers: Box, y: float, scale: AxisScale, colour: str) -> list[Shape]:
    first, third = scale(numbers.first), scale(numbers.third)
    return [
        Line(scale(numbers.low), y, first, y, f"whisker {colour}"),
        Line(third, y, scale(numbers.high), y, f"whisker {colour}"),
        Rect(first, y - 7, third - first, 14, f"box {colour}"),
        Line(scale(numbers.median), y - 7, scale(numbers.median), y + 7, f"median {colour}"),
        Text(scale(numbers.high) + 6, y + 4, f"{numbers.median:.2f}", "tick"),
    ]
