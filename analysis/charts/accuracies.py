"""Accuracy by arm: first seen and in the evaluation, learning curves, confusion matrices, and calibration."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from analysis.stats import TOO_FEW, CalibrationBin, Interval, SampleSummary

from . import axes
from .axes import LEFT, RIGHT, WIDTH, AxisScale
from .formatting import percent, plain, signed_points
from .shapes import Circle, Drawing, Line, Path, Rect, Shape, Text

# From this many classes on, each confusion matrix has a row of the figure, and columns have numbers.
MANY_CLASSES = 4
LABEL_WIDTH = 76.0
HEAD_HEIGHT = 42.0
# In narrower cells, letters are small, and small shares are only shown by the colour.
NARROW = 26.0
MIN_SHARE_SHOWN = 0.05
# Room for half a tick label on either side.
CALIBRATION_GAP = 30.0
CALIBRATION_PANEL = 150.0
# Average width of the bold letters of a panel's name.
LETTER_WIDTH = 7.6
BINARY = ("answered +1", "predicted +1")


@dataclass(frozen=True)
class ArmAccuracies:
    name: str
    first_seen: SampleSummary
    evaluation: SampleSummary


def accuracy_plot(title: str, arms: Sequence[ArmAccuracies]) -> Drawing:
    """First-seen and evaluation accuracy of each arm, joined by a line whose length is the gain."""
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

    `chance` is the accuracy of guessing.
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
        shapes.append(Line(across.start, upward(chance), across.end, upward(chance), "zero"))
        shapes += curve_panel(place, arm, across, upward, has_values=place % columns == 0)
    return Drawing(WIDTH, floor + 20, title, shapes)


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
    """Steps with enough answers for a share; the CSV has all."""
    return [step for step in steps if step.n >= TOO_FEW]


def different_steps(arm: ArmCurves) -> list[StepAccuracy]:
    """The first-seen accuracy of steps in which some images were shown again; elsewhere it equals the line."""
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


@dataclass(frozen=True)
class ArmConfusion:
    """`counts[truth][answer]`, both in the order of the class names."""

    name: str
    counts: Sequence[Sequence[int]]


@dataclass(frozen=True)
class Panel:
    """The place of an arm's matrix and the size of its cells."""

    left: float
    top: float
    label: float
    cell_width: float
    cell_height: float

    def x(self, answer: int) -> float:
        return self.left + self.label + answer * self.cell_width

    def y(self, truth: int) -> float:
        return self.top + HEAD_HEIGHT + truth * self.cell_height


def confusion_plot(title: str, names: Sequence[str], arms: Sequence[ArmConfusion]) -> Drawing:
    """For each arm, true class by answer: shares within a true class and, where there is room, counts."""
    classes = len(names)
    columns, rows = axes.grid(len(arms)) if classes < MANY_CLASSES else (1, max(1, len(arms)))
    width = (WIDTH - 8) / columns
    label = LABEL_WIDTH if classes < MANY_CLASSES else 1.6 * LABEL_WIDTH
    cell_width = (width - label - 14) / classes
    cell_height = 50.0 if classes < MANY_CLASSES else min(34.0, max(18.0, cell_width * 0.7))
    height = HEAD_HEIGHT + classes * cell_height + 12
    shapes: list[Shape] = []
    for place, arm in enumerate(arms):
        left, top = 4 + (place % columns) * width, (place // columns) * height
        panel = Panel(left, top, label, cell_width, cell_height)
        shapes += confusion_panel(place, arm, names, panel)
    floor = rows * height
    shapes.append(
        Text(WIDTH / 2, floor + 16, "rows: true class; columns: answer", "tick", "middle")
    )
    return Drawing(WIDTH, floor + 26, title, shapes)


def confusion_panel(
    place: int, arm: ArmConfusion, names: Sequence[str], panel: Panel
) -> Iterator[Shape]:
    name = f"name {axes.hue(place)}"
    yield Text(panel.left, panel.top + 16, axes.shortened(arm.name), name)
    for answer in range(len(names)):
        middle = panel.x(answer) + panel.cell_width / 2
        yield Text(middle, panel.top + 34, column_name(names, answer), "tick", "middle")
    for truth in range(len(names)):
        y = panel.y(truth) + panel.cell_height / 2 + 5
        yield Text(panel.x(0) - 6, y, row_name(names, truth), "tick", "end")
        yield from confusion_row(place, arm.counts[truth], truth, panel)


def column_name(names: Sequence[str], answer: int) -> str:
    return axes.shortened(names[answer], 8) if len(names) < MANY_CLASSES else str(answer + 1)


def row_name(names: Sequence[str], truth: int) -> str:
    if len(names) < MANY_CLASSES:
        return axes.shortened(names[truth], 8)
    return f"{axes.shortened(names[truth], 15)} {truth + 1}"


def confusion_row(place: int, counts: Sequence[int], truth: int, panel: Panel) -> Iterator[Shape]:
    total = sum(counts)
    for answer, count in enumerate(counts):
        share = count / total if total else 0.0
        x, y = panel.x(answer), panel.y(truth)
        style = f"cell {axes.hue(place)}"
        # Light enough for dark text on it.
        yield Rect(x, y, panel.cell_width, panel.cell_height, style, strength=0.45 * share)
        if total:
            yield from cell_words(x + panel.cell_width / 2, y, share, count, panel)


def cell_words(middle: float, y: float, share: float, count: int, panel: Panel) -> Iterator[Shape]:
    if panel.cell_height >= 50:
        yield Text(middle, y + 23, f"{100 * share:.0f} %", "name", "middle")
        yield Text(middle, y + 40, str(count), "tick", "middle")
        return
    is_narrow = panel.cell_width < NARROW
    if not is_narrow or share >= MIN_SHARE_SHOWN:
        style = "fine" if is_narrow else "tick"
        yield Text(middle, y + panel.cell_height / 2 + 4, f"{100 * share:.0f}", style, "middle")


@dataclass(frozen=True)
class ArmBins:
    name: str
    bins: Sequence[CalibrationBin]


def calibration_plot(
    title: str, arms: Sequence[ArmBins], what: tuple[str, str] = BINARY
) -> Drawing:
    """One panel for each arm: observed against predicted shares, with intervals. `what` names both."""
    observed, predicted = what
    columns, rows = axes.grid(len(arms))
    width = (WIDTH - LEFT - RIGHT - CALIBRATION_GAP * (columns - 1)) / columns
    floor = 8 + rows * (CALIBRATION_PANEL + 44)
    shapes: list[Shape] = [
        axes.axis_title(f"{observed}, %", 8, floor - 30),
        Text((LEFT + WIDTH - RIGHT) / 2, floor + 8, f"{predicted}, %", "label", "middle"),
    ]
    for place, arm in enumerate(arms):
        left = LEFT + (place % columns) * (width + CALIBRATION_GAP)
        top = 24 + (place // columns) * (CALIBRATION_PANEL + 44)
        across, upward = (
            AxisScale(0, 1, left, left + width),
            AxisScale(0, 1, top + CALIBRATION_PANEL - 8, top),
        )
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
