"""How much of a distance is covered: a ratio of mean differences over the same learners, with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.stats import BOOTSTRAP_SEED, CONFIDENCE, Interval

RESAMPLES = 2000
# A way shorter than this, in accuracy, is too short to be divided by.
SHORTEST_WAY = 0.01


@dataclass(frozen=True)
class DistanceCovered:
    """The share of the way from one mean to another, and its bootstrap interval."""

    value: float
    interval: Interval


def share_of_way(
    start: Sequence[float], reached: Sequence[float], end: Sequence[float]
) -> DistanceCovered | None:
    """(mean reached − mean start)/(mean end − mean start), learner by learner; None of no way at all."""
    covered = np.subtract(reached, start)
    way = np.subtract(end, start)
    if way.mean() < SHORTEST_WAY:
        return None
    rng = np.random.default_rng(BOOTSTRAP_SEED)
    drawn = rng.integers(0, len(way), (RESAMPLES, len(way)))
    ways = way[drawn].mean(axis=1)
    # Where the way all but vanishes the ratio means nothing; its sign is kept.
    ratios = covered[drawn].mean(axis=1) / np.maximum(ways, SHORTEST_WAY / 10)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(ratios, [tail, 1 - tail])
    return DistanceCovered(float(covered.mean() / way.mean()), Interval(float(low), float(high)))
