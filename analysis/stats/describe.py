"""A sample in a few numbers: mean and spread, confidence intervals, the box of a box plot, and quantiles.

The interval of a mean is Student's t in small samples and the bootstrap's in larger ones; that of a share is Wilson's
score.
"""

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import stats

# Smaller samples get a mean, but no interval and no test.
TOO_FEW = 5
# Smaller samples get Student's interval, because the bootstrap's is too narrow (see `research/intervals.py`), and a
# note that intervals and p values are rough.
FEW = 20
# Relative deviations below this are rounding errors.
ROUNDING = 1e-12
CONFIDENCE = 0.95
RESAMPLES = 9999
BOOTSTRAP_SEED = 20_240_229
# Values resampled at a time: they fit the CPU cache, which is ten times faster than all at once.
RESAMPLED_AT_ONCE = 50_000


def known(values: Iterable[float | None]) -> tuple[float, ...]:
    """The values that are neither None, infinite nor nan."""
    return tuple(float(v) for v in values if v is not None and math.isfinite(v))


def mean(values: Sequence[float]) -> float | None:
    return statistics.fmean(values) if values else None


def variance(values: Sequence[float]) -> float | None:
    """The unbiased variance; None for fewer than two values, and exactly 0 if they differ only by rounding."""
    if len(values) < 2:
        return None
    array = np.asarray(values)
    spread = float(array.var(ddof=1))
    return 0.0 if spread <= (ROUNDING * float(np.abs(array).max())) ** 2 else spread


def standard_deviation(values: Sequence[float]) -> float | None:
    spread = variance(values)
    return None if spread is None else math.sqrt(spread)


@dataclass(frozen=True)
class Interval:
    low: float
    high: float


def mean_interval(values: tuple[float, ...]) -> Interval | None:
    """The 95 % interval of a mean, as on every page; None for fewer than TOO_FEW values."""
    if len(values) < TOO_FEW:
        return None
    if variance(values) == 0:
        return Interval(values[0], values[0])
    return t_interval(values) if len(values) < FEW else bootstrap_interval(values)


def t_interval(values: tuple[float, ...]) -> Interval:
    """Student's interval of the mean."""
    error = np.std(values, ddof=1) / math.sqrt(len(values))
    low, high = stats.t.interval(CONFIDENCE, len(values) - 1, np.mean(values), error)
    return Interval(float(low), float(high))


# Pages are reloaded with the same data, which are the key.
@lru_cache(maxsize=256)
def bootstrap_interval(values: tuple[float, ...]) -> Interval:
    """The bias-corrected and accelerated (BCa) bootstrap interval of the mean, with a fixed seed."""
    limits = stats.bootstrap(
        # The interval must not depend on the order of the values.
        (np.sort(values),),
        np.mean,
        n_resamples=RESAMPLES,
        batch=max(1, RESAMPLED_AT_ONCE // len(values)),
        vectorized=True,
        confidence_level=CONFIDENCE,
        method="BCa",
        rng=np.random.default_rng(BOOTSTRAP_SEED),
    ).confidence_interval
    return Interval(float(limits.low), float(limits.high))


def median(values: Sequence[float]) -> float | None:
    return float(np.median(values)) if values else None


def median_interval(values: Sequence[float]) -> Interval | None:
    """The distribution-free interval of a median, between two of the values; None for fewer than six.

    The median lies below the k-th smallest value if fewer than k of n values lie below it, which is binomial.
    """
    place = int(stats.binom.ppf((1 - CONFIDENCE) / 2, len(values), 0.5))
    if place == 0:
        return None
    ordered = sorted(values)
    return Interval(ordered[place - 1], ordered[-place])


@lru_cache(maxsize=4096)
def wilson_interval(right: int, n: int) -> Interval | None:
    """Wilson's score interval of a share, which stays within 0 and 1 and needs no large n."""
    if n == 0:
        return None
    # The interval does not depend on the null hypothesis, and with the observed share the p value is quick to compute.
    test = stats.binomtest(right, n, p=right / n)
    limits = test.proportion_ci(CONFIDENCE, method="wilson")
    return Interval(float(limits.low), float(limits.high))


@dataclass(frozen=True)
class SampleSummary:
    """`sd` needs two values, `interval` (of the mean) needs TOO_FEW."""

    n: int
    mean: float | None = None
    sd: float | None = None
    interval: Interval | None = None


@dataclass(frozen=True)
class Box:
    """Quartiles, and whiskers to the furthest values within 1.5 interquartile ranges (Tukey)."""

    low: float
    first: float
    median: float
    third: float
    high: float


def summarise(values: Sequence[float]) -> SampleSummary:
    return SampleSummary(
        n=len(values),
        mean=mean(values),
        sd=standard_deviation(values),
        interval=mean_interval(tuple(values)),
    )


def box(values: Sequence[float]) -> Box | None:
    if not values:
        return None
    array = np.asarray(values)
    first, median, third = (float(q) for q in np.quantile(array, [0.25, 0.5, 0.75]))
    reach = 1.5 * (third - first)
    within = array[(array >= first - reach) & (array <= third + reach)]
    return Box(
        low=min(float(within.min()), first),
        first=first,
        median=median,
        third=third,
        high=max(float(within.max()), third),
    )


def quantile_of_classes(counts: Sequence[tuple[float, int]], share: float) -> float | None:
    """A quantile of (middle of a class, count), with the classes in ascending order."""
    wanted = share * sum(count for _, count in counts)
    seen = 0
    for middle, count in counts:
        seen += count
        if seen >= wanted and count:
            return middle
    return None
