"""The looks of the shapes, read from the style sheets that the pages use.

A page has classes alone, and the style sheets give day and night their colours. A file stands alone: its shapes carry
presentation attributes, in the colours of the day.
"""

import re
from functools import cache
from pathlib import Path

SHEETS = Path(__file__).resolve().parents[2] / "static" / "css"
TOKENS, CHARTS = SHEETS / "tokens.css", SHEETS / "charts.css"
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
VARIABLE = re.compile(r"var\((--[\w-]+)\)")

Declarations = dict[str, str]


def rules(sheet: Path) -> dict[str, Declarations]:
    """The declarations of every selector, where it first stands: by day, as the media queries come last."""
    text = COMMENT.sub("", sheet.read_text(encoding="utf-8"))
    found: dict[str, Declarations] = {}
    for selector, body in RULE.findall(text):
        found.setdefault(selector.strip(), declarations(body))
    return found


def declarations(body: str) -> Declarations:
    pairs = (part.split(":", 1) for part in body.split(";") if ":" in part)
    return {name.strip(): " ".join(value.split()) for name, value in pairs}


@cache
def tokens() -> Declarations:
    """The design tokens by day."""
    return rules(TOKENS)[":root"]


@cache
def looks() -> dict[str, Declarations]:
    """What each class of a chart declares; "" is the chart as a whole."""
    prefix = ".plot"
    return {
        selector.removeprefix(prefix).strip().removeprefix("."): declared
        for selector, declared in rules(CHARTS).items()
    }


@cache
def attributes(style: str) -> Declarations:
    """The presentation attributes of a shape's classes, with every variable replaced by its colour."""
    merged = tokens() | looks()[""]
    names = style.split()
    for name in names:
        merged |= looks()[name]
    own = {key for name in names for key in looks()[name] if not key.startswith("--")}
    return {key: resolved(value, merged) for key, value in merged.items() if key in own}


def resolved(value: str, variables: Declarations) -> str:
    while match := VARIABLE.search(value):
        value = value.replace(match[0], variables[match[1]])
    return value
