"""Numbers as people read them."""

import subprocess
import sys

import pytest

from analysis.charts import formatting
from analysis.stats import Interval
from tests.architecture import ROOT

NBSP = "\N{NO-BREAK SPACE}"


def test_a_minus_is_a_minus_sign():
    assert formatting.plain(-0.5) == formatting.decimal(-0.5, 1) == "\N{MINUS SIGN}0.5"
    assert formatting.decimal(-0.0004, 3) == "0.000"


@pytest.mark.parametrize(
    ("share", "text"), [(0.123, "+12.3"), (-0.05, "−5.0"), (0.0, "+0.0"), (-1e-17, "+0.0")]
)
def test_points_carry_their_sign_but_nought_is_never_negative(share, text):
    assert formatting.signed_points(share) == text
    assert formatting.points_with_unit(share) == f"{text}{NBSP}points"


@pytest.mark.parametrize(("share", "text"), [(0.1, "+10"), (0, "0"), (-0.2, "−20")])
def test_an_axis_has_whole_points(share, text):
    assert formatting.signed_tick(share) == text


def test_what_is_not_known_is_a_dash():
    shown = (
        formatting.points,
        formatting.points_with_unit,
        formatting.spread,
        formatting.share,
        formatting.seconds,
    )
    assert {show(None) for show in shown} == {formatting.decimal(None, 2), "–"}
    assert formatting.points_interval(None) == formatting.share_interval(None) == "–"


def test_shares_times_and_intervals():
    assert formatting.share(0.9375) == f"93.8{NBSP}%"
    assert formatting.share(0.9375, places=0) == f"94{NBSP}%"
    assert formatting.seconds(1234) == f"1.23{NBSP}s"
    assert formatting.points_interval(Interval(-0.01, 0.2)) == "−1.0 to +20.0"
    assert formatting.share_interval(Interval(0.5, 0.61)) == "50.0 to 61.0"


@pytest.mark.parametrize(
    ("p", "text"), [(0.2, "p = 0.200"), (0.001, "p = 0.001"), (0.00099, "p < 0.001")]
)
def test_p_values_are_never_zero(p, text):
    assert formatting.p_words(p) == text.replace(" ", NBSP)


@pytest.mark.parametrize(
    ("values", "places"), [([12345.6, 2], 0), ([1.5], 3), ([0.0123, 0.001], 5), ([0.0], 2), ([], 2)]
)
def test_decimals_show_the_largest_with_four_digits(values, places):
    assert formatting.places_for(values) == places


def test_names_in_a_sentence():
    assert formatting.in_words(["A"]) == "A"
    assert formatting.in_words(["A", "B", "C"]) == "A, B and C"


def test_words_load_no_numerics():
    """Lists in the admin use them, and a server starts without numerics."""
    code = "import sys, analysis.charts.formatting; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("False\n", "")
