"""The statistics of a comparison between teachers: pure functions over numbers.

Nothing here warns or raises for thin data: what cannot be said is None.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

Floats = NDArray[np.float64]

CONFIDENCE = 0.95
RESAMPLES = 4000
BOOTSTRAP_SEED = 20_240_229
# Below this, an arm is described by its mean alone: an interval or a test would be theatre.
TOO_FEW = 5
# Below this, intervals and p values are shown with a note that they are rough.
FEW = 20
# Random numbers drawn at a time: they stay in the processor's cache.
DRAWS_AT_ONCE = 50_000
# A spread below this share of the size of the values is rounding, not spread.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Interval:
    low: float
    high: float


@dataclass(frozen=True)
class Summary:
    """One arm. `sd` needs two values, `interval` (of the mean) needs TOO_FEW."""

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


@dataclass(frozen=True)
class Test:
    """A test of "no difference". `df2` is there for F alone."""

    statistic: float
    df: float
    p: float
    df2: float | None = None

    # The name is the domain's; pytest shall not collect it.
    __test__ = False


@dataclass(frozen=True)
class Comparison:
    """Two arms: the difference of their means, Welch's t, and the size of the effect."""

    difference: float
    interval: Interval | None = None
    test: Test | None = None
    p_holm: float | None = None
    g: float | None = None
    g_interval: Interval | None = None


def known(values: Iterable[float | None]) -> tuple[float, ...]:
    """The values that are there and finite."""
    return tuple(float(v) for v in values if v is not None and math.isfinite(v))


def mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def variance(values: Sequence[float]) -> float | None:
    """The unbiased variance; None of fewer than two, and exactly 0 where only rounding differs."""
    if len(values) < 2:
        return None
    array = np.asarray(values)
    spread = float(array.var(ddof=1))
    return 0.0 if spread <= (ROUNDING * float(np.abs(array).max())) ** 2 else spread


def standard_deviation(values: Sequence[float]) -> float | None:
    spread = variance(values)
    return None if spread is None else math.sqrt(spread)


