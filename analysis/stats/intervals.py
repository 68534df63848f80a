"""Confidence intervals: of a mean by the bootstrap, of a share by Wilson's score."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import stats

from .spread import TOO_FEW, variance

CONFIDENCE = 0.95
RESAMPLES = 4000
BOOTSTRAP_SEED = 20_240_229
# Numbers resampled at a time: they stay in the processor's cache, which is ten times faster than all at once.
RESAMPLED_AT_ONCE = 50_000


@dataclass(frozen=True)
class Interval:
    low: float
    high: float


# The page is opened again and again over the same answers: the key is the data themselves.
@lru_cache(maxsize=256)
def bootstrap_interval(values: tuple[float, ...]) -> Interval | None:
    """The bias-corrected and accelerated (BCa) bootstrap interval of the mean, by a fixed seed."""
    if len(values) < TOO_FEW:
        return None
    if variance(values) == 0:
        return Interval(values[0], values[0])
    limits = stats.bootstrap(
        # The order in which people came must not move the interval.
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


@lru_cache(maxsize=4096)
def wilson_interval(right: int, n: int) -> Interval | None:
    """Wilson's score interval of a share, which stays within 0 and 1 and needs no large n."""
    if n == 0:
        return None
    # Only the interval is wanted. It is the same for every null hypothesis, and for the observed share SciPy need not
    # search for the p value.
    test = stats.binomtest(right, n, p=right / n)
    limits = test.proportion_ci(CONFIDENCE, method="wilson")
    return Interval(float(limits.low), float(limits.high))
