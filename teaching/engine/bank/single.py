"""What single features say about the classes: on each of them, what was shown speaks for what lies near it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import FloatArray, IntArray, Places, pieces
from ..classes import one_hot
from ..spaces import Spaces
from .fading import left_before

# How far a memory reaches along a feature, as a share of the mean squared distance; what is left of it
# after a step; and what speaks where nothing is near.
WIDTH = 0.2
DECAY = 0.95
BACKGROUND = 0.3
# How fast it is forgotten how well a feature predicted the labels.
VALIDITY_DECAY = 0.95


@dataclass(frozen=True)
class SingleFeatures:
    """A history of examples (t,) with labels (t,) of k classes, by the standardised features (n, s) of the pool."""

    spaces: Spaces
    examples: IntArray
    labels: IntArray
    k: int

    @property
    def standard(self) -> FloatArray:
        return self.spaces.standard

    @property
    def count(self) -> int:
        return int(self.standard.shape[1])

    @cached_property
    def log_chances(self) -> FloatArray:
        """The logs of the chances."""
        return np.log(self.chances)

    @cached_property
    def chances(self) -> FloatArray:
        """Of each class by each feature alone before each step, shape (s, t, k)."""
        t, values = self.examples.size, self.standard[self.examples].T
        [left], truth = left_before(t, DECAY)[:, :-1], one_hot(self.labels, self.k)
        votes = np.empty((self.count, t, self.k))
        for some in pieces(self.count, t * t):
            similar = values[some, :, None] - values[some, None]
            similar *= similar
            similar *= -0.5 / WIDTH
            np.exp(similar, out=similar)
            similar *= left
            np.matmul(similar, truth, out=votes[some])
        votes += BACKGROUND / self.k
        votes /= votes @ np.ones((self.k, 1))
        return votes

    def votes(self, features: IntArray, some: slice = slice(None)) -> FloatArray:
        """What speaks for each class at some examples after the last step, by some features, (len(features), k, e)."""
        shown = self.standard[self.examples[:, None], features].T
        width = math.sqrt(2 * WIDTH)
        votes = self.spaces.lines.sums(features, shown, self._fading, width, some)
        votes += BACKGROUND / self.k
        return votes.swapaxes(0, 1)

    def votes_at(self, at: Places) -> FloatArray:
        """The same by all features, (s, k, e)."""
        if isinstance(at, slice):
            return self.votes(np.arange(self.count), at)
        apart = self.standard[at].T[:, None] - self.standard[self.examples].T[:, :, None]
        return np.asarray(self._fading @ np.exp(apart**2 / (-2 * WIDTH)) + BACKGROUND / self.k)

    @property
    def _fading(self) -> FloatArray:
        """What is left of what was shown, for its class, (k, t)."""
        [left] = left_before(self.examples.size, DECAY)[:, -1]
        return np.asarray(left * one_hot(self.labels, self.k).T)

    @cached_property
    def validity(self) -> FloatArray:
        """How well each feature has predicted the labels, before each step and now, shape (t+1, s)."""
        t = self.examples.size
        told = self.log_chances[:, np.arange(t), self.labels].T
        [left] = left_before(t, VALIDITY_DECAY)
        return np.asarray(left @ told)


def attention(validity: FloatArray, trust: FloatArray) -> FloatArray:
    """Weights that add up to one over the features (…, s), for validities (…, s) and trusts that broadcast."""
    powers = np.exp(trust * (validity - validity.max(axis=-1, keepdims=True, initial=-np.inf)))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))
