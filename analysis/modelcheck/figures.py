"""The figures of the model check."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.charts import axes
from analysis.charts.axes import LEFT, RIGHT, WIDTH, AxisScale
from analysis.charts.shapes import Drawing, Line, Path, Shape, Text
from analysis.charts.words import percent, plain
from teaching.decay import Fit

from .beliefs import Bin

# Room for half of a number on either side.
GAP = 30.0
PANEL = 150.0
# Of the bold letters of a panel's name, on average.
LETTER_WIDTH = 7.6
BINARY = ("answered +1", "predicted +1")


@dataclass(frozen=True)
class ArmBins:
    name: str
    bins: Sequence[Bin]


@dataclass(frozen=True)
class ArmFits:
    """The β that the teacher assumed beside the fitted one, worker by worker."""

    name: str
    fits: Sequence[tuple[float, Fit]]


def calibration_plot(
    title: str, arms: Sequence[ArmBins], what: tuple[str, str] = BINARY
) -> Drawing:
    """One panel for each arm: an observed share against the predicted one, with its interval. `what` names both."""
    observed, predicted = what
    columns, rows = axes.grid(len(arms))
    width = (WIDTH - LEFT - RIGHT - GAP * (columns - 1)) / columns
    floor = 8 + rows * (PANEL + 44)
    shapes: list[Shape] = [
        axes.axis_title(f"{observed}, %", 8, floor - 30),
        Text((LEFT + WIDTH - RIGHT) / 2, floor + 8, f"{predicted}, %", "label", "middle"),
    ]
    for place, arm in enumerate(arms):
        left = LEFT + (place % columns) * (width + GAP)
        top = 24 + (place // columns) * (PANEL + 44)
        across, upward = AxisScale(0, 1, left, left + width), AxisScale(0, 1, top + PANEL - 8, top)
        shapes += calibration_panel(place, arm, across, upward, has_values=place % columns == 0)
    return Drawing(WIDTH, floor + 18, title, shapes)


def calibration_panel(
    place: int, arm: ArmBins, across: AxisScale, upward: AxisScale, *, has_values: bool
) -> list[Shape]:
    shapes: list[Shape] = []
    for value in (0.0, 0.5, 1.0):
        shapes.append(Line(across.start, upward(value), across.end, upward(value), "grid"))
        shapes.append(Text(across(value), upward.start + 16, percent(value), "tick", "middle"))
        if has_values:
            shapes.append(Text(LEFT - 6, upward(value) + 4, percent(value), "tick", "end"))
    shapes.append(Line(across(0), upward(0), across(1), upward(1), "zero"))
    for one in arm.bins:
        x = across(one.predicted)
        low, high = upward(one.interval.low), upward(one.interval.high)
        shapes.append(Line(x, low, x, high, f"span {axes.hue(place)}"))
        shapes.append(axes.mark(place, x, upward(one.observed), 3.6, "solid"))
    points = tuple((across(one.predicted), upward(one.observed)) for one in arm.bins)
    if len(points) > 1:
        shapes.append(Path(points, f"curve {axes.hue(place)}"))
    name = axes.shortened(arm.name, int((across.end - across.start) / LETTER_WIDTH))
    shapes.append(Text(across.start, upward.end - 9, name, f"name {axes.hue(place)}"))
    return shapes


def decay_plot(title: str, arms: Sequence[ArmFits]) -> Drawing:
    """Every worker: the β that was assumed across, β of the teaching answers upward with its interval."""
    top, floor = 36.0, 290.0
    across, upward = AxisScale(0, 1, LEFT, WIDTH - RIGHT), AxisScale(0, 1, floor, top)
    shapes: list[Shape] = [
        axes.axis_title("β from the teaching answers", top, floor),
        Text(
            (LEFT + WIDTH - RIGHT) / 2, floor + 38, "β that the teacher assumed", "label", "middle"
        ),
    ]
    for value in (0.0, 0.25, 0.5, 0.75, 1.0):
        shapes.append(Line(LEFT, upward(value), WIDTH - RIGHT, upward(value), "grid"))
        shapes.append(Text(LEFT - 6, upward(value) + 4, plain(value), "tick", "end"))
        shapes.append(Text(across(value), floor + 18, plain(value), "tick", "middle"))
    shapes.append(Line(across(0), upward(0), across(1), upward(1), "zero"))
    column = (WIDTH - LEFT - RIGHT) / max(1, len(arms))
    for place, arm in enumerate(arms):
        left = LEFT + column * place
        shapes.append(axes.mark(place, left + 6, 14, 4.5, "solid"))
        shapes.append(Text(left + 17, 18, axes.shortened(arm.name, 9), "name"))
        for measured, fit in arm.fits:
            x = across(measured)
            low, high = upward(fit.low), upward(fit.high)
            shapes.append(Line(x, low, x, high, f"hair {axes.hue(place)}"))
            shapes.append(axes.mark(place, x, upward(fit.beta), 3.2, "dot"))
    return Drawing(WIDTH, floor + 48, title, shapes)
