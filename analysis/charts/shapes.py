"""The shapes of a drawing. A shape names its style, which static/css/charts.css defines.

On a page, a style may also contain a colour (#rrggbb) that is part of the data.
"""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

Point = tuple[float, float]
# Of a caption.
MARGIN = 8.0
LINE_HEIGHT = 15.0
# Average width of small letters. Too large a value only makes lines a little short.
LETTER_WIDTH = 6.2


@dataclass(frozen=True)
class Line:
    x1: float
    y1: float
    x2: float
    y2: float
    style: str


@dataclass(frozen=True)
class Rect:
    """`strength` is the opacity of the fill if it shows a number."""

    x: float
    y: float
    width: float
    height: float
    style: str
    strength: float | None = None


@dataclass(frozen=True)
class Circle:
    """`strength` is the opacity of the fill if it shows a number."""

    x: float
    y: float
    radius: float
    style: str
    strength: float | None = None


@dataclass(frozen=True)
class Path:
    """Straight lines through points, or an area if closed."""

    points: tuple[Point, ...]
    style: str
    is_closed: bool = False


@dataclass(frozen=True)
class Text:
    x: float
    y: float
    text: str
    style: str
    anchor: str = "start"
    is_upright: bool = False


Shape = Line | Rect | Circle | Path | Text


@dataclass(frozen=True)
class Drawing:
    width: float
    height: float
    title: str
    shapes: Sequence[Shape] = field(default_factory=tuple)


def with_caption(drawing: Drawing, caption: str) -> Drawing:
    """The drawing with a wrapped caption below it."""
    lines = textwrap.wrap(caption, int((drawing.width - 2 * MARGIN) / LETTER_WIDTH))
    texts = [
        Text(MARGIN, drawing.height + LINE_HEIGHT * (place + 1), line, "tick")
        for place, line in enumerate(lines)
    ]
    height = drawing.height + LINE_HEIGHT * (len(lines) + 1)
    return replace(drawing, height=height, shapes=(*drawing.shapes, *texts))


def with_watermark(drawing: Drawing, words: str) -> Drawing:
    """The drawing with large pale words across its middle, where cropping cannot remove them, and in its title."""
    middle = Text(drawing.width / 2, drawing.height / 2, words, "watermark", "middle")
    title = f"{drawing.title} ({words})"
    return replace(drawing, title=title, shapes=(*drawing.shapes, middle))
