"""The QR code: read back by a decoder that shares nothing with the encoder."""

from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from desk.share.qr import TextTooLong, qr_matrix, qr_svg

# By error correction M: data codewords, blocks and check codewords per block of versions 1 to 10.
LAYOUT = [
    (16, 1, 10), (28, 1, 16), (44, 1, 26), (64, 2, 18), (86, 2, 24),
    (108, 4, 16), (124, 4, 18), (154, 4, 22), (182, 5, 22), (216, 5, 26),
]  # fmt: skip
ALIGNMENT = [[], [18], [22], [26], [30], [34], [22, 38], [24, 42], [26, 46], [28, 50]]


def read(matrix: list[list[bool]]) -> bytes:
    """What a reader sees: format, mask, codewords, blocks without errors, bytes."""
    size = len(matrix)
    version = (size - 17) // 4
    words = codewords(unmasked(matrix, mask_of(matrix)), version)
    total, blocks, check = LAYOUT[version - 1]
    data = deinterleaved(words, total, blocks, check)
    bits = "".join(f"{word:08b}" for word in data)
    assert bits[:4] == "0100", "byte mode"
    width = 8 if version < 10 else 16
    length = int(bits[4 : 4 + width], 2)
    content = bits[4 + width : 4 + width + 8 * length]
    return bytes(int(content[at : at + 8], 2) for at in range(0, len(content), 8))


def mask_of(matrix: list[list[bool]]) -> int:
    """From the first row of format bits; both copies must say the same and be a codeword."""
    last = len(matrix) - 1
    first = [matrix[8][x] for x in (0, 1, 2, 3, 4, 5, 7, 8)] + [
        matrix[y][8] for y in (7, 5, 4, 3, 2, 1, 0)
    ]
    second = [matrix[last - y][8] for y in range(7)] + [
        matrix[8][x] for x in range(last - 7, last + 1)
    ]
    assert first == second
    bits = int("".join("01"[bit] for bit in first), 2) ^ 0b101010000010010
    rest = bits
    for place in range(14, 9, -1):
        if rest >> place & 1:
            rest ^= 0b10100110111 << (place - 10)
    assert rest == 0, "the check bits do not fit"
    assert bits >> 13 == 0, "error correction M"
    return bits >> 10 & 7


def is_data(y: int, x: int, version: int) -> bool:
    size = 17 + 4 * version
    in_finder = (y < 9 and x < 9) or (y < 9 and x >= size - 8) or (y >= size - 8 and x < 9)
    on_timing = 6 in (y, x)
    centres = [6, *ALIGNMENT[version - 1]] if version > 1 else []
    corners = {(6, 6), (6, size - 7), (size - 7, 6)}
    marks = [(a, b) for a in centres for b in centres if (a, b) not in corners]
    in_mark = any(abs(y - a) <= 2 and abs(x - b) <= 2 for a, b in marks)
    in_version = version >= 7 and ((y < 6 and x >= size - 11) or (x < 6 and y >= size - 11))
    return not (in_finder or on_timing or in_mark or in_version)


def unmasked(matrix: list[list[bool]], mask: int) -> list[list[bool]]:
    formulas = [
        "(i + j) % 2", "i % 2", "j % 3", "(i + j) % 3", "(i // 2 + j // 3) % 2", "i*j % 2 + i*j % 3",
        "(i*j % 2 + i*j % 3) % 2", "((i + j) % 2 + i*j % 3) % 2",
    ]  # fmt: skip
    formula = compile(formulas[mask], "mask", "eval")
    return [
        [cell != (eval(formula, {"i": i, "j": j}) == 0) for j, cell in enumerate(row)]
        for i, row in enumerate(matrix)
    ]


