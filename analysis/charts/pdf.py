"""Drawings as PDF: one page with embedded fonts. The same drawing gives the same bytes.

Source Sans has Latin, Greek and Cyrillic letters. A letter that it lacks is drawn as a box with its code point. Only
what makes a PDF should import this module, because it loads ReportLab.
"""

import io
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

import font_source_sans_pro
from reportlab.lib.colors import HexColor
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

from .shapes import Circle, Drawing, Line, Path, Rect, Shape, Text
from .svg import attributes

ROUND, BUTT = 1, 0
ANCHORS = {"start": 0.0, "middle": 0.5, "end": 1.0}
REGULAR, BOLD = "SourceSansPro", "SourceSansProBold"
# The box of a missing letter, as shares of the font size.
CODE_SIZE, CODE_MARGIN, BOX_HEIGHT, BOX_FOOT = 0.5, 0.08, 0.62, -0.06
# How much higher a mark stands over a capital letter, as a share of the font size.
CAPITAL_RAISE = 0.16
ABOVE = 230
HYPHENS = {"\N{HYPHEN}": "-", "\N{NON-BREAKING HYPHEN}": "-"}


def pdf(drawing: Drawing) -> bytes:
    content = io.BytesIO()
    canvas = Canvas(
        content,
        pagesize=(drawing.width, drawing.height),
        pageCompression=1,
        invariant=1,
        # The stubs have the wrong type.
        initialFontName=REGULAR,  # type: ignore[arg-type]
    )
    describe(canvas, drawing.title)
    # ReportLab's y axis points up.
    canvas.translate(0, drawing.height)
    for shape in drawing.shapes:
        canvas.saveState()
        set_style(canvas, shape)
        draw(canvas, shape)
        canvas.restoreState()
    canvas.showPage()
    canvas.save()
    return content.getvalue()


def describe(canvas: Canvas, title: str) -> None:
    """The document properties; ReportLab's defaults say "anonymous"."""
    canvas.setTitle(title)
    canvas.setAuthor("")
    canvas.setSubject("")
    canvas.setCreator("JEDI Web")
    canvas.setProducer("JEDI Web")


def set_style(canvas: Canvas, shape: Shape) -> None:
    """Colours, widths, dashes and opacities."""
    values = attributes(shape.style)
    canvas.setLineCap(BUTT if "stroke-dasharray" in values else ROUND)
    canvas.setLineJoin(ROUND)
    if is_filled(shape):
        canvas.setFillColor(HexColor(values["fill"]))
        canvas.setFillAlpha(fill_opacity(shape))
    if isinstance(shape, Text):
        canvas.setStrokeColor(HexColor(values["fill"]))
    if is_stroked(shape):
        canvas.setStrokeColor(HexColor(values["stroke"]))
        canvas.setStrokeAlpha(float(values.get("stroke-opacity", 1)))
        canvas.setLineWidth(float(values["stroke-width"]))
    if "stroke-dasharray" in values:
        canvas.setDash([float(part) for part in values["stroke-dasharray"].split()])


def fill_opacity(shape: Shape) -> float:
    if isinstance(shape, Rect) and shape.strength is not None:
        return shape.strength
    return float(attributes(shape.style).get("fill-opacity", 1))


def is_filled(shape: Shape) -> bool:
    return attributes(shape.style).get("fill", "none") != "none"


def is_stroked(shape: Shape) -> bool:
    return "stroke" in attributes(shape.style)


def draw(canvas: Canvas, shape: Shape) -> None:
    paint = {"stroke": int(is_stroked(shape)), "fill": int(is_filled(shape))}
    match shape:
        case Line():
            canvas.line(shape.x1, -shape.y1, shape.x2, -shape.y2)
        case Rect():
            canvas.rect(shape.x, -shape.y - shape.height, shape.width, shape.height, **paint)
        case Circle():
            canvas.circle(shape.x, -shape.y, shape.radius, **paint)
        case Path():
            draw_path(canvas, shape, paint)
        case Text():
            draw_text(canvas, shape)


def draw_path(canvas: Canvas, path: Path, paint: dict[str, int]) -> None:
    (first, *others) = path.points
    outline = canvas.beginPath()
    outline.moveTo(first[0], -first[1])
    for x, y in others:
        outline.lineTo(x, -y)
    if path.is_closed:
        outline.close()
    canvas.drawPath(outline, **paint)


