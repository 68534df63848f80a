"""Drawings as SVG.

On a page, shapes have only classes, and the style sheets give them their colours in the light and the dark theme. A
file needs no style sheet: its shapes have presentation attributes, which are read from the same sheets.
"""

import re
from collections.abc import Callable
from functools import cache
from itertools import groupby
from pathlib import Path as FilePath
from xml.sax.saxutils import escape, quoteattr

from .shapes import Circle, Drawing, Line, Path, Rect, Shape, Text

SHEETS = FilePath(__file__).resolve().parents[2] / "static" / "css"
TOKENS, CHARTS = SHEETS / "tokens.css", SHEETS / "charts.css"
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
VARIABLE = re.compile(r"var\((--[\w-]+)\)")

Declarations = dict[str, str]

FONT = "Helvetica, Arial, sans-serif"
VIEW = 'viewBox="0 0 {width} {height}"'
FILE = f'xmlns="http://www.w3.org/2000/svg" width="{{width}}" height="{{height}}" font-family="{FONT}" {VIEW}'


def svg(drawing: Drawing) -> str:
    """For a page: classes, and only the colours that are part of the data."""
    return element(drawing, classes, f'class="plot" {VIEW}')


def svg_file(drawing: Drawing) -> str:
    """For a publication: a file that needs no style sheet."""
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
    """Tenths of a pixel, without trailing zeros and without −0."""
    return f"{round(value, 1) + 0:.1f}".removesuffix(".0")


def rules(sheet: FilePath) -> dict[str, Declarations]:
    """The first declarations of each selector: those of the light theme, because media queries come last."""
    text = COMMENT.sub("", sheet.read_text(encoding="utf-8"))
    by_selector: dict[str, Declarations] = {}
    for selector, body in RULE.findall(text):
        by_selector.setdefault(selector.strip(), declarations(body))
    return by_selector


def declarations(body: str) -> Declarations:
    pairs = (part.split(":", 1) for part in body.split(";") if ":" in part)
    return {name.strip(): " ".join(value.split()) for name, value in pairs}


@cache
def tokens() -> Declarations:
    """The design tokens of the light theme."""
    return rules(TOKENS)[":root"]


@cache
def chart_classes() -> dict[str, Declarations]:
    """The declarations of each chart class; "" is the chart itself."""
    prefix = ".plot"
    return {
        selector.removeprefix(prefix).strip().removeprefix("."): declared
        for selector, declared in rules(CHARTS).items()
    }


@cache
def attributes(style: str) -> Declarations:
    """The presentation attributes of a shape's classes, with variables resolved."""
    merged = tokens() | chart_classes()[""]
    names = style.split()
    for name in names:
        merged |= chart_classes()[name]
    own = {key for name in names for key in chart_classes()[name] if not key.startswith("--")}
    return {key: resolved(value, merged) for key, value in merged.items() if key in own}


def resolved(value: str, variables: Declarations) -> str:
    while match := VARIABLE.search(value):
        value = value.replace(match[0], variables[match[1]])
    return value
