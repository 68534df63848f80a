"""Tests between arms: against the textbook's formulas, by hand, and on thin data."""

import math

import numpy as np
import pytest
from scipy import special
from scipy import stats as scipy_stats

from analysis import stats
from analysis.stats.comparisons import welch_p_values, welch_t
from tests.analysis.stats.samples import GROUPS, NONE, ONE, SAME


def welch_by_definition(a, b):
    """(t, df, p, low, high) of Welch's test, by Satterthwaite's degrees of freedom."""
    parts = [np.var(sample, ddof=1) / len(sample) for sample in (a, b)]
    difference, error = np.mean(a) - np.mean(b), math.sqrt(sum(parts))
    below = sum(part**2 / (len(sample) - 1) for part, sample in zip(parts, (a, b), strict=True))
    t, df = difference / error, sum(parts) ** 2 / below
    half = error * special.stdtrit(df, 0.975)
    return t, df, 2 * special.stdtr(df, -abs(t)), difference - half, difference + half


@pytest.mark.parametrize("pair", [(0, 1), (1, 2), (2, 0)])
def test_welchs_t_and_its_interval_are_the_textbooks(pair):
    a, b = (GROUPS[place] for place in pair)
    ours = stats.compare(a, b)
    found = (ours.test.statistic, ours.test.df, ours.test.p, ours.interval.low, ours.interval.high)
    assert found == pytest.approx(welch_by_definition(a, b), rel=1e-9)
    assert ours.difference == pytest.approx(np.mean(a) - np.mean(b))


def test_an_arm_of_equal_values_is_compared_like_any_other():
    expected = welch_by_definition(SAME, GROUPS[0])
    test, interval = welch_t(SAME, GROUPS[0])
    found = (test.statistic, test.df, test.p, interval.low, interval.high)
    assert found == pytest.approx(expected, rel=1e-9)
    mirrored, _ = welch_t(GROUPS[0], SAME)
    assert (mirrored.statistic, mirrored.p) == pytest.approx((-test.statistic, test.p))


def test_equal_means_have_an_interval_too():
    pair = stats.compare((1.0, 2.0, 3.0), (0.0, 2.0, 4.0))
    assert pair.test.p == pytest.approx(1)
    assert pair.interval.low == pytest.approx(-pair.interval.high)


def test_many_p_values_at_once_are_those_of_each_pair():
    rng = np.random.default_rng(7)
    a, b = rng.normal(0.2, 1, (50, 12)), rng.normal(0, 2, (50, 12))
    one_by_one = [welch_by_definition(*pair)[2] for pair in zip(a, b, strict=True)]
    np.testing.assert_allclose(welch_p_values(a, b), one_by_one, rtol=1e-9)


def test_p_values_without_any_spread_say_whether_the_means_are_equal():
    a, b = np.zeros((2, 3)), np.array([[0.0, 0.0, 0.0], [0.5, 0.5, 0.5]])
    assert list(welch_p_values(a, b)) == [1.0, 0.0]


def test_welchs_anova_by_hand():
    # Variances 1, 4, 1 of three values each: weights 3, 3/4, 3, that is 4/9, 1/9, 4/9 of their sum. Means 2, 4, 6
    # around 4 give (3·4 + 3·4)/2 = 12; h = (25 + 64 + 25)/81/2 = 19/27; F = 12/(1 + h/4), df2 = 8/(3h).
    test = stats.welch_anova([(1, 2, 3), (2, 4, 6), (5, 6, 7)])
    assert test.statistic == pytest.approx(1296 / 127)
    assert (test.df, test.df2) == (2, pytest.approx(72 / 19))
    assert test.p == pytest.approx(special.fdtrc(2, 72 / 19, 1296 / 127))


def test_the_p_value_of_welchs_anova_belongs_to_its_degrees_of_freedom():
    test = stats.welch_anova(GROUPS)
    assert test.p == pytest.approx(special.fdtrc(test.df, test.df2, test.statistic), rel=1e-9)


def test_welchs_anova_of_two_is_welchs_t_squared():
    anova, (t, _) = stats.welch_anova(GROUPS[:2]), welch_t(*GROUPS[:2])
    assert (anova.statistic, anova.df2, anova.p) == pytest.approx((t.statistic**2, t.df, t.p))


def test_kruskal_wallis_is_scipys():
    theirs = scipy_stats.kruskal(*GROUPS)
    ours = stats.kruskal_wallis(GROUPS)
    assert (ours.statistic, ours.p, ours.df) == (theirs.statistic, theirs.pvalue, 2)


def test_holm_by_hand():
    # Sorted: 0.01·4 = 0.04, 0.02·3 = 0.06, 0.03·2 = 0.06, 0.04·1 = 0.04 but never below 0.06.
    assert stats.holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert stats.holm([0.6, 0.7]) == [1.0, 1.0]
    assert stats.holm([]) == []


def test_what_was_not_tested_does_not_make_holm_stricter():
    assert stats.holm([None, 0.02, 0.5]) == [None, 0.04, 0.5]


def test_spearman_is_scipys_and_needs_two_sides_that_vary():
    x, y = list(GROUPS[0]), [value**2 - value for value in GROUPS[0]]
    assert stats.spearman(x, y).statistic == scipy_stats.spearmanr(x, y).statistic
    assert stats.spearman(x, x).interval is None
    assert stats.spearman([1.0] * 8, x[:8]) is None
    assert stats.spearman(x[:4], y[:4]) is None


@pytest.mark.parametrize("r", [0.0, 0.4, -0.8])
def test_the_interval_of_a_rank_correlation_holds_the_true_one_about_as_often_as_it_says(r):
    rng = np.random.default_rng(6)
    drawn = rng.multivariate_normal([0, 0], [[1, r], [r, 1]], size=(400, 30))
    true = 6 / np.pi * np.arcsin(r / 2)
    found = [stats.spearman(pairs[:, 0], pairs[:, 1]).interval for pairs in drawn]
    assert 0.92 <= np.mean([one.low <= true <= one.high for one in found]) <= 0.98


@pytest.mark.parametrize(
    "groups",
    [[], [GROUPS[0]], [GROUPS[0], NONE], [GROUPS[0], ONE], [SAME, SAME], [SAME, GROUPS[0]]],
)
def test_welchs_anova_of_thin_data_says_nothing(groups):
    assert stats.welch_anova(groups) is None


@pytest.mark.parametrize("groups", [[], [GROUPS[0]], [GROUPS[0], NONE], [SAME, SAME]])
def test_kruskal_wallis_of_thin_data_says_nothing(groups):
    assert stats.kruskal_wallis(groups) is None


def test_comparisons_of_thin_data_say_only_what_they_can():
    assert stats.compare(NONE, GROUPS[0]) is None
    for pair in (stats.compare(ONE, GROUPS[0]), stats.compare(SAME, SAME)):
        assert (pair.test, pair.g, pair.interval, pair.g_interval) == (None, None, None, None)
