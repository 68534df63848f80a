"""Means and spreads of a sample, and how small a sample may be."""

import math
from collections.abc import Iterable, Sequence

import numpy as np

# Below this, an arm is described by its mean alone: an interval or a test would be theatre.
TOO_FEW = 5
# Below this, intervals and p values are shown with a note that they are rough.
FEW = 20
# A spread below this share of the size of the values is rounding, not spread.
ROUNDING = 1e-12


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
