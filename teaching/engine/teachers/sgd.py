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

    It keeps no estimate of the learner: P is 1/k.
    """

    name: ClassVar[str] = "sgd"
    title: ClassVar[str] = "SGD"
    description: ClassVar[str] = "Draws every image at random and keeps no estimate of the learner."

    cold_start: int = 0

    def probabilities(self, pool: Pool, past: Past) -> FloatArray:
        """1/k for every example and class."""
        return np.full((pool.n, pool.class_count), 1 / pool.class_count)
