"""What single features say about the classes: on each of them, what was shown speaks for what lies near it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import FloatArray, IntArray
from ..classes import one_hot

# How far a memory reaches along a feature, as a share of the mean squared distance; what is left of it
# after a step; and what speaks where nothing is near.
WIDTH = 0.2
DECAY = 0.95
BACKGROUND = 0.3
# How fast it is forgotten how well a feature predicted the labels.
VALIDITY_DECAY = 0.95


@dataclass(frozen=True)
class SingleFeatures:
    """Standardised features (n, s) of the pool, and a history of examples (t,) with labels (t,) of k classes."""

    standard: FloatArray
    examples: IntArray
    labels: IntArray
    k: int

    @property
    def count(self) -> int:
        return int(self.standard.shape[1])

    @cached_property
    def log_chances(self) -> FloatArray:
        """Of each class by each feature alone before each step, shape (s, t, k)."""
        steps = np.arange(self.examples.size)
        ages = steps[:, None] - 1 - steps
        left = np.where(ages >= 0, DECAY ** np.maximum(ages, 0), 0.0)
        values = self.standard[self.examples].T
        return self._spoken(values, np.arange(self.count), left)

    def now(self, features: IntArray) -> FloatArray:
        """The same of every example after the last step, for some features, shape (len(features), n, k)."""
        left = np.power(DECAY, np.arange(self.examples.size, dtype=np.float64)[::-1])
        return self._spoken(self.standard[:, features].T, features, left)

    def _spoken(self, values: FloatArray, features: IntArray, left: FloatArray) -> FloatArray:
        """Log chances (s, …, k) at values (s, …) from what was shown, weighed by what is left of it."""
        shown = self.standard[self.examples][:, features].T
        apart = values[:, :, None] - shown[:, None, :]
        votes = (np.exp(apart**2 / (-2 * WIDTH)) * left) @ one_hot(self.labels, self.k)
        chances = votes + BACKGROUND / self.k
        return np.asarray(np.log(chances / chances.sum(axis=-1, keepdims=True)))

    @cached_property
    def validity(self) -> FloatArray:
        """How well each feature has predicted the labels, before each step and now, shape (t+1, s)."""
        t = self.examples.size
        told = self.log_chances[:, np.arange(t), self.labels].T
        ages = np.arange(t + 1)[:, None] - 1 - np.arange(t)
        return np.asarray(np.where(ages >= 0, VALIDITY_DECAY ** np.maximum(ages, 0), 0.0) @ told)


def attention(validity: FloatArray, trust: FloatArray) -> FloatArray:
    """Weights that add up to one over the features (…, s), for validities (…, s) and trusts that broadcast."""
    powers = np.exp(trust * (validity - validity.max(axis=-1, keepdims=True, initial=-np.inf)))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))
