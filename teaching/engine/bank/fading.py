"""What is left of memories that fade from step to step."""

from functools import lru_cache

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ..arrays import FloatArray


# Kept, because a step asks for the same few again and again: views on so few numbers take hardly any room.
@lru_cache(maxsize=1024)
def left_before(t: int, *decays: float) -> FloatArray:
    """δ^{s−1−r}: what is left of step r before step s and now, (len(decays), t+1, t), and 0 of what is to come.

    Every row is that of the step after it, moved on by one: all of them are windows on the powers of δ.
    """
    if t == 0:
        return np.zeros((len(decays), 1, 0))
    powers = np.zeros((len(decays), 2 * t))
    powers[:, :t] = np.array(decays)[:, None] ** np.arange(t)[::-1]
    return np.asarray(sliding_window_view(powers, t, axis=1)[:, ::-1])


@lru_cache(maxsize=1024)
def all_left_before(t: int, *decays: float) -> FloatArray:
    """What is left of all steps together before each step and now, (len(decays), t+1)."""
    return np.asarray(left_before(t, *decays).sum(axis=-1))
