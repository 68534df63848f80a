"""The memory test's drawings: enough of them, all different, and safe to serve."""

import re
from xml.etree import ElementTree

import pytest

from memorytest import pictograms

SVG = "{http://www.w3.org/2000/svg}"
SHAPES = {SVG + tag for tag in ("g", "path", "circle", "ellipse")}
SHAPE_ATTRIBUTES = {
    *("d", "cx", "cy", "r", "rx", "ry", "transform", "fill"),
    *("stroke", "stroke-width", "stroke-linecap", "stroke-linejoin"),
}
PALETTE = {
    *("#2b3a4a", "#3d7ea6", "#5a9367", "#e9b44c"),
    *("#d1603d", "#b8c4ce", "#f6e7c8", "#8a5a3c"),
}


def drawing(name):
    return ElementTree.fromstring(pictograms.svg(name))


def shapes(name):
    return list(drawing(name).iter())[1:]


def colours(name):
    paints = {shape.get(key) for shape in shapes(name) for key in ("fill", "stroke")}
    return paints - {None, "none"}


def test_there_are_enough_for_a_worker_to_see_none_twice():
    assert len(pictograms.NAMES) >= 64


def test_names_are_words_in_order():
    assert list(pictograms.NAMES) == sorted(set(pictograms.NAMES))
    assert all(re.fullmatch(r"[a-z]{3,12}", name) for name in pictograms.NAMES)


@pytest.mark.parametrize("name", pictograms.NAMES)
def test_a_drawing_is_an_svg_on_the_common_grid(name):
    root = drawing(name)
    assert root.tag == SVG + "svg"
    assert root.attrib == {"viewBox": "0 0 96 96"}


@pytest.mark.parametrize("name", pictograms.NAMES)
def test_a_drawing_holds_shapes_alone(name):
    """No text, script, style, event handler or reference can hide in it."""
    assert shapes(name)
    assert {shape.tag for shape in shapes(name)} <= SHAPES
    assert {key for shape in shapes(name) for key in shape.attrib} <= SHAPE_ATTRIBUTES
    assert not any((shape.text or "").strip() for shape in drawing(name).iter())


@pytest.mark.parametrize("name", pictograms.NAMES)
def test_a_drawing_uses_a_few_colours_of_the_palette(name):
    assert colours(name) <= PALETTE
    assert 2 <= len(colours(name)) <= 4


@pytest.mark.parametrize("name", pictograms.NAMES)
def test_a_drawing_is_small(name):
    assert len(pictograms.svg(name)) < 2048


def test_no_two_drawings_are_the_same():
    assert len({pictograms.svg(name) for name in pictograms.NAMES}) == len(pictograms.NAMES)


def test_no_two_drawings_share_an_outline():
    outlines = [shape.get("d") for name in pictograms.NAMES for shape in shapes(name)]
    paths = [outline for outline in outlines if outline]
    assert len(set(paths)) == len(paths)


@pytest.mark.parametrize("name", ["zeppelin", "", "../pictograms/anchor", "anchor.svg"])
def test_an_unknown_name_is_refused_by_name(name):
    with pytest.raises(pictograms.UnknownPictogram, match=re.escape(repr(name))):
        pictograms.svg(name)
