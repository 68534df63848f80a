"""PDF files: every letter is there, at its place, or is missing openly."""

import re
import subprocess
import sys

import pytest

from analysis.charts.pdf import BOLD, REGULAR, pdf, pieces_of, width_of
from analysis.charts.shapes import Drawing, Line, Rect, Text
from tests.analysis.charts.pdf_reader import content_of, texts_of, unescaped
from tests.architecture import ROOT

MACRON = "\N{COMBINING MACRON}"


def page(*shapes, title="Title"):
    return pdf(Drawing(200, 100, title, shapes))


def label(text, **more):
    return Text(100, 50, text, "label", **more)


def words_in(text):
    return "".join(piece.text for piece in texts_of(page(label(text))))


@pytest.mark.parametrize(
    "text",
    [
        "β from the memory test",
        "Домашняя кошка",
        "naïve Łódź, Ångström, Ørsted, ő",
        "η₀ = 0.05, −12.3 %",
        f"the memory span n{MACRON}",
        r"a)\(",
    ],
)
def test_a_reader_gets_the_text_back(text):
    assert words_in(text) == text


def test_a_letter_and_its_accent_are_one_where_unicode_has_it():
    assert words_in("e\N{COMBINING ACUTE ACCENT}") == "é"


def test_an_accented_letter_that_the_font_lacks_is_put_together():
    assert words_in("ȳ") == f"y{MACRON}"


@pytest.mark.parametrize(("letter", "raise_by"), [("n", 0.0), ("N", 2.08)])
def test_a_macron_lies_over_the_middle_of_its_letter(letter, raise_by):
    base, macron, rest = texts_of(page(label(f"{letter}{MACRON}m")))
    assert (base.text, macron.text, rest.text) == (letter, MACRON, "m")
    assert macron.x == pytest.approx((base.x + rest.x) / 2, abs=1e-3)
    # Capitals are taller.
    assert macron.y - base.y == pytest.approx(raise_by, abs=1e-3)


@pytest.mark.parametrize(
    ("letter", "code"), [("猫", "U+732B"), ("😀", "U+1F600"), ("\u0e49", "U+0E49")]
)
def test_a_letter_that_the_font_lacks_shows_its_code_in_a_box(letter, code):
    content = page(label(f"a{letter}"))
    assert [piece.text for piece in texts_of(content)] == ["a", code]
    assert content_of(content).count(b" re S") == 1


def test_a_mark_that_the_font_lacks_is_not_lost():
    assert words_in("a\N{COMBINING ENCLOSING CIRCLE}") == "aU+20DD"


def test_thin_spaces_and_special_hyphens_look_like_usual_ones():
    assert words_in("95\N{THIN SPACE}% non\N{NON-BREAKING HYPHEN}random") == "95 % non-random"


def test_signs_that_nobody_sees_take_no_room():
    assert words_in("wild\N{SOFT HYPHEN}cat\N{ZERO WIDTH JOINER}") == "wildcat"


@pytest.mark.parametrize(("anchor", "share"), [("start", 0), ("middle", 0.5), ("end", 1)])
def test_text_is_anchored_by_its_width(anchor, share):
    text = "β 猫"
    first = texts_of(page(label(text, anchor=anchor)))[0]
    assert first.x == pytest.approx(-share * width_of(text, REGULAR, 13), abs=1e-3)


def test_widths_are_the_fonts():
    # The font has 1,000 units to the size: n has 547, and 572 where it is bold. A macron has none.
    assert width_of("n", REGULAR, 1000) == width_of(f"n{MACRON}", REGULAR, 1000) == 547
    assert width_of("n", BOLD, 1000) == 572


def test_what_the_font_has_is_drawn_at_one_go():
    assert len(pieces_of("teaching gain, points", REGULAR)) == 1


def test_upright_text_is_turned():
    assert b"0 1 -1 0 100 -50 cm" in content_of(page(label("gain", is_upright=True)))
    assert b"0 1 -1 0 " not in content_of(page(label("gain")))


def test_places_count_from_the_top():
    content = content_of(page(Line(1, 2, 3, 4, "grid"), Rect(5, 10, 20, 30, "cell arm-1", 0.3)))
    assert b"1 0 0 1 0 100 cm" in content
    assert b"n 1 -2 m 3 -4 l S" in content
    assert b"n 5 -40 20 30 re B" in content


def test_the_file_names_its_title_and_nobody_else():
    content = page(title="Проба")
    title = unescaped(re.search(rb"/Title \((.*?)\) /Trapped", content, re.DOTALL)[1])
    assert title.decode("utf-16") == "Проба"
    assert b"anonymous" not in content
    assert b"Helvetica" not in content


def test_the_pages_of_results_do_not_load_the_library_for_pdfs():
    code = (
        "import os, sys, django; os.environ['DJANGO_SETTINGS_MODULE'] = 'tests.settings'; django.setup()\n"
        "import analysis.results.page, analysis.modelcheck.page\n"
        "print('reportlab' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("False\n", "")
