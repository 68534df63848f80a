"""Confusion matrices: for each arm, what was answered to the images of each class."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from analysis.charts import axes
from analysis.charts.axes import WIDTH
from analysis.charts.shapes import Drawing, Rect, Shape, Text

# From this many classes on, a panel has a row of the figure for itself and columns have numbers.
MANY = 4
LABEL = 76.0
HEAD = 42.0
# Below this width of a cell its letters are small, and small shares are left to the colour.
NARROW = 26.0
FEWEST_SHOWN = 0.05


@dataclass(frozen=True)
class ArmConfusion:
    """`counts[truth][answer]`, both in the order of the class names."""

    name: str
    counts: Sequence[Sequence[int]]


@dataclass(frozen=True)
class Panel:
    """Where the matrix of an arm stands, and how large its cells are."""

    left: float
    top: float
    label: float
    cell_width: float
    cell_height: float

    def x(self, answer: int) -> float:
        return self.left + self.label + answer * self.cell_width

    def y(self, truth: int) -> float:
        return self.top + HEAD + truth * self.cell_height


def confusion_plot(title: str, names: Sequence[str], arms: Sequence[ArmConfusion]) -> Drawing:
    """For each arm, truth by answer: the shares within a true class, and where there is room the counts."""
    classes = len(names)
    columns, rows = axes.grid(len(arms)) if classes < MANY else (1, max(1, len(arms)))
    width = (WIDTH - 8) / columns
    label = LABEL if classes < MANY else 1.6 * LABEL
    cell_width = (width - label - 14) / classes
    cell_height = 50.0 if classes < MANY else min(34.0, max(18.0, cell_width * 0.7))
    height = HEAD + classes * cell_height + 12
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
    return axes.shortened(names[answer], 8) if len(names) < MANY else str(answer + 1)


def row_name(names: Sequence[str], truth: int) -> str:
    if len(names) < MANY:
        return axes.shortened(names[truth], 8)
    return f"{axes.shortened(names[truth], 15)} {truth + 1}"


def confusion_row(place: int, counts: Sequence[int], truth: int, panel: Panel) -> Iterator[Shape]:
    total = sum(counts)
    for answer, count in enumerate(counts):
        share = count / total if total else 0.0
        x, y = panel.x(answer), panel.y(truth)
        style = f"cell {axes.hue(place)}"
        # Never so dark that the ink on it could not be read.
        yield Rect(x, y, panel.cell_width, panel.cell_height, style, strength=0.45 * share)
        if total:
            yield from cell_words(x + panel.cell_width / 2, y, share, count, panel)


def cell_words(middle: float, y: float, share: float, count: int, panel: Panel) -> Iterator[Shape]:
    if panel.cell_height >= 50:
        yield Text(middle, y + 23, f"{100 * share:.0f} %", "name", "middle")
        yield Text(middle, y + 40, str(count), "tick", "middle")
        return
    is_narrow = panel.cell_width < NARROW
    if not is_narrow or share >= FEWEST_SHOWN:
        style = "fine" if is_narrow else "tick"
        yield Text(middle, y + panel.cell_height / 2 + 4, f"{100 * share:.0f}", style, "middle")
