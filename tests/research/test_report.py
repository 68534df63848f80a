"""The report: one file, nothing fetched, every number to take away."""

import base64
import csv
import re
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest

from analysis.charts.pdf import REGULAR, width_of
from analysis.charts.shapes import Line, Path, Text
from analysis.stats import summarise
from research import report
from research.experiment import run
from research.figures import (
    Dots,
    convergence_plot,
    dot_plot,
    first_phases,
    log_ticks,
    phase_scatter,
)
from research.report import mean_curve, with_interval
from research.teachers import Condition, compared_row

from .builders import Dice


@pytest.fixture
def written(tmp_path):
    results = run(Dice(), tmp_path)
    told = report.Report("Dice & <chance>", Dice().report(results), {"seeds": 3}, {"numpy": "2"})
    return report.write(told, tmp_path)


class Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))


def test_the_report_asks_nobody_for_anything(written):
    text = written.read_text()
    tags = Tags(text).tags
    assert not {"script", "link", "img", "iframe", "object"} & {tag for tag, _ in tags}
    addresses = [v for _, attrs in tags for k, v in attrs.items() if k in ("src", "href", "style")]
    assert addresses and all(address.startswith("data:text/csv") for address in addresses)
    assert "url(" not in text and "@import" not in text


def test_the_numbers_are_in_the_folder_and_in_the_page(written):
    rows = list(csv.reader((written.parent / "eyes.csv").read_text().splitlines()))
    assert rows == [["cell", "seed", "eyes"], ["red", "0", "0.333333"], ["a,b", "1", "2"]]
    inside = re.search(
        r'download="eyes.csv" href="data:text/csv;base64,([^"]+)"', written.read_text()
    )
    assert base64.b64decode(inside[1]) == (written.parent / "eyes.csv").read_bytes()
    assert (written.parent / "line.csv").exists()


def test_settings_are_told_as_people_write_them():
    settings = {"classes": [2, 3], "paths": [], "is_plain": True, "beta": 0.5, "data": None}
    told = report.Report("t", [], settings).settings_in_words
    assert list(told.values()) == ["2, 3", "", "yes", "0.5", "none"]


def test_a_table_in_a_terminal_has_its_numbers_below_each_other():
    table = report.ReportTable(
        "T", ["", "a", "long"], [["x", "1.5", "2"], ["yy", "10", "3"]], "C.", None
    )
    assert report.as_text(table).splitlines() == [
        "T. C.",
        "",
        "      a  long",
        "x   1.5     2",
        "yy   10     3",
    ]


def test_what_is_written_is_escaped(written):
    text = written.read_text()
    assert "<title>Dice &amp; &lt;chance&gt;</title>" in text
    assert "Two &lt; three" in text and "No more &amp; no less." in text


def test_settings_and_versions_are_told(written):
    assert "<dt>seeds</dt><dd>3</dd>" in written.read_text()
    assert set(report.versions()) == {
        "JEDI Web",
        "Python",
        "numpy",
        "scipy",
        "django",
        "machine",
    }


def test_every_class_of_a_drawing_has_its_colours_by_day_and_by_night():
    sheet = report.style_sheet()
    assert "prefers-color-scheme: dark" in sheet
    for place in range(1, 8):
        assert sheet.count(f"--arm-{place}:") == 2
        assert f".plot .arm-{place} " in sheet
    assert ".plot .curve { fill: none; stroke: var(--hue); stroke-width: 2; }" in sheet
    assert "var(--ink)" in sheet


def test_a_mean_curve_has_students_interval():
    curve = mean_curve("a", [0, 5], [[1.0, 4.0], [3.0, 4.0]])
    np.testing.assert_allclose(curve.mean, [2.0, 4.0])
    np.testing.assert_allclose(curve.high - curve.mean, [12.7062, 0.0], atol=1e-4)


def test_one_seed_has_no_interval():
    curve = mean_curve("a", [0], [[1.0]])
    assert curve.low[0] == curve.high[0] == 1.0


def test_a_published_number_is_placed_in_standard_deviations():
    def last_cells(published, values):
        return compared_row(Condition("rt"), published, 1, lambda _: values)[4:]

    values = [1.0, 2.0, 3.0, 4.0, 5.0]
    assert last_cells(3 - 2 * np.std(values, ddof=1), values)[1] == "−2.0"
    assert last_cells(4.0, [3.0, 3.0])[1] == "–"
    assert last_cells(None, [1.0, 2.0, 3.0]) == ["2.0", "–"]
    assert with_interval(summarise([]), 1) == "–"
    assert re.fullmatch(r"3\.0 \[\d\.\d, \d\.\d\]", with_interval(summarise(values), 1))


