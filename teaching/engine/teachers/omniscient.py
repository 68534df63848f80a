"""JEDI with an omniscient teacher (Algorithm 1 of the paper), for experiments."""

from dataclasses import dataclass
from typing import ClassVar

from scipy.special import expit

from ..arrays import FloatArray
from ..history import Past
from ..learners.paper import SimulatedLearner
from ..pool import Pool
from .base import Judgement, Teacher


@dataclass(frozen=True, kw_only=True)
class OmniscientJEDI(Teacher):
    """Reads the concept and momentum of the simulated learner that it teaches.

    With a = y f x, or the negative gradient of whatever loss the learner has, the objective
    ‖w_t − w*‖² is, less what does not depend on the candidate,

        η² (‖a‖² − 2⟨a, β v_{t−1} + (w* − w_{t−1})/η⟩).

    A choice depends on the state of the learner too; the plain argmin from the first step on is
    the default.
    """

    name: ClassVar[str] = "omniscient"
    title: ClassVar[str] = "Omniscient JEDI"
    description: ClassVar[str] = "Weighs as JEDI does, but reads the mind of a simulated learner."

    learner: SimulatedLearner
    cold_start: int = 0

    def estimate(self, pool: Pool, past: Past) -> FloatArray:
        """The learner's own p."""
        return expit(pool.features @ self.learner.concept)

    def judge(self, pool: Pool, past: Past) -> Judgement:
        """Score every example by the exact objective of Algorithm 1."""
        eta = self.learning_rate(len(past) + 1)
        margins = pool.features @ self.learner.concept
        pull = -self.learner.slopes(margins, pool.labels)
        diversity = pull**2 * pool.squared_norms
        diversity -= 2 * self.beta * pull * (pool.features @ self.learner.momentum)
        way = pool.target - self.learner.concept
        usefulness = 2 * eta * pull * (pool.features @ way)
        diversity *= eta**2
        return Judgement(self.estimate(pool, past), diversity - usefulness, diversity, usefulness)
