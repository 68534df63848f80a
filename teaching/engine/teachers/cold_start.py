"""The first examples: random, without replacement, every class present.

The sequence has the law of "draw without replacement; if a class is missing, start again"; where the
steps are too few for every class, of "start again if any class comes twice". It is drawn one step at
a time, each from what the history shows and a generator of its own, so each step weighs a candidate
by the share of continuations that end as they should.
"""

import math
from collections.abc import Sequence

import numpy as np

from ..arrays import FloatArray, IntArray

# Coefficients of z⁰, z¹, …: in how many ways a number of examples can be drawn.
Ways = list[int]


def chances(labels: IntArray, taught: IntArray, steps_left: int, classes: int) -> FloatArray:
    """The chance of each example, shape (n,), to be the next of `steps_left` cold-start steps.

    Where a class is out of reach for want of examples, every unseen example has the same chance.
    """
    unseen = np.ones(labels.size, dtype=np.bool_)
    unseen[taught] = False
    left = np.bincount(labels[unseen], minlength=classes)
    is_missing = np.bincount(labels[taught], minlength=classes) == 0
    shares = _shares(left.tolist(), np.flatnonzero(is_missing).tolist(), steps_left - 1)
    weights = np.where(unseen, np.array(shares)[labels], 0.0)
    if not weights.any():
        weights = unseen.astype(np.float64)
    return np.asarray(weights / weights.sum())


def _shares(left: Sequence[int], missing: Sequence[int], steps: int) -> list[float]:
    """For each class, the share of ways to go on after one of its examples that show what they can.

    `left` counts the unseen examples of each class; `steps` is how many steps follow.
    """
    total = sum(left) - 1
    ways = math.comb(total, steps)
    if len(missing) > steps + 1:
        # Every step shows a class that is new.
        new = [_distinct(left, [c for c in missing if c != one], steps) for one in missing]
        shares = dict(zip(missing, new, strict=True))
        return [shares.get(c, 0) / ways for c in range(len(left))]
    others = [[c for c in missing if c != one] for one in range(len(left))]
    # All classes that were shown already have the same share.
    known: dict[int, int] = {}
    for one, rest in enumerate(others):
        if (key := one if one in missing else -1) not in known:
            known[key] = _covering(left, rest, total, steps)
    return [known[one if one in missing else -1] / ways for one in range(len(left))]


def _distinct(left: Sequence[int], classes: Sequence[int], steps: int) -> int:
    """In how many ways so many steps show as many of these classes."""
    ways = [1]
    for one in classes:
        ways = _product(ways, [1, left[one]], steps)
    return ways[steps] if len(ways) > steps else 0


def _covering(left: Sequence[int], classes: Sequence[int], total: int, steps: int) -> int:
    """In how many ways so many steps, from a total, show every one of these classes."""
    elsewhere = total - sum(left[one] for one in classes)
    ways = _choices(elsewhere, steps)
    for one in classes:
        ways = _product(ways, [0, *_choices(left[one], steps)[1:]], steps)
    return ways[steps] if len(ways) > steps else 0


def _choices(n: int, most: int) -> Ways:
    return [math.comb(n, count) for count in range(min(n, most) + 1)]


def _product(one: Ways, other: Ways, most: int) -> Ways:
    """The product of two polynomials, up to the power that is asked for."""
    length = min(len(one) + len(other) - 1, most + 1)
    product = [0] * length
    for i, a in enumerate(one):
        for j, b in enumerate(other[: length - i]):
            product[i + j] += a * b
    return product
