"""A sample in a few numbers: by hand, and on thin data."""

import math

import pytest

from analysis import stats


def test_missing_values_are_left_out():
    assert stats.known([0.5, None, math.nan, math.inf, 1]) == (0.5, 1.0)


def test_a_summary_has_the_unbiased_spread():
    summary = stats.summarise((2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0))
    assert (summary.n, summary.mean) == (8, 5.0)
    assert summary.sd == pytest.approx(math.sqrt(32 / 7))


@pytest.mark.parametrize(
    ("values", "mean", "sd"),
    [((), None, None), ((0.3,), 0.3, None), ((0.1, 0.1, 0.1), pytest.approx(0.1), 0.0)],
)
def test_a_summary_of_little_says_little(values, mean, sd):
    summary = stats.summarise(values)
    assert (summary.n, summary.mean, summary.sd) == (len(values), mean, sd)
    assert summary.interval is None


def test_a_box_has_tukeys_whiskers():
    assert stats.box((1.0, 2.0, 3.0, 4.0, 5.0, 30.0)) == stats.Box(1.0, 2.25, 3.5, 4.75, 5.0)
    assert stats.box((2.0,)) == stats.Box(2.0, 2.0, 2.0, 2.0, 2.0)
    assert stats.box(()) is None


def test_quantiles_of_classes():
    classes = [(50.0, 1), (100.0, 2), (150.0, 1)]
    assert [stats.quantile_of_classes(classes, q) for q in (0, 0.25, 0.5, 0.76, 1)] == [
        50, 50, 100, 150, 150,
    ]  # fmt: skip
    assert stats.quantile_of_classes([], 0.5) is None
