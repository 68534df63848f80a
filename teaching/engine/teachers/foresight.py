"""Foresight: an omniscient teacher of learners without a concept, for experiments."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..arrays import FloatArray
from ..history import Past
from ..other_learners import MemoryLearner
from ..pool import Pool
from .base import Judgement, Teacher


@dataclass(frozen=True, kw_only=True)
class Foresight(Teacher):
    """Shows what leaves the learner with the fewest mistakes over the pool.

    What JEDI's omniscient teacher is to a learner with a concept, this is to one with a memory: it
    knows what each lesson would do. A choice depends on the state of the learner too.
    """

    name: ClassVar[str] = "foresight"

    learner: MemoryLearner
    cold_start: int = 0

    def estimate(self, pool: Pool, past: Past) -> FloatArray:
        """The learner's own p."""
        return self.learner.probabilities(pool.features)

    def judge(self, pool: Pool, past: Past) -> Judgement:
        """Score every example by the expected number of mistakes after it."""
        after = self.learner.probabilities_after(pool.features, pool.labels)
        mistakes = np.where(pool.labels > 0, 1 - after, after).sum(axis=1)
        return Judgement(self.estimate(pool, past), mistakes)
