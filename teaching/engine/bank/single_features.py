"""What each feature alone predicts: on every feature, remembered examples vote for their class by similarity."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import Examples, FloatArray, IntArray
from ..classes import one_hot

# The squared width of the similarity, in units of the variance, the decay of memories per step, and the constant vote.
WIDTH = 0.2
DECAY = 0.95
BACKGROUND = 0.3
# The decay of the record of how well a feature has predicted the labels.
VALIDITY_DECAY = 0.95


@dataclass(frozen=True)
class SingleFeatures:
    """Examples (t,) with labels (t,) of k classes, on the standardised features (n, s) of the pool."""

    standard: FloatArray
    examples: IntArray
    labels: IntArray
    k: int

    @property
    def count(self) -> int:
        return int(self.standard.shape[1])

    @cached_property
    def chances(self) -> FloatArray:
        """P of each class by each feature before each step, (s, t, k)."""
        t, values = self.examples.size, self.standard[self.examples].T
        age = np.arange(t)[:, None] - 1 - np.arange(t)
        weights = np.where(age >= 0, DECAY ** np.maximum(age, 0), 0.0)
        similar = _similarity(values[:, :, None], values[:, None])
        votes = (similar * weights) @ one_hot(self.labels, self.k)
        return _normalised(votes + BACKGROUND / self.k)

    def chances_at(self, examples: Examples, features: IntArray) -> FloatArray:
        """P of each class by some features for some examples after the last step, (f, e, k)."""
        t = self.examples.size
        weights = DECAY ** np.arange(t)[::-1, None] * one_hot(self.labels, self.k)
        # One feature at a time: the similarities of all of them would take gigabytes in a large pool.
        votes = [
            _similarity(
                self.standard[examples, feature, None], self.standard[self.examples, feature]
            )
            @ weights
            for feature in features.tolist()
        ]
        return _normalised(np.array(votes) + BACKGROUND / self.k)

    @cached_property
    def validity(self) -> FloatArray:
        """Σ δ^age log P(label): how well each feature has predicted, before each step and now, (t+1, s)."""
        t = self.examples.size
        scores = np.log(self.chances[:, np.arange(t), self.labels]).T
        record = np.zeros((t + 1, self.count))
        for step, score in enumerate(scores):
            record[step + 1] = VALIDITY_DECAY * record[step] + score
        return record


def attention(validity: FloatArray, trust: FloatArray) -> FloatArray:
    """Weights over the features (…, s) that add up to 1: softmax(trust · validity)."""
    powers = np.exp(trust * (validity - validity.max(axis=-1, keepdims=True)))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def _similarity(first: FloatArray, second: FloatArray) -> FloatArray:
    return np.exp((first - second) ** 2 / (-2 * WIDTH))


def _normalised(votes: FloatArray) -> FloatArray:
    return np.asarray(votes / votes.sum(axis=-1, keepdims=True))