def summarise(values: Sequence[float]) -> Summary:
    return Summary(
        n=len(values),
        mean=mean(values),
        sd=standard_deviation(values),
        interval=bootstrap_interval(tuple(values)),
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


# The page is opened again and again over the same answers: the key is the data themselves.
@lru_cache(maxsize=256)
def bootstrap_interval(values: tuple[float, ...]) -> Interval | None:
    """The bias-corrected and accelerated (BCa) bootstrap interval of the mean, by a fixed seed."""
    if len(values) < TOO_FEW:
        return None
    # The order in which people came must not move the interval.
    array = np.sort(values)
    if variance(values) == 0:
        return Interval(values[0], values[0])
    means = resampled_means(array)
    centre = float(array.mean())
    below = (np.count_nonzero(means < centre) + np.count_nonzero(means <= centre)) / 2
    bias = float(special.ndtri(below / len(means)))
    levels = [accelerated_level(z, bias, acceleration(array)) for z in normal_quantiles()]
    low, high = (float(q) for q in np.quantile(means, levels))
    return Interval(low, high)


def resampled_means(array: Floats) -> Floats:
    rng = np.random.default_rng(BOOTSTRAP_SEED)
    n, rows = len(array), max(1, DRAWS_AT_ONCE // len(array))
    sizes = [min(rows, RESAMPLES - start) for start in range(0, RESAMPLES, rows)]
    parts = [array.take(rng.integers(0, n, (size, n))).mean(axis=1) for size in sizes]
    return np.concatenate(parts)


def acceleration(array: Floats) -> float:
    """The jackknife's skewness of the mean, in closed form: leaving x out moves it by (x̄ − x)/(n−1)."""
    moved = array - array.mean()
    return float((moved**3).sum() / (6 * (moved**2).sum() ** 1.5))


def normal_quantiles() -> tuple[float, float]:
    z = float(special.ndtri((1 + CONFIDENCE) / 2))
    return -z, z


def accelerated_level(z: float, bias: float, speed: float) -> float:
    return float(special.ndtr(bias + (bias + z) / (1 - speed * (bias + z))))


def wilson_interval(right: int, n: int) -> Interval | None:
    """Wilson's score interval of a share, which stays within 0 and 1 and needs no large n."""
    if n == 0:
        return None
    z, share = normal_quantiles()[1], right / n
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return Interval(max(0.0, centre - half), min(1.0, centre + half))


def welch_anova(groups: Sequence[Sequence[float]]) -> Test | None:
    """Welch's test of equal means with unequal variances. None if an arm has no spread."""
    k = len(groups)
    spreads = [variance(group) for group in groups]
    if k < 2 or not all(spreads):
        return None
    sizes = np.array([len(group) for group in groups], dtype=float)
    means = np.array([mean(group) for group in groups], dtype=float)
    weights = sizes / np.array(spreads, dtype=float)
    total = weights.sum()
    between = (weights * (means - (weights * means).sum() / total) ** 2).sum() / (k - 1)
    h = float(((1 - weights / total) ** 2 / (sizes - 1)).sum())
    statistic = float(between / (1 + 2 * (k - 2) / (k**2 - 1) * h))
    df2 = (k**2 - 1) / (3 * h)
    return Test(statistic, df=k - 1, df2=df2, p=float(special.fdtrc(k - 1, df2, statistic)))


def kruskal_wallis(groups: Sequence[Sequence[float]]) -> Test | None:
    """The rank test of equal distributions. None if all values are the same."""
    if len(groups) < 2 or not all(groups) or len({v for group in groups for v in group}) < 2:
        return None
    result = stats.kruskal(*groups)
    return Test(float(result.statistic), df=len(groups) - 1, p=float(result.pvalue))


def compare(a: Sequence[float], b: Sequence[float]) -> Comparison | None:
    """a against b: mean(a) − mean(b), Welch's t with its interval, and Hedges' g."""
    if not a or not b:
        return None
    g = hedges_g(a, b)
    return Comparison(
        difference=math.fsum(a) / len(a) - math.fsum(b) / len(b),
        interval=difference_interval(a, b),
        test=welch_t(a, b),
        g=g,
        g_interval=None if g is None else hedges_interval(g, len(a), len(b)),
    )


def welch_t(a: Sequence[float], b: Sequence[float]) -> Test | None:
    """Welch's t. None with fewer than two values in an arm, or no spread in either."""
    spread_a, spread_b = variance(a), variance(b)
    if spread_a is None or spread_b is None or spread_a + spread_b == 0:
        return None
    part_a, part_b = spread_a / len(a), spread_b / len(b)
    t = (math.fsum(a) / len(a) - math.fsum(b) / len(b)) / math.sqrt(part_a + part_b)
    df = (part_a + part_b) ** 2 / (part_a**2 / (len(a) - 1) + part_b**2 / (len(b) - 1))
    return Test(t, df=df, p=float(2 * special.stdtr(df, -abs(t))))


def difference_interval(a: Sequence[float], b: Sequence[float]) -> Interval | None:
    """The interval of the difference of the means that belongs to Welch's t."""
    test = welch_t(a, b)
    if test is None:
        return None
    difference = math.fsum(a) / len(a) - math.fsum(b) / len(b)
    error = math.sqrt(float(np.var(a, ddof=1)) / len(a) + float(np.var(b, ddof=1)) / len(b))
    half = error * float(special.stdtrit(test.df, (1 + CONFIDENCE) / 2))
    return Interval(difference - half, difference + half)


def hedges_g(a: Sequence[float], b: Sequence[float]) -> float | None:
    """The difference in pooled standard deviations, with the exact correction for small samples."""
    spread_a, spread_b = variance(a), variance(b)
    if spread_a is None or spread_b is None or spread_a + spread_b == 0:
        return None
    m = len(a) + len(b) - 2
    pooled = math.sqrt(((len(a) - 1) * spread_a + (len(b) - 1) * spread_b) / m)
    d = (math.fsum(a) / len(a) - math.fsum(b) / len(b)) / pooled
    return d * small_sample_correction(m)


def small_sample_correction(m: int) -> float:
    """J(m) = Γ(m/2) / (√(m/2) Γ((m−1)/2)), about 1 − 3/(4m−1)."""
    return math.exp(math.lgamma(m / 2) - math.lgamma((m - 1) / 2)) / math.sqrt(m / 2)


def hedges_interval(g: float, n_a: int, n_b: int) -> Interval:
    """By the large-sample variance of g (Hedges and Olkin)."""
    both = n_a + n_b
    half = normal_quantiles()[1] * math.sqrt(both / (n_a * n_b) + g**2 / (2 * both))
    return Interval(g - half, g + half)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down correction, in the order given. What was not tested does not count."""
    tested = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    corrected: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, place) in enumerate(tested):
        largest = max(largest, min(1.0, (len(tested) - rank) * p))
        corrected[place] = largest
    return corrected


def spearman(x: Sequence[float], y: Sequence[float]) -> Test | None:
    """Spearman's rank correlation. None with too few pairs, or when a side does not vary."""
    if len(x) < TOO_FEW or len(set(x)) < 2 or len(set(y)) < 2:
        return None
    result = stats.spearmanr(x, y)
    return Test(float(result.statistic), df=len(x) - 2, p=float(result.pvalue))


def detectable_effect(n: int, power: float = 0.8) -> float | None:
    """The effect, in standard deviations, that two arms of n find with this power at the 5 % level."""
    if n < TOO_FEW:
        return None
    return (normal_quantiles()[1] + float(special.ndtri(power))) * math.sqrt(2 / n)


def quantile_of_classes(counts: Sequence[tuple[float, int]], share: float) -> float | None:
    """A quantile from (middle of the class, how many), the classes in rising order."""
    wanted = share * sum(count for _, count in counts)
    seen = 0
    for middle, count in counts:
        seen += count
        if seen >= wanted and count:
            return middle
    return None