def draw_text(canvas: Canvas, text: Text) -> None:
    values = attributes(text.style)
    size = float(values["font-size"].removesuffix("px"))
    font = BOLD if int(values.get("font-weight", 400)) >= 600 else REGULAR
    canvas.translate(text.x, -text.y)
    if text.is_upright:
        canvas.rotate(90)
    x = -ANCHORS[text.anchor] * width_of(text.text, font, size)
    for piece in pieces_of(text.text, font):
        x += piece.draw(canvas, x, font, size)


def registered(font: str) -> frozenset[str]:
    """Registers a font with ReportLab and returns the letters that it has."""
    loaded = TTFont(font, font_source_sans_pro.font_files_ttf[font])
    pdfmetrics.registerFont(loaded)
    return frozenset(chr(code) for code in loaded.face.charToGlyph)


LETTERS = {font: registered(font) for font in (REGULAR, BOLD)}


@dataclass(frozen=True)
class Letters:
    """Letters that the font has, or one letter with combining marks for which it has no single glyph, as in n̄.

    Combining marks have no width and are centred on their origin, so each is drawn at the middle of the letter.
    """

    text: str
    marks: str = ""

    def width(self, font: str, size: float) -> float:
        return pdfmetrics.stringWidth(self.text, font, size)

    def draw(self, canvas: Canvas, x: float, font: str, size: float) -> float:
        """Draws at x on the base line and returns the width."""
        width = self.width(font, size)
        canvas.setFont(font, size)
        canvas.drawString(x, 0, self.text)
        for mark in self.marks:
            is_high = self.text.isupper() and unicodedata.combining(mark) == ABOVE
            canvas.drawString(x + width / 2, CAPITAL_RAISE * size * is_high, mark)
        return width


@dataclass(frozen=True)
class Missing:
    """A letter that the font lacks, drawn as its code point in a box."""

    letter: str

    @property
    def code(self) -> str:
        return f"U+{ord(self.letter):04X}"

    def width(self, font: str, size: float) -> float:
        inner = pdfmetrics.stringWidth(self.code, font, CODE_SIZE * size)
        return inner + 4 * CODE_MARGIN * size

    def draw(self, canvas: Canvas, x: float, font: str, size: float) -> float:
        width, margin = self.width(font, size), CODE_MARGIN * size
        canvas.setLineWidth(0.04 * size)
        canvas.rect(x + margin, BOX_FOOT * size, width - 2 * margin, BOX_HEIGHT * size, fill=0)
        canvas.setFont(font, CODE_SIZE * size)
        canvas.drawString(x + 2 * margin, 0.08 * size, self.code)
        return width


Piece = Letters | Missing


def width_of(text: str, font: str, size: float) -> float:
    return sum(piece.width(font, size) for piece in pieces_of(text, font))


def pieces_of(text: str, font: str) -> list[Piece]:
    """The text as the longest possible pieces that can be drawn at once."""
    composed = unicodedata.normalize("NFC", text)
    visible = "".join(
        substitute(letter, font) for letter in composed if unicodedata.category(letter) != "Cf"
    )
    pieces = [
        piece for cluster in with_marks(visible) for piece in pieces_of_cluster(cluster, font)
    ]
    return list(joined(pieces))


def substitute(letter: str, font: str) -> str:
    """The letter, or what replaces it if the font lacks it: letter and mark, a usual space or a usual hyphen."""
    if letter in LETTERS[font]:
        return letter
    parts = unicodedata.normalize("NFD", letter)
    if set(parts) <= LETTERS[font]:
        return parts
    if unicodedata.category(letter) == "Zs":
        return " "
    return HYPHENS.get(letter, letter)


def with_marks(text: str) -> Iterator[str]:
    """Every letter with the combining marks that follow it."""
    cluster = ""
    for letter in text:
        if cluster and not unicodedata.combining(letter):
            yield cluster
            cluster = ""
        cluster += letter
    if cluster:
        yield cluster


def pieces_of_cluster(cluster: str, font: str) -> list[Piece]:
    """A letter with its marks, and a box for each of them that the font lacks."""
    base, marks = cluster[0], cluster[1:]
    if base not in LETTERS[font]:
        return [Missing(letter) for letter in cluster]
    drawn = "".join(mark for mark in marks if mark in LETTERS[font])
    lacking = [Missing(mark) for mark in marks if mark not in LETTERS[font]]
    return [Letters(base, drawn), *lacking]


def joined(pieces: list[Piece]) -> Iterator[Piece]:
    """Merges neighbouring letters without marks."""
    plain = ""
    for piece in pieces:
        if isinstance(piece, Letters) and not piece.marks:
            plain += piece.text
            continue
        if plain:
            yield Letters(plain)
            plain = ""
        yield piece
    if plain:
        yield Letters(plain)
