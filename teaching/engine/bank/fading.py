"""What is left of memories that fade from step to step."""

import numpy as np

from ..arrays import FloatArray, IntArray


def ages_before(t: int) -> IntArray:
    """How many steps before step s, of t and the one to come, step r was, (t+1, t), less one: 0 for the last."""
    steps = np.arange(t + 1)
    return np.asarray(steps[:, None] - 1 - steps[:-1])


def faded(ages: IntArray, decays: FloatArray) -> FloatArray:
    """What is left of each memory at its age, shape (len(decays), …); nothing of those to come, at negative ages."""
    powers = np.zeros((decays.size, ages.max(initial=0) + 2))
    powers[:, :-1] = decays[:, None] ** np.arange(powers.shape[1] - 1)
    # The last column, at −1, is what is left of those to come.
    return np.asarray(powers[:, np.maximum(ages, -1)])
