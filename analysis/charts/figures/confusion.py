"""Confusion matrices, one for each arm."""

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.charts.axes import WIDTH, grid, hue, shortened
from analysis.charts.shapes import Drawing, Rect, Shape, Text


@dataclass(frozen=True)
class ArmConfusion:
    """`counts[truth][answer]`, both in the order of the class names."""

    name: str
    counts: tuple[tuple[int, int], tuple[int, int]]


def confusion_plot(title: str, names: tuple[str, str], arms: Sequence[ArmConfusion]) -> Drawing:
    """For each arm, truth by answer: the shares within a true class, and the counts."""
    columns, rows = grid(len(arms))
    panel_width, panel_height = (WIDTH - 8) / columns, 154.0
    shapes: list[Shape] = []
    for place, arm in enumerate(arms):
        left = 4 + (place % columns) * panel_width
        top = (place // columns) * panel_height
        shapes += confusion_panel(place, arm, names, left, top, panel_width)
    floor = rows * panel_height
    shapes.append(
        Text(WIDTH / 2, floor + 16, "rows: true class; columns: answer", "tick", "middle")
    )
    return Drawing(WIDTH, floor + 26, title, shapes)


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