def test_a_convergence_plot_stays_within_its_frame():
    curves = [
        mean_curve(f"teacher {k}", [0, 5, 10], [[0.5, 0.9, 1.0], [0.1, 1.0, 1.0]]) for k in range(7)
    ]
    drawing = convergence_plot("t", "accuracy", curves, highest=1.0)
    ys = [y for s in drawing.shapes if isinstance(s, Path) for _, y in s.points]
    assert min(ys) >= 0 and max(ys) <= drawing.height
    assert {f"arm-{k}" for k in range(1, 8)} == {
        word for s in drawing.shapes for word in s.style.split() if word.startswith("arm-")
    }
    assert {"0", "1"} <= {s.text for s in drawing.shapes if isinstance(s, Text)}


@pytest.mark.parametrize(
    "low, high, expected",
    [(0.6, 45, [0.5, 1, 2, 5, 10, 20, 50]), (1, 1, [1, 2]), (10, 15, [10, 20])],
)
def test_logarithmic_marks_span_the_range(low, high, expected):
    assert log_ticks(low, high) == expected


def test_a_logarithmic_plot_has_even_steps_for_even_factors():
    curve = mean_curve("a", [0, 5, 10], [[1.0, 10.0, 100.0]])
    drawing = convergence_plot("t", "distance", [curve], is_logarithmic=True)
    line = next(s for s in drawing.shapes if s.style.startswith("curve"))
    (_, a), (_, b), (_, c) = line.points
    assert a - b == pytest.approx(b - c)


def spans(drawing):
    """Where each small text lies: its height, its left and its right end."""
    for shape in drawing.shapes:
        if isinstance(shape, Text) and shape.style == "tick":
            width = width_of(shape.text, REGULAR, 12)
            left = shape.x - {"start": 0, "middle": width / 2, "end": width}[shape.anchor]
            yield shape.y, left, left + width


def test_texts_of_a_legend_neither_overlap_nor_leave_the_paper():
    names = [
        "harmonic",
        "regularised harmonic",
        "tracked",
        "running accuracy",
        "learning curve of others",
    ]
    drawing = convergence_plot(
        "t",
        "loss",
        [mean_curve(name, [0, 5], [[0.5, 0.9]]) for name in names],
        x_axis="answers seen",
    )
    assert {*names, "answers seen"} <= {s.text for s in drawing.shapes if isinstance(s, Text)}
    texts = sorted(spans(drawing))
    assert all(left >= 0 and right <= drawing.width for _, left, right in texts)
    for (y, _, right), (below, left, _) in pairwise(texts):
        assert y != below or right < left


def test_a_curve_of_one_step_has_whole_steps_and_a_line_for_its_interval():
    drawing = convergence_plot("t", "loss", [mean_curve("a", [0], [[0.5], [0.9]])])
    assert not {"0.2", "0.4"} & {
        s.text for s in drawing.shapes if isinstance(s, Text) and s.y > 260
    }
    (whisker,) = [s for s in drawing.shapes if s.style.startswith("hair")]
    (_, high), (_, low) = whisker.points
    assert high < low


def test_one_mark_in_a_row_needs_no_legend():
    names = ["running accuracy", "learning curve of others"]
    rows = [Dots(name, [summarise([0.2, 0.4, 0.6])]) for name in names]
    drawing = dot_plot("t", "loss", ["mean"], rows)
    assert "mean" not in {s.text for s in drawing.shapes if isinstance(s, Text)}


def test_no_line_runs_through_the_name_of_a_row():
    rows = [Dots("learning curve of others", [summarise([0.2, 0.4])])] * 3
    drawing = dot_plot("t", "loss", ["mean"], rows)
    ends = {s.x for s in drawing.shapes if isinstance(s, Text) and s.anchor == "end"}
    assert all(max(ends) < min(s.x1, s.x2) for s in drawing.shapes if isinstance(s, Line))


def test_an_example_has_the_colour_of_the_phase_that_showed_it_first():
    chosen = [7] * 100 + [7, 3] + [3] * 98 + [5] * 300
    assert first_phases(chosen) == {7: 0, 3: 1, 5: 2}
    assert first_phases(chosen, stride=250) == {7: 0, 5: 2}
    assert first_phases([1] * 300 + [2] * 400) == {1: 0, 2: 3}


def test_the_scatter_draws_the_best_line_through_the_middle():
    features = np.array([[1.0, 2.0], [-3.0, 4.0], [2.0, -2.0]])
    drawing = phase_scatter("t", features, np.array([1, -1, 1]), [0, 1], np.array([1.0, 1.0]))
    line = next(s for s in drawing.shapes if s.style == "plane")
    # The paper of a drawing has its y downwards.
    assert line.x1 - line.x2 == pytest.approx(line.y1 - line.y2)
    assert sum("phase-1" in s.style for s in drawing.shapes) == 3
