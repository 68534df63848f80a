"""QR codes of our own: a text as a square of dark and light modules (ISO/IEC 18004).

Bytes with error correction M in versions 1 to 10: up to 213 bytes, far more than a study's link.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, pairwise, product

from django.utils.safestring import SafeString, mark_safe

Matrix = list[list[bool]]

# For each version: check codewords per block, data codewords of each block, centres of alignment marks.
VERSIONS: tuple[tuple[int, tuple[int, ...], tuple[int, ...]], ...] = (
    (10, (16,), ()),
    (16, (28,), (6, 18)),
    (26, (44,), (6, 22)),
    (18, (32,) * 2, (6, 26)),
    (24, (43,) * 2, (6, 30)),
    (16, (27,) * 4, (6, 34)),
    (18, (31,) * 4, (6, 22, 38)),
    (22, (38, 38, 39, 39), (6, 24, 42)),
    (22, (36, 36, 36, 37, 37), (6, 26, 46)),
    (26, (43, 43, 43, 43, 44), (6, 28, 50)),
)
BYTE_MODE = 0b0100
QUIET_ZONE = 4

MASKS: tuple[Callable[[int, int], bool], ...] = (
    lambda row, column: (row + column) % 2 == 0,
    lambda row, column: row % 2 == 0,
    lambda row, column: column % 3 == 0,
    lambda row, column: (row + column) % 3 == 0,
    lambda row, column: (row // 2 + column // 3) % 2 == 0,
    lambda row, column: row * column % 2 + row * column % 3 == 0,
    lambda row, column: (row * column % 2 + row * column % 3) % 2 == 0,
    lambda row, column: ((row + column) % 2 + row * column % 3) % 2 == 0,
)


class TextTooLong(ValueError):
    """More bytes than the largest of these codes holds."""


def qr_svg(text: str) -> SafeString:
    """The code as an SVG image: dark on light, also on dark pages, because readers expect it."""
    matrix = qr_matrix(text)
    size = len(matrix) + 2 * QUIET_ZONE
    path = "".join(_runs(matrix))
    # Numbers of our own alone: nothing of the text is in the drawing.
    return mark_safe(  # noqa: S308
        f'<svg xmlns="http://www.w3.org/2000/svg" class="qr" viewBox="0 0 {size} {size}" role="img" '
        f'aria-label="QR code of the link" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h{size}v{size}H0z"/>'
        f'<path fill="#000" d="{path}"/></svg>'
    )


def _runs(matrix: Matrix) -> Iterator[str]:
    for y, row in enumerate(matrix, QUIET_ZONE):
        x = QUIET_ZONE
        for is_dark, cells in groupby(row):
            width = len(list(cells))
            if is_dark:
                yield f"M{x} {y}h{width}v1h-{width}z"
            x += width


def qr_matrix(text: str) -> Matrix:
    """True for dark modules. Of the eight masks, the one that is easiest to read."""
    version, bits = encoded(text.encode())
    symbol = Symbol(version)
    symbol.place(bits)
    return min((symbol.masked(mask) for mask in range(8)), key=penalty)


def encoded(data: bytes) -> tuple[int, list[int]]:
    """The smallest version that holds the data, and every bit of it in the order of its modules."""
    for version, (check, blocks, _) in enumerate(VERSIONS, 1):
        count_bits = 8 if version < 10 else 16
        if 4 + count_bits + 8 * len(data) <= 8 * sum(blocks):
            words = codewords(data, count_bits, sum(blocks))
            return version, bits_of(interleaved(words, check, blocks))
    raise TextTooLong(f"{len(data)} bytes are too many for a QR code of version {len(VERSIONS)}.")


def codewords(data: bytes, count_bits: int, capacity: int) -> list[int]:
    """Mode, length and bytes, filled up to the capacity with the two pad bytes in turn."""
    text = f"{BYTE_MODE:04b}{len(data):0{count_bits}b}" + "".join(f"{byte:08b}" for byte in data)
    text += "0" * min(4, 8 * capacity - len(text))
    text += "0" * (-len(text) % 8)
    words = [int(text[at : at + 8], 2) for at in range(0, len(text), 8)]
    return words + [(0xEC, 0x11)[at % 2] for at in range(capacity - len(words))]


def interleaved(words: Sequence[int], check: int, sizes: Sequence[int]) -> list[int]:
    """The blocks' first codewords, then their second …; after the data, the check codewords likewise."""
    rest = iter(words)
    blocks = [[next(rest) for _ in range(size)] for size in sizes]
    checks = [check_words(block, check) for block in blocks]
    data = [block[at] for at in range(max(sizes)) for block in blocks if at < len(block)]
    return data + [words[at] for at in range(check) for words in checks]


def bits_of(words: Sequence[int]) -> list[int]:
    return [word >> place & 1 for word in words for place in range(7, -1, -1)]


def multiply(a: int, b: int) -> int:
    """In the field of 256 elements with x⁸ + x⁴ + x³ + x² + 1 = 0."""
    product = 0
    while b:
        product ^= a * (b & 1)
        a, b = (a << 1) ^ (0x11D if a & 0x80 else 0), b >> 1
    return product


