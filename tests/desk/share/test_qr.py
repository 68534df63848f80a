"""The QR code of a study's link, as the page shows it and as a file."""

import re
from xml.etree import ElementTree

import pytest
import segno

from tests.builders import make_study
from tests.people import study_address, text_of

pytestmark = pytest.mark.django_db

SVG = "{http://www.w3.org/2000/svg}"
QUIET_ZONE = 4
# The first two format bits of a symbol, masked as the standard says.
LEVELS = {(1, 1): "L", (1, 0): "M", (0, 1): "Q", (0, 0): "H"}


def drawing_of(researcher, study) -> ElementTree.Element:
    reply = researcher.get(study_address(study, "share/qr.svg"))
    assert reply["Content-Type"] == "image/svg+xml"
    assert reply["Content-Disposition"] == f'attachment; filename="{study.slug}-qr.svg"'
    return ElementTree.fromstring(reply.content)


def modules_of(drawing: ElementTree.Element) -> list[list[int]]:
    """Dark (1) and light (0) modules, the quiet zone included, read from the strokes of the drawing."""
    size = int(drawing.get("viewBox").split()[-1])
    modules = [[0] * size for _ in range(size)]
    _, dark = drawing
    x = y = 0.0
    for command, numbers in re.findall(r"([Mmh])([^Mmh]+)", dark.get("d")):
        match command, [float(number) for number in numbers.split()]:
            case "M", [x, y]:
                pass
            case "m", [right, down]:
                x, y = x + right, y + down
            case "h", [width]:
                for column in range(int(x), int(x + width)):
                    modules[int(y)][column] = 1
                x += width
    return modules


def without_quiet_zone(modules: list[list[int]]) -> list[list[int]]:
    inside = slice(QUIET_ZONE, -QUIET_ZONE)
    assert sum(map(sum, modules)) == sum(sum(row[inside]) for row in modules[inside])
    return [row[inside] for row in modules[inside]]


@pytest.mark.parametrize("slug", ["birds", "a-name-that-is-fifty-letters-long-and-not-longer-x"])
def test_the_code_says_the_plain_link(researcher, settings, slug):
    settings.JEDI_PUBLIC_URL = "https://study.example"
    modules = without_quiet_zone(modules_of(drawing_of(researcher, make_study(slug=slug))))
    wanted = segno.make_qr(f"https://study.example/s/{slug}/", error="m")
    assert modules == [list(row) for row in wanted.matrix]


def test_a_scratched_code_can_still_be_read(researcher):
    modules = without_quiet_zone(modules_of(drawing_of(researcher, make_study())))
    assert LEVELS[modules[8][0], modules[8][1]] in {"M", "Q", "H"}


def test_the_code_is_black_on_white_on_every_page(researcher):
    """It is an image of its own: no style sheet reaches it, and the policy allows no style or script in it."""
    drawing = drawing_of(researcher, make_study())
    ground, dark = drawing
    size = drawing.get("viewBox").split()[-1]
    assert (ground.get("fill"), ground.get("d")) == ("#fff", f"M0 0h{size}v{size}h-{size}z")
    assert dark.get("stroke") == "#000"
    assert {part.tag for part in drawing.iter()} == {f"{SVG}svg", f"{SVG}path"}
    names = {name for part in drawing.iter() for name in part.attrib}
    assert not [name for name in names if name == "style" or name.startswith("on")]


def test_the_page_shows_the_code_and_offers_the_file(researcher):
    study = make_study()
    page = text_of(researcher, study_address(study, "share/"))
    address = study_address(study, "share/qr.svg")
    assert f'<img class="qr" src="{address}" alt="QR code of the plain link">' in page
    assert f'<a href="{address}">Download (SVG)</a>' in page
