"""The size of an effect: Hedges' g with its interval, which SciPy does not have."""

import math
from collections.abc import Sequence

from scipy import special

from .intervals import CONFIDENCE, Interval
from .spread import mean, variance


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
