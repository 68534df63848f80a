"""Text in the font that comes with the project, letter by letter where that is needed.

Source Sans has Latin, Greek and Cyrillic letters. A letter that it lacks is drawn as a small box with its code point:
a reader sees that something is missing, and can look up what.
"""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

import font_source_sans_pro
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

REGULAR, BOLD = "SourceSansPro", "SourceSansProBold"
# The box of a missing letter, in shares of the size of the text.
CODE_SIZE, CODE_MARGIN, BOX_HEIGHT, BOX_FOOT = 0.5, 0.08, 0.62, -0.06
# How much higher an accent lies over a capital than over a small letter, in shares of the size.
CAPITAL_RAISE = 0.16
ABOVE = 230
HYPHENS = {"\N{HYPHEN}": "-", "\N{NON-BREAKING HYPHEN}": "-"}


def registered(font: str) -> frozenset[str]:
    """Makes a font known to ReportLab, and returns every letter that it has."""
    loaded = TTFont(font, font_source_sans_pro.font_files_ttf[font])
    pdfmetrics.registerFont(loaded)
    return frozenset(chr(code) for code in loaded.face.charToGlyph)


LETTERS = {font: registered(font) for font in (REGULAR, BOLD)}


@dataclass(frozen=True)
class Letters:
    """Letters that the font has, or one of them under marks that no single letter combines, as in n̄.

    The font's marks have no width and lie around their own middle: each is centred on the letter.
    """

    text: str
    marks: str = ""

    def width(self, font: str, size: float) -> float:
        return pdfmetrics.stringWidth(self.text, font, size)

    def draw(self, canvas: Canvas, x: float, font: str, size: float) -> float:
        """Draws at x on the base line, and returns how far it went."""
        width = self.width(font, size)
        canvas.setFont(font, size)
        canvas.drawString(x, 0, self.text)
        for mark in self.marks:
            is_high = self.text.isupper() and unicodedata.combining(mark) == ABOVE
            canvas.drawString(x + width / 2, CAPITAL_RAISE * size * is_high, mark)
        return width


@dataclass(frozen=True)
class Missing:
    """A letter that the font lacks: its code point in a box."""

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
    """The text in pieces that are drawn alike, as short as it can be written."""
    composed = unicodedata.normalize("NFC", text)
    visible = "".join(
        substitute(letter, font) for letter in composed if unicodedata.category(letter) != "Cf"
    )
    pieces = [
        piece for cluster in with_marks(visible) for piece in pieces_of_cluster(cluster, font)
    ]
    return list(joined(pieces))


def substitute(letter: str, font: str) -> str:
    """The letter, or what stands for it in a font that lacks it: a letter and its mark, a space, a hyphen."""
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
    """Letters without marks that follow each other as one piece."""
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
