"""What showing an example would teach, as far as a mixture knows whom."""

from __future__ import annotations

import numpy as np

from ..arrays import FloatArray
from .along import along_all
from .mixture import Mixture


def expected_gains(mixture: Mixture) -> FloatArray:
    """By how much the agreement with the labels of the pool is expected to rise if each example is shown next, (n,).

    What the study assumes counts for more than it is probable, and the likeliest models stand for all.
    """
    leading = mixture.leading()
    followed = [mixture.members[place].followed for place, _ in leading]
    asked = [one.directions(models) for one, (_, models) in zip(followed, leading, strict=True)]
    alongs = along_all(mixture.seen.spaces, asked)
    total, counted = np.zeros(mixture.seen.pool.n), 0.0
    for one, (place, models), along in zip(followed, leading, alongs, strict=True):
        family, held = mixture.members[place].family, float(mixture.held[place])
        counted += held * family.assumed
        gains = one.gains(models, along)
        if gains is not None:
            weights = mixture.now(place)[models]
            heeding = weights @ (1 - family.style_arrays().guesses)
            total += (family.assumed * held / weights.sum() * heeding) @ gains
    return total / counted
