"""The confidence intervals: against every possible resample, and against the equation of the score."""

from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri

from analysis import stats
from analysis.stats.describe import bootstrap_interval, mean_interval, t_interval
from tests.analysis.stats.samples import SKEWED

Z = 1.959963984540054
# So small that all 7⁷ resamples can be listed, so skewed that the bias of the bootstrap counts.
LOPSIDED = (0.1, 0.2, 0.3, 0.5, 0.9, 1.7, 6.0)


def bca_by_definition(values: tuple[float, ...], *, has_bias: bool = True) -> tuple[float, float]:
    """Efron's BCa interval of the mean over every possible resample: nothing is drawn."""
    array = np.array(values)
    means = reduce(np.add.outer, [array] * len(array)).ravel() / len(array)
    # A sum of seven is not exact, and many resamples have the mean itself.
    below, equal = means < array.mean() - 1e-9, np.abs(means - array.mean()) <= 1e-9
    bias = ndtri(below.mean() + equal.mean() / 2) if has_bias else 0.0
    left_out = np.array([np.delete(array, place).mean() for place in range(len(array))])
    moved = left_out.mean() - left_out
    acceleration = (moved**3).sum() / (6 * (moved**2).sum() ** 1.5)
    levels = [ndtr(bias + (bias + z) / (1 - acceleration * (bias + z))) for z in (-Z, Z)]
    low, high = np.quantile(means, levels)
    return float(low), float(high)


def test_the_bootstrap_corrects_its_bias_and_its_skewness():
    low, high = bca_by_definition(LOPSIDED)
    ours = bootstrap_interval(LOPSIDED)
    assert ours.low == pytest.approx(low, abs=0.03)
    assert ours.high == pytest.approx(high, abs=0.08)
    # The tolerance tells the two apart: without its bias the interval would lie elsewhere.
    low, high = bca_by_definition(LOPSIDED, has_bias=False)
    assert ours.low - low > 0.05
    assert ours.high - high > 0.15


def test_the_bootstrap_is_the_same_every_time():
    first = bootstrap_interval(SKEWED)
    bootstrap_interval.cache_clear()
    assert bootstrap_interval(SKEWED) == first
    assert bootstrap_interval(SKEWED[::-1]) == first
    assert first.low < np.mean(SKEWED) < first.high


def test_a_large_sample_is_resampled_in_parts_that_stay_small():
    values = tuple(np.random.default_rng(4).exponential(1.0, 2000))
    interval = bootstrap_interval(values)
    error = np.std(values, ddof=1) / np.sqrt(len(values))
    assert interval.low == pytest.approx(np.mean(values) - Z * error, abs=0.2 * error)
    assert interval.high == pytest.approx(np.mean(values) + Z * error, abs=0.2 * error)


def test_students_interval_is_the_textbooks():
    # Mean 5, SD √(32/7), and t = 2.3646 with 7 degrees of freedom.
    half = 2.364624 * (32 / 7) ** 0.5 / 8**0.5
    interval = t_interval((2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0))
    assert (interval.low, interval.high) == pytest.approx((5 - half, 5 + half), abs=1e-5)


def test_below_twenty_the_interval_is_students_and_from_twenty_on_the_bootstraps():
    assert mean_interval(SKEWED[:19]) == t_interval(SKEWED[:19])
    assert mean_interval(SKEWED[:20]) == bootstrap_interval(SKEWED[:20])


def test_the_interval_of_six_covers_the_truth_about_as_often_as_it_says():
    samples = np.random.default_rng(1).normal(0.1, 0.2, (2000, 6))
    intervals = [mean_interval(tuple(sample)) for sample in samples]
    assert 0.935 < np.mean([one.low <= 0.1 <= one.high for one in intervals]) < 0.965


@pytest.mark.parametrize("n", [6, 25])
def test_without_spread_the_interval_is_a_point(n):
    assert mean_interval((0.4,) * n) == stats.Interval(0.4, 0.4)


def test_fewer_than_five_have_no_interval():
    assert mean_interval((0.1, 0.2, 0.3, 0.4)) is None
    assert mean_interval((0.1, 0.2, 0.3, 0.4, 0.5)) is not None


@given(st.integers(1, 400), st.data())
def test_wilsons_bounds_solve_its_equation(n, data):
    right = data.draw(st.integers(0, n))
    interval = stats.wilson_interval(right, n)
    assert 0 <= interval.low <= right / n <= interval.high <= 1
    for bound in (interval.low, interval.high):
        expected = Z * (bound * (1 - bound) / n) ** 0.5
        assert abs(right / n - bound) == pytest.approx(expected, abs=1e-7)


def test_wilsons_interval_covers_the_truth_about_as_often_as_it_says():
    rights = np.random.default_rng(0).binomial(60, 0.9, 2000)
    intervals = [stats.wilson_interval(int(right), 60) for right in rights]
    hits = [interval.low <= 0.9 <= interval.high for interval in intervals]
    assert 0.92 < np.mean(hits) < 0.98


def test_none_of_none_has_no_interval():
    assert stats.wilson_interval(0, 0) is None


@pytest.mark.parametrize("n", [6, 7, 20, 101])
def test_the_interval_of_a_median_holds_it_as_often_as_it_says_and_no_narrower_one_does(n):
    values = [float(value) for value in np.random.default_rng(n).permutation(n)]
    interval = stats.median_interval(values)
    # Of n draws that fall below the true median by the toss of a coin, the interval of the values in order.
    low, high = int(interval.low), int(interval.high)
    tosses = np.random.default_rng(1).integers(0, 2, (40_000, n)).sum(axis=1)

    def held(shift):
        return np.mean((tosses > low + shift) & (tosses < high + 1 - shift))

    assert (low + high, interval) == (n - 1, stats.median_interval(values[::-1]))
    assert held(0) >= 0.945
    assert held(1) <= 0.955


def test_five_values_say_too_little_about_their_median():
    assert stats.median_interval([1.0, 2.0, 3.0, 4.0, 5.0]) is None
    assert (stats.median([]), stats.median([3.0, 1.0, 2.0])) == (None, 2.0)
