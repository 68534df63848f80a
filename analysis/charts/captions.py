"""Words that a figure takes along: its caption, below it in a file, and what it is about, across it everywhere."""

import textwrap
from dataclasses import replace

from .shapes import Drawing, Text

LEFT = 8.0
LINE = 15.0
# Of the small letters of a figure, on average; a line that comes out a little short does no harm.
LETTER_WIDTH = 6.2


def with_caption(drawing: Drawing, caption: str) -> Drawing:
    """The same drawing with lines of text below it, and as much higher."""
    lines = textwrap.wrap(caption, int((drawing.width - 2 * LEFT) / LETTER_WIDTH))
    texts = [
        Text(LEFT, drawing.height + LINE * (place + 1), line, "tick")
        for place, line in enumerate(lines)
    ]
    height = drawing.height + LINE * (len(lines) + 1)
    return replace(drawing, height=height, shapes=(*drawing.shapes, *texts))


def with_watermark(drawing: Drawing, words: str) -> Drawing:
    """The same drawing with large pale words across its middle, which no cutting takes away, and in its title."""
    middle = Text(drawing.width / 2, drawing.height / 2, words, "watermark", "middle")
    title = f"{drawing.title} ({words})"
    return replace(drawing, title=title, shapes=(*drawing.shapes, middle))