def check_words(block: Sequence[int], count: int) -> list[int]:
    """Reed and Solomon's: the remainder of the block, as a polynomial, by (x − 1)(x − 2)(x − 4) …"""
    generator, root = [1], 1
    for _ in range(count):
        shifted = [*generator, 0]
        generator = [a ^ multiply(root, b) for a, b in zip(shifted, [0, *generator], strict=True)]
        root = multiply(root, 2)
    remainder = [*block, *[0] * count]
    for at in range(len(block)):
        factor = remainder[at]
        for place, coefficient in enumerate(generator):
            remainder[at + place] ^= multiply(factor, coefficient)
    return remainder[len(block) :]


def with_checks(value: int, generator: int) -> int:
    """A short number followed by its BCH check bits."""
    degree = generator.bit_length() - 1
    remainder = value << degree
    while remainder.bit_length() > degree:
        remainder ^= generator << (remainder.bit_length() - generator.bit_length())
    return value << degree | remainder


class Symbol:
    """One code while it is drawn: what is dark, and which modules carry no data."""

    def __init__(self, version: int) -> None:
        self.version, self.size = version, 17 + 4 * version
        self.dark: Matrix = [[False] * self.size for _ in range(self.size)]
        self.is_fixed: Matrix = [[False] * self.size for _ in range(self.size)]
        self._draw_marks()
        self._write_format(0)
        self._write_version()

    def fix(self, row: int, column: int, is_dark: bool) -> None:
        self.dark[row][column], self.is_fixed[row][column] = is_dark, True

    def _draw_marks(self) -> None:
        for place in range(self.size):
            self.fix(6, place, place % 2 == 0)
            self.fix(place, 6, place % 2 == 0)
        last = self.size - 4
        for centre in ((3, 3), (3, last), (last, 3)):
            self._draw_square(centre, reach=4, light=(2, 4))
        centres = VERSIONS[self.version - 1][2]
        for row, column in product(centres, centres):
            # Three of the corners have their finders.
            if (row, column) not in ((6, 6), (6, centres[-1]), (centres[-1], 6)):
                self._draw_square((row, column), reach=2, light=(1,))

    def _draw_square(self, centre: tuple[int, int], reach: int, light: tuple[int, ...]) -> None:
        """Rings around a centre, as far as they lie on the symbol."""
        for down, right in product(range(-reach, reach + 1), repeat=2):
            row, column = centre[0] + down, centre[1] + right
            if 0 <= row < self.size and 0 <= column < self.size:
                self.fix(row, column, max(abs(down), abs(right)) not in light)

    def _write_format(self, mask: int) -> None:
        """Error correction M (00) and the mask, twice, beside the finders."""
        bits = with_checks(mask, 0x537) ^ 0x5412
        end = self.size - 1
        down = [0, 1, 2, 3, 4, 5, 7, 8, *range(end - 6, end + 1)]
        for at in range(15):
            is_dark = bool(bits >> at & 1)
            self.fix(down[at], 8, is_dark)
            self.fix(8, down[14 - at] if at > 7 else end - at, is_dark)
        self.fix(end - 7, 8, True)

    def _write_version(self) -> None:
        if self.version < 7:
            return
        bits = with_checks(self.version, 0x1F25)
        for at in range(18):
            far, near = self.size - 11 + at % 3, at // 3
            self.fix(far, near, bool(bits >> at & 1))
            self.fix(near, far, bool(bits >> at & 1))

    def data_modules(self) -> Iterator[tuple[int, int]]:
        """In pairs of columns from the right, upwards and downwards in turn, around what is fixed."""
        rights = [*range(self.size - 1, 6, -2), 5, 3, 1]
        rows = range(self.size)
        for turn, right in enumerate(rights):
            for row in rows if turn % 2 else reversed(rows):
                for column in (right, right - 1):
                    if not self.is_fixed[row][column]:
                        yield row, column

    def place(self, bits: Sequence[int]) -> None:
        for (row, column), bit in zip(self.data_modules(), bits, strict=False):
            self.dark[row][column] = bool(bit)

    def masked(self, mask: int) -> Matrix:
        self._write_format(mask)
        flips = MASKS[mask]
        return [
            [is_dark ^ (not fixed and flips(y, x)) for x, (is_dark, fixed) in enumerate(zip(row, fix, strict=True))]
            for y, (row, fix) in enumerate(zip(self.dark, self.is_fixed, strict=True))
        ]  # fmt: skip


def penalty(matrix: Matrix) -> int:
    """How hard a code is to read: runs, blocks, false finders, and too much of one shade."""
    lines = ["".join("01"[cell] for cell in line) for line in (*matrix, *zip(*matrix, strict=True))]
    dark = sum(map(sum, matrix))
    imbalance = abs(20 * dark - 10 * len(matrix) ** 2) // len(matrix) ** 2
    return sum(map(line_penalty, lines)) + 3 * blocks_of_four(matrix) + 10 * imbalance


def line_penalty(line: str) -> int:
    lengths = [len(list(run)) for _, run in groupby(line)]
    runs = sum(length - 2 for length in lengths if length >= 5)
    finders = sum(line.startswith(("10111010000", "00001011101"), at) for at in range(len(line)))
    return runs + 40 * finders


def blocks_of_four(matrix: Matrix) -> int:
    pairs = pairwise(matrix)
    return sum(
        above[at] == above[at + 1] == below[at] == below[at + 1]
        for above, below in pairs
        for at in range(len(above) - 1)
    )
