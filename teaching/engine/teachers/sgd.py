"""SGD: the random examples of the toy experiment."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..arrays import FloatArray
from ..history import Past
from ..pool import Pool
from .rt import RT


@dataclass(frozen=True, kw_only=True)
class SGD(RT):
    """Uniform draws from the first step on, for a learner that takes plain gradient steps.

    It keeps no estimate of the learner: p is ½.
    """

    name: ClassVar[str] = "sgd"
    title: ClassVar[str] = "SGD"
    description: ClassVar[str] = "Draws every image at random and keeps no estimate of the learner."

    cold_start: int = 0

    def estimate(self, pool: Pool, past: Past) -> FloatArray:
        """½ for every example."""
        return np.full(pool.n, 0.5)
