"""The chart_classes of the charts: one source for pages, files and reports."""

import re

from analysis.charts.axes import ARM_COLOURS, hue
from analysis.charts.svg import CHARTS, TOKENS, attributes, chart_classes, resolved, tokens
from tests.architecture import ROOT

COLOUR = re.compile(r"#[0-9a-f]{3,8}\b", re.IGNORECASE)


def by_night():
    night = TOKENS.read_text(encoding="utf-8").partition("(prefers-color-scheme: dark)")[2]
    return dict(re.findall(r"(--[\w-]+): (#[0-9a-f]{6});", night))


def test_a_file_has_the_colours_of_the_day():
    assert attributes("dot arm-2") == {"fill": tokens()["--arm-2"], "fill-opacity": "0.55"}
    assert attributes("dot arm-2")["fill"] != by_night()["--arm-2"]


def test_a_later_class_refines_an_earlier_one():
    assert attributes("hollow thin arm-1")["stroke-width"] == "1.2"
    assert attributes("hollow arm-1")["stroke-width"] == "1.8"


def test_a_shape_without_an_arm_has_the_colour_of_the_first():
    assert attributes("bar") == attributes("bar arm-1")


def test_variables_may_stand_for_variables():
    assert resolved("var(--a)", {"--a": "var(--b)", "--b": "#123456"}) == "#123456"


def test_every_look_is_resolved():
    for name in chart_classes():
        assert "var(" not in "".join(attributes(name).values())


def test_arms_and_paints_of_a_chart_have_colours_by_day_and_by_night():
    night = by_night()
    for place in range(ARM_COLOURS):
        name = f"--{hue(place)}"
        assert COLOUR.fullmatch(tokens()[name])
        assert night[name] != tokens()[name]
    assert len({tokens()[f"--{hue(place)}"] for place in range(ARM_COLOURS)}) == ARM_COLOURS


def test_the_palette_stands_in_the_tokens_alone():
    """Neither the charts' own sheet, nor the report's, nor the code knows a colour by its number."""
    own = [CHARTS, ROOT / "research/report.css", ROOT / "static/css/desk/study.css"]
    code = [*(ROOT / "analysis").rglob("*.py"), *(ROOT / "research").rglob("*.py")]
    for path in own + code:
        assert not COLOUR.search(path.read_text(encoding="utf-8")), path
