"""The figures: they hold what they should, stand alone, and are well formed on any numbers."""

from itertools import pairwise
from xml.etree import ElementTree

import pytest

from analysis.charts import axes
from analysis.charts.accuracies import (
    ArmAccuracies,
    ArmConfusion,
    ArmCurves,
    StepAccuracy,
    accuracy_plot,
    confusion_plot,
    curve_plot,
)
from analysis.charts.distributions import (
    ArmPoints,
    ArmTimes,
    ArmValues,
    box_plot,
    histogram,
    scatter,
    times_plot,
)
from analysis.charts.formatting import signed_points, signed_tick
from analysis.charts.pdf import pdf
from analysis.charts.shapes import Circle, Drawing, Path, Rect, Text
from analysis.charts.svg import attributes, svg, svg_file
from analysis.stats import Box, summarise, wilson_interval
from tests.analysis.charts.pdf_reader import content_of, texts_of

SVG = "{http://www.w3.org/2000/svg}"
NASTY = "<b>\"&'</b>"


def arm(name: str, values: tuple[float, ...]) -> ArmValues:
    return ArmValues(name, values, summarise(values))


def gain_plot(*arms: ArmValues) -> Drawing:
    return box_plot(
        title="Teaching gain",
        axis="gain",
        arms=arms,
        show_tick=signed_tick,
        show_mean=signed_points,
        has_zero=True,
    )


def styled(drawing: Drawing, name: str) -> list:
    return [shape for shape in drawing.shapes if name in shape.style.split()]


def texts(drawing: Drawing) -> list[str]:
    return [shape.text for shape in drawing.shapes if isinstance(shape, Text)]


def step(number: int, right: int, n: int) -> StepAccuracy:
    return StepAccuracy(number, n, right / n, wilson_interval(right, n))


SOME = tuple(place / 20 - 0.2 for place in range(9))
CURVE = [step(number, 4 + number % 5, 9) for number in range(1, 21)]
ALL_FIGURES = {
    "box": gain_plot(arm("JEDI", SOME), arm(NASTY, (0.1, 0.2))),
    "box of nobody": gain_plot(arm("JEDI", ()), arm("RT", ())),
    "box without arms": gain_plot(),
    "box of one value": gain_plot(arm("JEDI", (0.3,) * 7)),
    "accuracy": accuracy_plot("A", [ArmAccuracies("JEDI", summarise(SOME), summarise((0.9,)))]),
    "accuracy of nobody": accuracy_plot("A", [ArmAccuracies("JEDI", summarise(()), summarise(()))]),
    "curves": curve_plot(
        "C", [ArmCurves("JEDI", CURVE, CURVE[:3]), ArmCurves("RT", [], [])], chance=0.5
    ),
    "curves of nobody": curve_plot("C", [], chance=0.2),
    "histogram": histogram("H", "n", [(4.0, 3), (4.5, 0), (5.0, 1)]),
    "histogram of one": histogram("H", "n", [(4.0, 3)]),
    "histogram of nobody": histogram("H", "n", []),
    "histogram of empty classes": histogram("H", "n", [(4.0, 0), (4.5, 0)]),
    "histogram of shares": histogram("H", "n", [(4.0, 0.3), (4.5, 99.7)], y_axis="share, %"),
    "scatter": scatter("S", "x", "y", [ArmPoints("JEDI", [(4.0, 0.1)])]),
    "scatter of nobody": scatter("S", "x", "y", []),
    "scatter without a name": scatter("S", "x", "y", [ArmPoints("", [(4.0, 0.1), (5.0, 0.2)])]),
    "confusion": confusion_plot("K", (NASTY, "domestic"), [ArmConfusion("JEDI", ((8, 2), (0, 0)))]),
    "confusion of twenty": confusion_plot(
        "K", [f"Pieris species {n}" for n in range(20)], [ArmConfusion("JEDI", [[5] * 20] * 20)]
    ),
    "times": times_plot(
        "T",
        [
            ArmTimes("JEDI", "teaching", Box(0.2, 0.5, 0.8, 1.1, 2.4)),
            ArmTimes("JEDI", "evaluation", None),
        ],
    ),
    "times of nobody": times_plot("T", []),
}


@pytest.fixture(params=ALL_FIGURES)
def drawing(request) -> Drawing:
    return ALL_FIGURES[request.param]


def test_a_figure_in_a_page_is_well_formed_and_brings_no_colour(drawing):
    text = svg(drawing)
    assert ElementTree.fromstring(text).get("role") == "img"
    assert "style=" not in text
    assert "#" not in text
    assert "nan" not in text


def test_a_figure_as_a_file_stands_alone(drawing):
    root = ElementTree.fromstring(svg_file(drawing))
    assert root.tag == f"{SVG}svg"
    assert root.find(f"{SVG}title").text == drawing.title
    for group in root.iter(f"{SVG}g"):
        assert "class" not in group.attrib
        assert {"fill", "stroke"} & group.attrib.keys()
    assert "var(" not in svg_file(drawing)
    assert "--" not in svg_file(drawing)


def test_every_shape_lies_on_the_paper(drawing):
    for shape in drawing.shapes:
        if isinstance(shape, Text | Circle | Rect):
            assert -1 <= shape.x <= drawing.width
            assert -1 <= shape.y <= drawing.height
        if isinstance(shape, Path):
            assert all(-1 <= x <= drawing.width for x, _ in shape.points)


def test_every_shape_has_its_look(drawing):
    for shape in drawing.shapes:
        values = attributes(shape.style)
        assert {"fill", "stroke"} & values.keys()
        assert isinstance(shape, Text) == ("font-size" in values)


