"""A sample in a few numbers: its summary, the box of a box plot, and quantiles of counted classes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .intervals import Interval, bootstrap_interval
from .spread import mean, standard_deviation


@dataclass(frozen=True)
class SampleSummary:
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


def summarise(values: Sequence[float]) -> SampleSummary:
    return SampleSummary(
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


def quantile_of_classes(counts: Sequence[tuple[float, int]], share: float) -> float | None:
    """A quantile from (middle of the class, how many), the classes in ascending order."""
    wanted = share * sum(count for _, count in counts)
    seen = 0
    for middle, count in counts:
        seen += count
        if seen >= wanted and count:
            return middle
    return None
