"""Learning curves: right answers by step of teaching, a panel for each arm."""

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.charts.axes import (
    LEFT,
    RIGHT,
    WIDTH,
    AxisScale,
    axis_title,
    grid,
    hue,
    shortened,
    ticks,
)
from analysis.charts.shapes import Circle, Drawing, Line, Path, Shape, Text
from analysis.charts.words import percent, plain
from analysis.stats import TOO_FEW, Interval


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


def curve_plot(title: str, arms: Sequence[ArmCurves]) -> Drawing:
    """One panel for each arm: all answers as a line with its band, first-seen ones as marks with whiskers."""
    panel_height, gap, top = 132.0, 42.0, 36.0
    columns, rows = grid(len(arms))
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
        across = AxisScale(1, max(2, last), left, left + width)
        upward = AxisScale(0, 1, up + panel_height - 12, up)
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
    place: int, arm: ArmCurves, across: AxisScale, upward: AxisScale, *, has_values: bool
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
