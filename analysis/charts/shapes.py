"""Simple shapes, and the three forms a drawing takes: SVG in a page, SVG as a file, PDF.

In a page a shape carries classes alone, and the style sheet gives day and night their colours. A file carries
presentation attributes, by day, so that it stands alone.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from xml.sax.saxutils import escape, quoteattr

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
    x: float
    y: float
    radius: float
    style: str


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


# Chosen to differ in lightness too; a shape and a label always say the same as the colour.
HUES = {
    "arm-1": "#1d5f51",
    "arm-2": "#b5541c",
    "arm-3": "#3a63b8",
    "arm-4": "#8b4a8f",
    "arm-5": "#7a6a12",
    "arm-6": "#555b60",
}
INK, SOFT_INK, FAINT, PAPER = "#22261f", "#585d50", "#ddd6c5", "#ffffff"
FONT = "Helvetica, Arial, sans-serif"
DEFAULT_HUE = HUES["arm-1"]

# "hue" stands for the colour of the arm that the shape also names.
STYLES: dict[str, dict[str, str]] = {
    "grid": {"stroke": FAINT, "stroke-width": "1"},
    "zero": {"stroke": SOFT_INK, "stroke-width": "1", "stroke-dasharray": "3 3"},
    "box": {"fill": "hue", "fill-opacity": "0.14", "stroke": "hue", "stroke-width": "1.2"},
    "median": {"stroke": "hue", "stroke-width": "2.4"},
    "whisker": {"stroke": "hue", "stroke-width": "1.2"},
    "dot": {"fill": "hue", "fill-opacity": "0.55"},
    "hollow": {"fill": PAPER, "stroke": "hue", "stroke-width": "1.8"},
    "solid": {"fill": "hue", "stroke": "hue", "stroke-width": "1.8"},
    "mean": {"fill": INK, "stroke": PAPER, "stroke-width": "1"},
    "interval": {"stroke": INK, "stroke-width": "1.8"},
    "hair": {"stroke": "hue", "stroke-width": "1", "stroke-opacity": "0.4"},
    "thin": {"stroke-width": "1.2"},
    "span": {"stroke": "hue", "stroke-width": "1.4"},
    "curve": {"fill": "none", "stroke": "hue", "stroke-width": "2"},
    "band": {"fill": "hue", "fill-opacity": "0.16"},
    "bar": {"fill": "hue", "fill-opacity": "0.75"},
    "cell": {"fill": "hue", "stroke": FAINT, "stroke-width": "1"},
    "tick": {"fill": SOFT_INK, "font-size": "12", "font-family": FONT},
    "label": {"fill": INK, "font-size": "13", "font-family": FONT},
    "name": {"fill": INK, "font-size": "13", "font-weight": "bold", "font-family": FONT},
}
VIEW = 'viewBox="0 0 {width} {height}"'


def attributes(style: str) -> dict[str, str]:
    """The presentation attributes of a shape's classes, with the arm's colour filled in."""
    names = style.split()
    hue = next((HUES[name] for name in names if name in HUES), DEFAULT_HUE)
    merged: dict[str, str] = {}
    for name in names:
        merged |= STYLES.get(name, {})
    return {key: hue if value == "hue" else value for key, value in merged.items()}


def number(value: float) -> str:
    """Tenths of a pixel, without idle zeros and without a negative nought."""
    return f"{round(value, 1) + 0:.1f}".removesuffix(".0")


def svg(drawing: Drawing) -> str:
    """For a page: classes, and no colour of its own."""
    return _svg(drawing, lambda style: f"class={quoteattr(style)}", f'class="plot" {VIEW}')


def svg_file(drawing: Drawing) -> str:
    """For a paper: a file that needs no style sheet."""

    def presentation(style: str) -> str:
        return " ".join(f"{key}={quoteattr(value)}" for key, value in attributes(style).items())

    size = f'xmlns="http://www.w3.org/2000/svg" width="{{width}}" height="{{height}}" {VIEW}'
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + _svg(drawing, presentation, size)


def _svg(drawing: Drawing, clothes: Callable[[str], str], head: str) -> str:
    size = head.format(width=number(drawing.width), height=number(drawing.height))
    groups = groupby(drawing.shapes, key=lambda shape: shape.style)
    body = "\n".join(
        f"<g {clothes(style)}>{''.join(_element(shape) for shape in shapes)}</g>"
        for style, shapes in groups
    )
    title = escape(drawing.title)
    label = quoteattr(drawing.title)
    return f'<svg {size} role="img" aria-label={label}>\n<title>{title}</title>\n{body}\n</svg>\n'


def _element(shape: Shape) -> str:
    match shape:
        case Line():
            ends = zip(
                ("x1", "y1", "x2", "y2"), (shape.x1, shape.y1, shape.x2, shape.y2), strict=True
            )
            return f"<line {_numbers(ends)}/>"
        case Rect():
            sides = (
                ("x", shape.x), ("y", shape.y), ("width", shape.width), ("height", shape.height),
            )  # fmt: skip
            strength = "" if shape.strength is None else f' fill-opacity="{shape.strength:.2f}"'
            return f"<rect {_numbers(sides)}{strength}/>"
        case Circle():
            return f"<circle {_numbers((('cx', shape.x), ('cy', shape.y), ('r', shape.radius)))}/>"
        case Path():
            points = " ".join(f"{number(x)},{number(y)}" for x, y in shape.points)
            return f'<{"polygon" if shape.is_closed else "polyline"} points="{points}"/>'
        case Text():
            return _text_element(shape)


def _text_element(text: Text) -> str:
    x, y = number(text.x), number(text.y)
    anchor = "" if text.anchor == "start" else f' text-anchor="{text.anchor}"'
    turn = f' transform="rotate(-90 {x} {y})"' if text.is_upright else ""
    return f'<text x="{x}" y="{y}"{anchor}{turn}>{escape(text.text)}</text>'


def _numbers(pairs: Iterable[tuple[str, float]]) -> str:
    return " ".join(f'{name}="{number(value)}"' for name, value in pairs)
