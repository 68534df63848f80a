"""Reads the text of a PDF as a reader's program does: by the fonts' own tables from codes to letters."""

import base64
import re
import zlib
from dataclasses import dataclass

OBJECT = re.compile(rb"(\d+) 0 obj\n(.*?)endobj", re.DOTALL)
STREAM = re.compile(rb"stream\r?\n(.*?)(?:\r?\n)?endstream", re.DOTALL)
FONT = re.compile(rb"/Name /(\S+).*?/ToUnicode (\d+) 0 R", re.DOTALL)
# A text is shown at a place: its matrix, then fonts and strings by turns.
TEXT = re.compile(rb"BT (.*?) ET", re.DOTALL)
MATRIX = re.compile(rb"1 0 0 1 (\S+) (\S+) Tm")
SHOWN = re.compile(rb"/(\S+) \S+ Tf|\(((?:\\.|[^\\)])*)\) Tj", re.DOTALL)
ESCAPE = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)


@dataclass(frozen=True)
class ShownText:
    """A piece of text, and where it stands along the line and above it."""

    text: str
    x: float
    y: float


def objects(pdf: bytes) -> dict[int, bytes]:
    return {int(number): body for number, body in OBJECT.findall(pdf)}


def stream(body: bytes) -> bytes:
    content = STREAM.search(body)[1]
    if b"/ASCII85Decode" in body.split(b"stream")[0]:
        content = base64.a85decode(b"<~" + content.strip(), adobe=True)
    return zlib.decompress(content)


def content_of(pdf: bytes) -> bytes:
    (page,) = (body for body in objects(pdf).values() if b"/Contents" in body)
    return stream(objects(pdf)[int(re.search(rb"/Contents (\d+)", page)[1])])


def letters_of_fonts(pdf: bytes) -> dict[bytes, dict[int, str]]:
    every = objects(pdf)
    fonts = [FONT.search(body) for body in every.values()]
    return {found[1]: letters_in(stream(every[int(found[2])])) for found in fonts if found}


def letters_in(table: bytes) -> dict[int, str]:
    pairs = re.findall(rb"<(\w{2})> <(\w{4,8})>", table)
    pairs += re.findall(rb"<(\w{2})> <\w{2}> <(\w{4,8})>", table)
    for first, listed in re.findall(rb"<(\w{2})> <\w{2}> \[([^]]*)\]", table, re.DOTALL):
        letters = re.findall(rb"<(\w{4,8})>", listed)
        pairs += [(b"%02x" % (int(first, 16) + n), letter) for n, letter in enumerate(letters)]
    return {
        int(code, 16): bytes.fromhex(letter.decode()).decode("utf-16-be") for code, letter in pairs
    }


def unescaped(text: bytes) -> bytes:
    names = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f"}

    def plain(found):
        code = found[1]
        return bytes([int(code, 8)]) if len(code) == 3 else names.get(code, code)

    return ESCAPE.sub(plain, text)


def texts_of(pdf: bytes) -> list[ShownText]:
    fonts, found = letters_of_fonts(pdf), []
    for block in TEXT.findall(content_of(pdf)):
        x, y = (float(part) for part in MATRIX.search(block).groups())
        font, text = b"", ""
        for name, codes in SHOWN.findall(block):
            font = name or font
            text += "".join(fonts[font][code] for code in unescaped(codes))
        found.append(ShownText(text, x, y))
    return found
