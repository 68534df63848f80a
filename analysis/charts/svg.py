"""A drawing as SVG: inside a page with classes alone, or as a file that needs no style sheet."""

from collections.abc import Callable
from itertools import groupby
from xml.sax.saxutils import escape, quoteattr

from .shapes import Circle, Drawing, Line, Path, Rect, Shape, Text
from .styles import attributes

FONT = "Helvetica, Arial, sans-serif"
VIEW = 'viewBox="0 0 {width} {height}"'
FILE = f'xmlns="http://www.w3.org/2000/svg" width="{{width}}" height="{{height}}" font-family="{FONT}" {VIEW}'


def svg(drawing: Drawing) -> str:
    """For a page: classes, and no colour but those that belong to what is drawn."""
    return element(drawing, classes, f'class="plot" {VIEW}')


def svg_file(drawing: Drawing) -> str:
    """For a paper: a file that needs no style sheet."""
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + element(drawing, presentation, FILE)


def classes(style: str) -> str:
    words = style.split()
    names = " ".join(word for word in words if not word.startswith("#"))
    colour = next((f" fill={quoteattr(word)}" for word in words if word.startswith("#")), "")
    return f"class={quoteattr(names)}{colour}"


def presentation(style: str) -> str:
    return " ".join(f"{key}={quoteattr(value)}" for key, value in attributes(style).items())


def element(drawing: Drawing, styled: Callable[[str], str], head: str) -> str:
    size = head.format(width=number(drawing.width), height=number(drawing.height))
    groups = groupby(drawing.shapes, key=lambda shape: shape.style)
    body = "\n".join(
        f"<g {styled(style)}>{''.join(shape_element(shape) for shape in shapes)}</g>"
        for style, shapes in groups
    )
    title = escape(drawing.title)
    label = quoteattr(drawing.title)
    return f'<svg {size} role="img" aria-label={label}>\n<title>{title}</title>\n{body}\n</svg>\n'


def shape_element(shape: Shape) -> str:
    match shape:
        case Line():
            return f"<line {numbers(x1=shape.x1, y1=shape.y1, x2=shape.x2, y2=shape.y2)}/>"
        case Rect():
            sides = numbers(x=shape.x, y=shape.y, width=shape.width, height=shape.height)
            return f"<rect {sides}{opacity(shape.strength)}/>"
        case Circle():
            place = numbers(cx=shape.x, cy=shape.y, r=shape.radius)
            return f"<circle {place}{opacity(shape.strength)}/>"
        case Path():
            points = " ".join(f"{number(x)},{number(y)}" for x, y in shape.points)
            return f'<{"polygon" if shape.is_closed else "polyline"} points="{points}"/>'
        case Text():
            return text_element(shape)


def opacity(strength: float | None) -> str:
    return "" if strength is None else f' fill-opacity="{strength:.2f}"'


def text_element(text: Text) -> str:
    x, y = number(text.x), number(text.y)
    anchor = "" if text.anchor == "start" else f' text-anchor="{text.anchor}"'
    turn = f' transform="rotate(-90 {x} {y})"' if text.is_upright else ""
    return f'<text x="{x}" y="{y}"{anchor}{turn}>{escape(text.text)}</text>'


def numbers(**places: float) -> str:
    return " ".join(f'{name}="{number(value)}"' for name, value in places.items())


def number(value: float) -> str:
    """Tenths of a pixel, without idle zeros and without a negative nought."""
    return f"{round(value, 1) + 0:.1f}".removesuffix(".0")
