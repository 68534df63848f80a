"""The simple shapes that a drawing is made of. A shape names its style; `styles` says how that looks.

On a page a style may have a colour among its words, as #rrggbb, where the colour belongs to what is drawn.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

Point = tuple[float, float]


@dataclass(frozen=True)
class Line:
    x1: float
    y1: float
    x2: float
    y2: float
    style: str


@dataclass(frozen=True)
class Rect:
    """`strength` is the opacity of the fill, where it carries a number."""

    x: float
    y: float
    width: float
    height: float
    style: str
    strength: float | None = None


@dataclass(frozen=True)
class Circle:
    """`strength` is the opacity of the fill, where it carries a number."""

    x: float
    y: float
    radius: float
    style: str
    strength: float | None = None


@dataclass(frozen=True)
class Path:
    """Straight lines through points; closed, it is an area."""

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
