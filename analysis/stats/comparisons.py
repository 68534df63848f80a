"""Tests for differences between arms, Holm's correction, effect sizes and rank correlation.

Hedges' g, its interval and Holm's correction are computed here, because SciPy lacks them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from .describe import CONFIDENCE, ROUNDING, TOO_FEW, Interval, mean, variance

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class HypothesisTest:
    """Only F has `df2`."""

    statistic: float
    df: float
    p: float
    df2: float | None = None


@dataclass(frozen=True)
class PairwiseComparison:
    """Two arms: the difference of their means, Welch's t with its interval, and Hedges' g."""

    difference: float
    interval: Interval | None = None
    test: HypothesisTest | None = None
    p_holm: float | None = None
    g: float | None = None
    g_interval: Interval | None = None


def compare(a: Sequence[float], b: Sequence[float]) -> PairwiseComparison | None:
    """a against b: mean(a) − mean(b), Welch's t with its interval, and Hedges' g."""
    mean_a, mean_b = mean(a), mean(b)
    if mean_a is None or mean_b is None:
        return None
    g = hedges_g(a, b)
    test, interval = welch_t(a, b) or (None, None)
    return PairwiseComparison(
        difference=mean_a - mean_b,
        interval=interval,
        test=test,
        g=g,
        g_interval=None if g is None else hedges_interval(g, len(a), len(b)),
    )


def welch_t(a: Sequence[float], b: Sequence[float]) -> tuple[HypothesisTest, Interval] | None:
    """Welch's t, and the interval of the difference of the means that belongs to it.

    None with fewer than two values in an arm, or no spread in either.
    """
    spread_a, spread_b = variance(a), variance(b)
    if spread_a is None or spread_b is None or spread_a + spread_b == 0:
        return None
    # SciPy warns of lost precision if all values of an arm are equal and not 0; a shift does not change t.
    shift = a[0] if spread_a < spread_b else b[0]
    result = stats.ttest_ind(np.subtract(a, shift), np.subtract(b, shift), equal_var=False)
    limits = result.confidence_interval(CONFIDENCE)
    test = HypothesisTest(float(result.statistic), df=float(result.df), p=float(result.pvalue))
    return test, Interval(float(limits.low), float(limits.high))


def welch_p_values(a: Floats, b: Floats) -> Floats:
    """Welch's two-sided p (k,) of many samples (k, n); without any spread, 1 where the means are equal, else 0."""
    p = stats.ttest_ind_from_stats(
        a.mean(axis=1),
        a.std(axis=1, ddof=1),
        a.shape[1],
        b.mean(axis=1),
        b.std(axis=1, ddof=1),
        b.shape[1],
        equal_var=False,
    ).pvalue
    return np.where(np.isnan(p), 1.0, p)


def welch_anova(groups: Sequence[Sequence[float]]) -> HypothesisTest | None:
    """Welch's test of equal means with unequal variances. None if an arm has no spread."""
    if len(groups) < 2 or not all(variance(group) for group in groups):
        return None
    result = stats.f_oneway(*groups, equal_var=False)
    return HypothesisTest(
        float(result.statistic),
        df=len(groups) - 1,
        df2=welch_anova_df2(groups),
        p=float(result.pvalue),
    )


def welch_anova_df2(groups: Sequence[Sequence[float]]) -> float:
    """The second degrees of freedom of Welch's F, (k² − 1)/(3h), which SciPy does not return."""
    sizes = np.array([len(group) for group in groups], dtype=float)
    weights = sizes / np.array([np.var(group, ddof=1) for group in groups])
    h = ((1 - weights / weights.sum()) ** 2 / (sizes - 1)).sum()
    return float((len(groups) ** 2 - 1) / (3 * h))


def kruskal_wallis(groups: Sequence[Sequence[float]]) -> HypothesisTest | None:
    """The rank test of equal distributions. None if all values are the same."""
    if len(groups) < 2 or not all(groups) or len({v for group in groups for v in group}) < 2:
        return None
    result = stats.kruskal(*groups)
    return HypothesisTest(float(result.statistic), df=len(groups) - 1, p=float(result.pvalue))


@dataclass(frozen=True)
class RankCorrelation(HypothesisTest):
    """With the interval of ρ, which is None if |ρ| = 1."""

    interval: Interval | None = None


def spearman(x: Sequence[float], y: Sequence[float]) -> RankCorrelation | None:
    """None with too few pairs, or if one side does not vary."""
    if len(x) < TOO_FEW or len(set(x)) < 2 or len(set(y)) < 2:
        return None
    result = stats.spearmanr(x, y)
    rho = float(result.statistic)
    return RankCorrelation(
        rho, df=len(x) - 2, p=float(result.pvalue), interval=rank_interval(rho, len(x))
    )


def rank_interval(rho: float, n: int) -> Interval | None:
    """By Fisher's z, with the standard error of Bonett and Wright (2000): √((1 + ρ²/2)/(n − 3))."""
    if abs(rho) >= 1 - ROUNDING:
        return None
    reach = stats.norm.ppf((1 + CONFIDENCE) / 2) * math.sqrt((1 + rho**2 / 2) / (n - 3))
    low, high = np.tanh(np.arctanh(rho) + np.array([-reach, reach]))
    return Interval(float(low), float(high))


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down correction, in the given order. None is not counted as a test."""
    tested = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    corrected: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, place) in enumerate(tested):
        largest = max(largest, min(1.0, (len(tested) - rank) * p))
        corrected[place] = largest
    return corrected


def hedges_g(a: Sequence[float], b: Sequence[float]) -> float | None:
    """The difference in pooled standard deviations, with the exact correction for small samples."""
    spread_a, spread_b = variance(a), variance(b)
    mean_a, mean_b = mean(a), mean(b)
    if spread_a is None or spread_b is None or mean_a is None or mean_b is None:
        return None
    if spread_a + spread_b == 0:
        return None
    df = len(a) + len(b) - 2
    pooled = math.sqrt(((len(a) - 1) * spread_a + (len(b) - 1) * spread_b) / df)
    return (mean_a - mean_b) / pooled * small_sample_correction(df)


def small_sample_correction(df: int) -> float:
    """J(m) = Γ(m/2) / (√(m/2) Γ((m−1)/2)), about 1 − 3/(4m−1)."""
    return math.exp(math.lgamma(df / 2) - math.lgamma((df - 1) / 2)) / math.sqrt(df / 2)


def hedges_interval(g: float, n_a: int, n_b: int) -> Interval:
    """By the large-sample variance of g (Hedges and Olkin)."""
    both = n_a + n_b
    z = float(special.ndtri((1 + CONFIDENCE) / 2))
    half = z * math.sqrt(both / (n_a * n_b) + g**2 / (2 * both))
    return Interval(g - half, g + half)
