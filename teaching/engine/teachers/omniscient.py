"""JEDI with an omniscient teacher (Algorithm 1 of the paper), for experiments."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..arrays import FloatArray
from ..history import Past
from ..learners.paper import SimulatedLearner
from ..pool import Pool
from .base import Judgement, Teacher
from .jedi import along


@dataclass(frozen=True, kw_only=True)
class OmniscientJEDI(Teacher):
    """Reads the concept and momentum of the simulated learner that it teaches.

    With δ = P − e_y, or the slopes of whatever loss the learner has, the objective 2‖W_t − W*‖²
    (of two classes ‖w_t − w*‖²) is, less what does not depend on the candidate,

        η² (½‖δ‖²‖x‖² + β δᵀV_{t−1}x) − 2η δᵀ(W_{t−1} − W*)x.

    A choice depends on the state of the learner too; the plain argmin from the first step on is
    the default.
    """

    name: ClassVar[str] = "omniscient"
    title: ClassVar[str] = "Omniscient JEDI"
    description: ClassVar[str] = "Weighs as JEDI does, but reads the mind of a simulated learner."

    learner: SimulatedLearner
    cold_start: int = 0

    def probabilities(self, pool: Pool, past: Past) -> FloatArray:
        """The learner's own P."""
        return self.learner.probabilities(pool.features)

    def judge(self, pool: Pool, past: Past) -> Judgement:
        """Score every example by the exact objective of Algorithm 1."""
        eta, learner = self.learning_rate(len(past) + 1), self.learner
        slopes = learner.slopes(pool.features @ learner.concept.T, pool.labels)
        diversity = np.vecdot(slopes, slopes) * pool.squared_norms / 2
        diversity += self.beta * along(pool, slopes, learner.momentum)
        diversity *= eta**2
        usefulness = 2 * eta * along(pool, slopes, learner.concept - pool.target)
        probabilities = self.probabilities(pool, past)
        return Judgement(probabilities, diversity - usefulness, diversity, usefulness)
