"""A population of simulated workers, from which one is drawn by its number."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..pool import Pool
from .paper import LearningRate
from .people import Habits, SimulatedWorker, make_worker


@dataclass(frozen=True, kw_only=True)
class Population:
    """Workers of the paper's kind who differ in memory and in what they believe at first.

    Memory spans n̄ are normal with mean `span` and deviation `span_sd`, kept within [shortest, longest]. First
    concepts have a random direction, with margins of root mean square `conviction` over the pool.
    """

    span: float = 5.5
    span_sd: float = 1.5
    shortest: float = 2.0
    longest: float = 9.0
    conviction: float = 0.3
    bernoulli: bool = False
    habits: Habits = field(default_factory=lambda: Habits(lapse=0.02))

    def worker(self, pool: Pool, rate: LearningRate, seed: Sequence[int]) -> SimulatedWorker:
        """The worker of a seed, before its first lesson."""
        drawn = np.random.default_rng([*seed, 1]).normal(self.span, self.span_sd)
        span = float(np.clip(drawn, self.shortest, self.longest))
        return make_worker(
            pool,
            beta=1 - 1 / span,
            learning_rate=rate,
            seed=[*seed, 2],
            conviction=self.conviction,
            bernoulli=self.bernoulli,
            habits=self.habits,
        )