def test_a_figure_as_a_pdf_has_every_shape_and_every_word(drawing):
    content = content_of(pdf(drawing))
    assert content.count(b"q\n") == content.count(b"Q\n") == len(drawing.shapes)
    assert "".join(piece.text for piece in texts_of(pdf(drawing))) == "".join(texts(drawing))


def test_the_same_figure_gives_the_same_pdf(drawing):
    assert pdf(drawing) == pdf(drawing)


def test_every_participant_is_a_mark():
    drawing = gain_plot(arm("JEDI", SOME), arm("RT", (0.1, 0.1, 0.3)))
    assert len(styled(drawing, "dot")) == 12
    assert [len(styled(drawing, hue)) > 0 for hue in ("arm-1", "arm-2", "arm-3")] == [
        True, True, False,
    ]  # fmt: skip
    assert {"n = 9", "n = 3", "JEDI", "RT", "0"} <= set(texts(drawing))
    # A box of three would pretend to know quartiles.
    assert len(styled(drawing, "box")) == 1
    assert len(styled(drawing, "mean")) == 2


def test_a_mark_lies_at_its_value():
    drawing = gain_plot(arm("JEDI", (-0.2, 0.0, 0.2)))
    heights = [dot.y for dot in styled(drawing, "dot")]
    (zero,) = styled(drawing, "zero")
    assert heights[1] == zero.y1
    assert heights[0] - heights[1] == pytest.approx(heights[1] - heights[2])


def test_a_crowd_has_smaller_marks():
    assert axes.dot_size(0) == axes.dot_size(60) > axes.dot_size(200) > 1
    assert axes.dot_size(100_000) > 1


def test_arms_differ_in_shape_and_not_in_colour_alone():
    marks = [axes.mark(place, 0, 0, 3, "dot") for place in range(4)]
    assert [type(mark) for mark in marks] == [Circle, Rect, Path, Path]
    assert [len(mark.points) for mark in marks[2:]] == [3, 4]


def test_the_same_numbers_give_the_same_drawing():
    assert svg(gain_plot(arm("JEDI", SOME))) == svg(gain_plot(arm("JEDI", SOME[::-1])))
    places = [axes.jitter(place) for place in range(500)]
    assert -0.5 <= min(places) <= max(places) <= 0.5
    assert all(abs(a - b) > 0.3 for a, b in pairwise(places))


def test_steps_with_few_answers_are_not_drawn():
    few = [step(1, 1, 4), step(2, 2, 4)]
    drawing = curve_plot("C", [ArmCurves("JEDI", few, few)], chance=0.5)
    assert any("fewer than" in text for text in texts(drawing))


def test_first_seen_marks_show_where_images_came_again():
    first = [step(number, 3, 6) for number in range(4, 10)]
    drawing = curve_plot("C", [ArmCurves("JEDI", CURVE, CURVE[:3] + first)], chance=0.5)
    assert len(styled(drawing, "thin")) == len(first)


def test_a_confusion_shows_shares_and_counts():
    drawing = confusion_plot("K", ("wild", "domestic"), [ArmConfusion("JEDI", ((8, 2), (5, 15)))])
    assert {"80 %", "20 %", "25 %", "75 %", "8", "2", "5", "15"} <= set(texts(drawing))


def test_guessing_is_drawn_where_the_number_of_classes_puts_it():
    for chance in (0.5, 0.2):
        drawing = curve_plot("C", [ArmCurves("JEDI", CURVE, [])], chance=chance)
        (line,) = styled(drawing, "zero")
        heights = [shape.y1 for shape in styled(drawing, "grid")]
        floor, top = max(heights), min(heights)
        assert (floor - line.y1) / (floor - top) == pytest.approx(chance)


@pytest.mark.parametrize("classes", [3, 4, 5, 9, 20])
def test_a_confusion_of_many_classes_stays_within_the_figure(classes):
    names = [f"A species with a long name {n}" for n in range(classes)]
    counts = [[80 if a == b else 3 for a in range(classes)] for b in range(classes)]
    arms = [ArmConfusion(name, counts) for name in ("JEDI", "IMT", "EER", "RT")]
    drawing = confusion_plot("K", names, arms)
    cells = styled(drawing, "cell")
    assert len(cells) == 4 * classes**2
    assert all(cell.x >= 0 and cell.x + cell.width <= drawing.width for cell in cells)
    # No two cells share ground.
    assert len({(round(cell.x, 3), round(cell.y, 3)) for cell in cells}) == len(cells)
    share = f"{8000 / (80 + 3 * (classes - 1)):.0f}"
    shown = share + (" %" if classes < 4 else "")
    assert texts(drawing).count(shown) == 4 * classes
    assert all(text.y <= drawing.height for text in drawing.shapes if isinstance(text, Text))


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (-0.2, 0.5, [-0.2, 0, 0.2, 0.4, 0.6]),
        (0, 3, [0, 1, 2, 3]),
        (3, 3, [2.4, 2.6, 2.8, 3, 3.2, 3.4, 3.6]),
    ],
)
def test_ticks_are_round_and_span_the_range(low, high, expected):
    assert axes.ticks(low, high) == expected


def test_points_without_a_name_have_no_legend():
    drawing = ALL_FIGURES["scatter without a name"]
    assert not any("solid" in shape.style for shape in drawing.shapes)
    assert any("solid" in shape.style for shape in ALL_FIGURES["scatter"].shapes)
