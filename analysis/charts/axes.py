"""Sizes, scales and axes of all figures, and the mark and colour of each arm.

Every arm has a mark and a name besides its colour, so that no figure depends on seeing colours.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from analysis.stats import SampleSummary

from .shapes import Circle, Line, Path, Rect, Shape, Text

WIDTH = 440.0
LEFT, RIGHT, TOP = 52.0, 12.0, 14.0
DOT = 3.2
# With more marks than this, they shrink.
MAX_FULL_SIZE = 60
MAX_NAME = 14
ARM_COLOURS = 7
GOLDEN = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True)
class AxisScale:
    """Maps values to coordinates."""

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
    """A deterministic offset between −0.5 and 0.5: evenly spread, with neighbours far apart."""
    return (place * GOLDEN) % 1 - 0.5


def shortened(name: str, longest: int = MAX_NAME) -> str:
    return name if len(name) <= longest else name[: longest - 1].rstrip() + "…"


def hue(place: int) -> str:
    return f"arm-{place % ARM_COLOURS + 1}"


def mark(place: int, x: float, y: float, size: float, style: str) -> Shape:
    """The mark of an arm: circle, square, triangle or diamond, in turn."""
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


def dot_size(n: int) -> float:
    """Many marks are drawn smaller, so that they stay distinguishable."""
    return max(1.2, DOT * min(1.0, math.sqrt(MAX_FULL_SIZE / max(1, n))))


def legend_entry(place: int, name: str, count: int, left: float = LEFT) -> list[Shape]:
    """The mark and the name of one of `count` arms, above the figure."""
    x = left + (WIDTH - left - RIGHT) / count * place
    return [mark(place, x + 6, 14, 4.5, "solid"), Text(x + 17, 18, shortened(name, 9), "name")]


def grid(panels: int) -> tuple[int, int]:
    """The numbers of columns and rows of a figure with a panel for each arm."""
    columns = min(2, max(1, panels))
    return columns, max(1, math.ceil(panels / columns))


def value_axis(
    scale: AxisScale, values: Sequence[float], right: float, show: Callable[[float], str]
) -> Iterator[Shape]:
    """Horizontal lines with their values on the left."""
    for value in values:
        yield Line(LEFT, scale(value), right, scale(value), "grid")
    for value in values:
        yield Text(LEFT - 6, scale(value) + 4, show(value), "tick", "end")


def bottom_axis(
    scale: AxisScale,
    values: Sequence[float],
    top: float,
    floor: float,
    show: Callable[[float], str],
) -> Iterator[Shape]:
    """Vertical lines with their values below."""
    for value in values:
        yield Line(scale(value), top, scale(value), floor, "grid")
    for value in values:
        yield Text(scale(value), floor + 16, show(value), "tick", "middle")


def axis_title(text: str, top: float, floor: float) -> Text:
    return Text(13, (top + floor) / 2, text, "label", "middle", is_upright=True)


def extent(summary: SampleSummary) -> list[float]:
    if summary.interval:
        return [summary.interval.low, summary.interval.high]
    return [] if summary.mean is None else [summary.mean]
