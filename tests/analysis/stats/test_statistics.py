"""The statistics of the results page: against scipy, by hand, and on thin data."""

import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from analysis import stats

RNG = np.random.default_rng(3)
GROUPS = [
    tuple(RNG.normal(0.10, 0.05, 14)),
    tuple(RNG.normal(0.16, 0.12, 9)),
    tuple(RNG.normal(0.08, 0.20, 21)),
]
SKEWED = tuple(RNG.exponential(1.0, 30))


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


def test_the_bootstrap_is_the_same_every_time():
    first = stats.bootstrap_interval(SKEWED)
    stats.bootstrap_interval.cache_clear()
    assert stats.bootstrap_interval(SKEWED) == first
    assert stats.bootstrap_interval(SKEWED[::-1]) == first
    assert first.low < np.mean(SKEWED) < first.high


def test_the_bootstrap_agrees_with_scipys_bca():
    theirs = scipy_stats.bootstrap(
        (SKEWED,), np.mean, n_resamples=20_000, method="BCa", rng=np.random.default_rng(1)
    ).confidence_interval
    ours = stats.bootstrap_interval(SKEWED)
    width = theirs.high - theirs.low
    assert ours.low == pytest.approx(theirs.low, abs=0.04 * width)
    assert ours.high == pytest.approx(theirs.high, abs=0.04 * width)


def test_the_bootstrap_in_parts_is_the_bootstrap(monkeypatch):
    whole = stats.resampled_means(np.asarray(SKEWED))
    monkeypatch.setattr(stats, "DRAWS_AT_ONCE", 100)
    in_parts = stats.resampled_means(np.asarray(SKEWED))
    assert len(in_parts) == stats.RESAMPLES
    np.testing.assert_allclose(in_parts, whole)


def test_without_spread_the_interval_is_a_point():
    assert stats.bootstrap_interval((0.4,) * 6) == stats.Interval(0.4, 0.4)


def test_the_acceleration_is_the_jackknifes():
    array = np.asarray(SKEWED)
    left_out = np.array([np.delete(array, place).mean() for place in range(len(array))])
    moved = left_out.mean() - left_out
    by_definition = (moved**3).sum() / (6 * (moved**2).sum() ** 1.5)
    assert stats.acceleration(array) == pytest.approx(by_definition)


def test_wilson_agrees_with_scipy():
    for right, n in [(0, 8), (3, 8), (8, 8), (57, 100)]:
        theirs = scipy_stats.binomtest(right, n).proportion_ci(method="wilson")
        ours = stats.wilson_interval(right, n)
        assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)
    assert stats.wilson_interval(0, 0) is None


def test_welchs_anova_by_hand():
    # Variances 1, 4, 1 of three values each: weights 3, 3/4, 3, that is 4/9, 1/9, 4/9 of their sum. Means 2, 4, 6
    # around 4 give (3·4 + 3·4)/2 = 12; h = (25 + 64 + 25)/81/2 = 19/27; F = 12/(1 + h/4), df2 = 8/(3h).
    test = stats.welch_anova([(1, 2, 3), (2, 4, 6), (5, 6, 7)])
    assert test.statistic == pytest.approx(1296 / 127)
    assert (test.df, test.df2) == (2, pytest.approx(72 / 19))


def test_welchs_anova_agrees_with_scipy():
    theirs = scipy_stats.f_oneway(*GROUPS, equal_var=False)
    ours = stats.welch_anova(GROUPS)
    assert (ours.statistic, ours.p) == pytest.approx((theirs.statistic, theirs.pvalue))


def test_welchs_anova_of_two_is_welchs_t_squared():
    anova, t = stats.welch_anova(GROUPS[:2]), stats.welch_t(*GROUPS[:2])
    assert (anova.statistic, anova.df2, anova.p) == pytest.approx((t.statistic**2, t.df, t.p))


def test_kruskal_wallis_is_scipys():
    theirs = scipy_stats.kruskal(*GROUPS)
    ours = stats.kruskal_wallis(GROUPS)
    assert (ours.statistic, ours.p, ours.df) == (theirs.statistic, theirs.pvalue, 2)


def test_welchs_t_and_its_interval_agree_with_scipy():
    theirs = scipy_stats.ttest_ind(GROUPS[0], GROUPS[1], equal_var=False)
    ours = stats.compare(GROUPS[0], GROUPS[1])
    found = (ours.test.statistic, ours.test.p, ours.test.df)
    assert found == pytest.approx((theirs.statistic, theirs.pvalue, theirs.df))
    limits = theirs.confidence_interval(0.95)
    assert (ours.interval.low, ours.interval.high) == pytest.approx((limits.low, limits.high))


def test_equal_means_have_an_interval_too():
    pair = stats.compare((1.0, 2.0, 3.0), (0.0, 2.0, 4.0))
    assert pair.test.p == pytest.approx(1)
    assert pair.interval.low == pytest.approx(-pair.interval.high)


def test_hedges_g_by_definition():
    a, b = (1.0, 2.0, 3.0, 4.0), (2.0, 4.0, 6.0, 8.0)
    # Variances 5/3 and 20/3, pooled 25/6; the exact J(6) is Γ(3) / (√3 Γ(2.5)).
    d = -2.5 / math.sqrt(25 / 6)
    j = math.gamma(3) / (math.sqrt(3) * math.gamma(2.5))
    assert stats.hedges_g(a, b) == pytest.approx(d * j)
    assert j == pytest.approx(1 - 3 / (4 * 6 - 1), abs=0.002)
    interval = stats.hedges_interval(d * j, 4, 4)
    error = math.sqrt(8 / 16 + (d * j) ** 2 / 16)
    assert interval.low == pytest.approx(d * j - 1.959964 * error, abs=1e-5)


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
    assert stats.spearman([1.0] * 8, x[:8]) is None
    assert stats.spearman(x[:4], y[:4]) is None


def test_the_detectable_effect_is_the_textbooks():
    # 64 in each of two groups find half a standard deviation with 80 % power.
    assert stats.detectable_effect(64) == pytest.approx(0.5, abs=0.01)
    assert stats.detectable_effect(4) is None


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


SAME, ONE, NONE = (0.1,) * 6, (0.2,), ()


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
    # One arm without spread can still be compared.
    assert stats.compare(SAME, GROUPS[0]).test is not None
