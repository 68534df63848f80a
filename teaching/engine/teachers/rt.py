"""RT: random teaching."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..arrays import FloatArray
from ..history import Past
from ..pool import Pool
from .base import Judgement, Teacher


@dataclass(frozen=True, kw_only=True)
class RT(Teacher):
    """Draws uniformly, with replacement outside the repeat window; every score is 0.

    The harmonic estimate has no part in the draw. It is kept with the step because it tells
    how well the estimate predicts a learner whom it does not steer.
    """

    name: ClassVar[str] = "rt"
    title: ClassVar[str] = "RT"
    description: ClassVar[str] = "Random teaching, the baseline: every image is drawn at random."
    draws_at_random: ClassVar[bool] = True

    def judge(self, pool: Pool, past: Past) -> Judgement:
        """Find every example as good as any other."""
        return Judgement(self.probabilities(pool, past), np.zeros(pool.n))

    def pick(self, scores: FloatArray, rng: np.random.Generator) -> int:
        """Any allowed example."""
        return int(rng.choice(np.flatnonzero(np.isfinite(scores))))
