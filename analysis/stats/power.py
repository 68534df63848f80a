"""Power and sample size: by formula, and by resampling simulated workers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, stats

from .comparisons import welch_p_values
from .describe import CONFIDENCE, TOO_FEW

Floats = NDArray[np.float64]

MIN_N, MAX_N = 2, 20_000
DRAWS = 1000
DEFAULT_POWER = 0.8
SEED = 0
# Values drawn at a time, which bounds memory.
AT_ONCE = 2_000_000


@dataclass(frozen=True)
class Question:
    """The difference of means to detect, with the level and the power of the test."""

    effect: float
    alpha: float = 0.05
    power: float = DEFAULT_POWER

    def __post_init__(self) -> None:
        if not (math.isfinite(self.effect) and self.effect > 0):
            raise ValueError("The effect is a difference above 0.")
        if not (0 < self.alpha < 1 and 0 < self.power < 1):
            raise ValueError("Alpha and power lie between 0 and 1.")

    def at(self, alpha: float) -> Question:
        """The same question at another level."""
        return replace(self, alpha=alpha)


def power_by_formula(n: int, effect: float, sd: float, alpha: float) -> float:
    """The power of the two-sided t test with n in each of two arms of equal spread.

    Under the alternative t has the noncentral distribution with 2n − 2 degrees of freedom and noncentrality
    (effect/sd)·√(n/2).
    """
    if sd == 0:
        return 1.0
    df, shift = 2 * n - 2, effect / sd * math.sqrt(n / 2)
    edge = stats.t.ppf(1 - alpha / 2, df)
    # SciPy returns nan where the far tail underflows; there the power is 1.
    above, below = stats.nct.sf(edge, df, shift), stats.nct.cdf(-edge, df, shift)
    return float(np.nan_to_num(above, nan=1.0) + np.nan_to_num(below, nan=0.0))


def detectable_effect(n: int, alpha: float = 1 - CONFIDENCE) -> float | None:
    """The effect, in standard deviations, that two arms of n detect with DEFAULT_POWER."""
    if n < TOO_FEW:
        return None
    # An upper bound, because t has heavier tails than the normal distribution.
    largest = 2 * (stats.t.isf(alpha / 2, 2 * n - 2) + stats.t.isf(1 - DEFAULT_POWER, 2 * n - 2))
    return float(
        optimize.brentq(
            lambda effect: power_by_formula(n, effect, 1.0, alpha) - DEFAULT_POWER,
            0.0,
            largest * math.sqrt(2 / n),
        )
    )


def needed_by_formula(question: Question, sd: float) -> int | None:
    """The smallest number of workers per arm whose power is enough; None above MAX_N."""
    return smallest_n(
        lambda n: power_by_formula(n, question.effect, sd, question.alpha) >= question.power
    )


def pooled_sd(groups: Sequence[Sequence[float]]) -> float | None:
    """The spread within arms; None if no arm has two workers."""
    squares = sum(float(np.sum((np.array(g) - np.mean(g)) ** 2)) for g in groups if len(g) > 1)
    df = sum(len(g) - 1 for g in groups if len(g) > 1)
    return math.sqrt(squares / df) if df else None


def power_by_drawing(n: int, question: Question, first: Floats, second: Floats) -> float:
    """How often Welch's t test detects the effect, with n workers per arm drawn from the simulated ones.

    Both arms keep the shape and spread that they have; their means are shifted so that they differ by the effect.
    """
    found = 0
    rng = np.random.default_rng([SEED, n])
    at_once = max(1, min(DRAWS, AT_ONCE // n))
    for start in range(0, DRAWS, at_once):
        count = min(at_once, DRAWS - start)
        a = rng.choice(first - first.mean(), size=(count, n)) + question.effect
        b = rng.choice(second - second.mean(), size=(count, n))
        found += int((welch_p_values(a, b) < question.alpha).sum())
    return found / DRAWS


def needed_by_drawing(
    question: Question, first: Sequence[float], second: Sequence[float]
) -> int | None:
    """The smallest number of workers per arm whose drawn power is enough; None above MAX_N."""
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if min(len(a), len(b)) < 2:
        return None
    return smallest_n(lambda n: power_by_drawing(n, question, a, b) >= question.power)


def smallest_n(is_enough: Callable[[int], bool]) -> int | None:
    """The smallest n from MIN_N to MOST that is enough, by doubling and bisection."""
    high = MIN_N
    while not is_enough(high):
        if high >= MAX_N:
            return None
        high = min(2 * high, MAX_N)
    low = max(MIN_N, high // 2)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle + 1, high)
    return high
