"""The first examples: random, without replacement, both classes present.

The sequence has the law of "draw without replacement; if one class is missing, start again".
It is drawn one step at a time, each from what the history shows and a generator of its own,
so each step weighs a candidate by the share of continuations that end with both classes.
"""

import numpy as np

from ..arrays import FloatArray, IntArray


def chances(labels: FloatArray, taught: IntArray, steps_left: int) -> FloatArray:
    """The chance of each example, shape (n,), to be the next of `steps_left` cold-start steps.

    Where both classes are out of reach (the pool has one, or one step is all there is), every
    unseen example has the same chance.
    """
    unseen = np.ones(labels.size, dtype=np.bool_)
    unseen[taught] = False
    weights = np.zeros(labels.size)
    for label in (-1, 1):
        weights[unseen & (labels == label)] = _share_with_both_classes(
            same=int((unseen & (labels == label)).sum()),
            unseen=int(unseen.sum()),
            other_class_seen=bool((labels[taught] == -label).any()),
            further_steps=steps_left - 1,
        )
    if not weights.any():
        weights = unseen.astype(np.float64)
    return np.asarray(weights / weights.sum())


def _share_with_both_classes(
    *, same: int, unseen: int, other_class_seen: bool, further_steps: int
) -> float:
    """The share of ways to go on, after one of `same` unseen examples of a class, that show both.

    Only a run of further examples of that same class fails to.
    """
    if other_class_seen:
        return 1.0
    gone = 1 + np.arange(further_steps)
    return 1.0 - float(np.prod(np.maximum(same - gone, 0) / (unseen - gone)))