def codewords(matrix: list[list[bool]], version: int) -> list[int]:
    size, upwards, bits = len(matrix), True, ""
    right = size - 1
    while right > 0:
        if right == 6:
            right -= 1
        for step in range(size):
            y = size - 1 - step if upwards else step
            for x in (right, right - 1):
                if is_data(y, x, version):
                    bits += "01"[matrix[y][x]]
        upwards = not upwards
        right -= 2
    return [int(bits[at : at + 8], 2) for at in range(0, len(bits) - 7, 8)]


def deinterleaved(words: list[int], total: int, blocks: int, check: int) -> list[int]:
    assert len(words) == total + blocks * check
    short = total // blocks
    lengths = [short + (at >= blocks - total % blocks) for at in range(blocks)]
    parts: list[list[int]] = [[] for _ in range(blocks)]
    rest = iter(words)
    for place in range(max(lengths)):
        for part, length in zip(parts, lengths, strict=True):
            if place < length:
                part.append(next(rest))
    data = [word for part in parts for word in part]
    for _ in range(check):
        for part in parts:
            part.append(next(rest))
    for part in parts:
        assert not any(syndromes(part, check)), "a block has errors"
    return data


def syndromes(words: list[int], count: int) -> list[int]:
    """The block as a polynomial at the powers of 2, by tables of logarithms."""
    powers = [1]
    for _ in range(254):
        doubled = powers[-1] * 2
        powers.append(doubled ^ 0x11D if doubled > 255 else doubled)
    logarithms = {power: place for place, power in enumerate(powers)}
    sums = []
    for root in range(count):
        value = 0
        for exponent, word in enumerate(reversed(words)):
            if word:
                value ^= powers[(logarithms[word] + root * exponent) % 255]
        sums.append(value)
    return sums


@settings(max_examples=25, deadline=None)
@given(st.binary(min_size=1, max_size=213).map(lambda some: some.decode("latin-1")))
def test_every_text_that_fits_is_read_back(text):
    data = text.encode()
    if len(data) > 213:
        with pytest.raises(TextTooLong):
            qr_matrix(text)
    else:
        assert read(qr_matrix(text)) == data


@pytest.mark.parametrize(
    ("version", "most"),
    list(enumerate([14, 26, 42, 62, 84, 106, 122, 152, 180, 213], 1)),
)
def test_each_version_holds_what_the_standard_says(version, most):
    text = "https://example.org/s/".ljust(most, "x")[:most]
    matrix = qr_matrix(text)
    assert len(matrix) == 17 + 4 * version
    assert read(matrix).decode() == text
    if version < 10:
        assert len(qr_matrix(text + "x")) == 21 + 4 * version


def test_more_than_fits_is_refused():
    with pytest.raises(TextTooLong, match="214 bytes"):
        qr_matrix("x" * 214)


def test_versions_from_seven_on_carry_their_number_twice():
    for length, bits in ((122, 0b000111110010010100), (152, 0b001000010110111100)):
        matrix = qr_matrix("x" * length)
        size = len(matrix)
        places = [(size - 11 + at % 3, at // 3) for at in range(18)]
        assert sum(matrix[y][x] << at for at, (y, x) in enumerate(places)) == bits
        assert sum(matrix[x][y] << at for at, (y, x) in enumerate(places)) == bits


def test_the_drawing_is_the_matrix_with_its_quiet_zone():
    text = "https://example.org/s/birds/"
    matrix = qr_matrix(text)
    drawing = ElementTree.fromstring(qr_svg(text))
    size = len(matrix) + 8
    assert drawing.get("viewBox") == f"0 0 {size} {size}"
    ground, dark = drawing
    assert ground.get("d") == f"M0 0h{size}v{size}H0z"
    painted = [[False] * len(matrix) for _ in matrix]
    for run in dark.get("d").split("M")[1:]:
        place, width, _ = run.replace("v1", "h").split("h", 2)
        x, y = (int(number) - 4 for number in place.split())
        for cell in range(x, x + int(width)):
            painted[y][cell] = True
    assert painted == matrix
