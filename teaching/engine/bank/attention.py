"""Exemplar learners with attention: they compare with remembered examples by the features that have predicted labels.

After t steps the votes for class c at x are Σ_r [y_r = c] δ^age exp(−½ Σ_f a_f (x_f − x_rf)²/ℓ), with attention a over
the features, and the logits are log(votes + b/k). The background b counts where nothing similar is remembered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..arrays import Examples, FloatArray, IntArray
from .agreement import Agreement
from .base import Family, Observations, Predictions, combined, decay_weights, described, of_labels
from .single_features import attention

# How strongly attention follows the record of the features, ℓ, and b.
TRUSTS = (0.3, 1.0)
WIDTHS = (0.02, 0.1, 0.4)
BACKGROUNDS = (0.03, 0.3)
GRID = combined(TRUSTS, WIDTHS, BACKGROUNDS)
# δ, and the share of attention that is spread over all features.
DECAY = 0.97
SPREAD = 0.1


@dataclass(frozen=True)
class AttentionPredictions(Predictions):
    """`trusts`, `widths` and `backgrounds` (m,) of the models."""

    observed: Observations
    trusts: FloatArray
    widths: FloatArray
    backgrounds: FloatArray
    logits: FloatArray

    @property
    def names(self) -> list[str]:
        return described(trust=self.trusts, width=self.widths, background=self.backgrounds)

    def logits_at(self, examples: Examples) -> FloatArray:
        distances = self._half_distances(np.array(TRUSTS), examples)
        return _logits(distances, self._memories, self.observed.k)

    def gains(self, models: IntArray) -> FloatArray:
        """The rise of the agreement through a memory of each example.

        At j, a memory of class c and similarity s turns the logit log v_c into log(v_c + s). The rise is taken along
        its chord from s = 0 to 1, so that it is s times the rise from a memory of j itself. The similarities are those
        of the pool's graph, and 1 to the example itself.
        """
        observed, pool, k = self.observed, self.observed.pool, self.observed.k
        truth, squared_affinity = observed.spaces.truth, pool.affinity.power(2)
        gains = np.empty((models.size, pool.n))
        distances = {
            trust: self._half_distances(np.array([trust]), slice(None))[0]
            for trust in {*self.trusts[models].tolist()}
        }
        for gain, model in zip(gains, models.tolist(), strict=True):
            similar = np.exp(distances[self.trusts[model]] / -self.widths[model])
            votes = DECAY * (similar @ self._memories).T + self.backgrounds[model] / k
            logits = np.log(votes)
            rises = np.log(votes + 1) - logits
            logits -= logits.mean(axis=0)
            added = np.stack([truth * rises, 2 * logits * rises])
            squares = (1 - 1 / k) * rises**2
            linked = added + (pool.affinity @ added.reshape(2 * k, -1).T).T.reshape(added.shape)
            linked[1] += squares + (squared_affinity @ squares.T).T
            products, squares = of_labels(linked, pool.labels)[:, None] / pool.n
            [gain[:]] = Agreement.of(logits[None], truth).rises(products, squares)
        return gains

    @property
    def _memories(self) -> FloatArray:
        """The weight of each memory for its class, (t, k)."""
        [weights] = decay_weights(len(self.observed), DECAY)[:, -1]
        return np.asarray(weights[:, None] * self.observed.truth)

    def _half_distances(self, trusts: FloatArray, examples: Examples) -> FloatArray:
        """½ Σ a_f (x_f − x_rf)² of examples and memories as attended to now, (len(trusts), e, t)."""
        standard, validity = self.observed.spaces.standard, self.observed.single_features.validity
        weights = attention_weights(validity[-1], trusts[:, None])[:, None]
        return half_distances(weights, standard[examples], standard[self.observed.examples])


class Attention(Family):
    name: ClassVar[str] = "attention"
    title: ClassVar[str] = "compares by the features that have mattered"
    weight: ClassVar[float] = 1.5

    def predict(self, observed: Observations) -> AttentionPredictions:
        shown = observed.spaces.standard[observed.examples]
        validity = observed.single_features.validity[:-1]
        weights = attention_weights(validity, np.array(TRUSTS)[:, None, None])
        distances = half_distances(weights, shown, shown)
        [left] = decay_weights(len(observed), DECAY)[:, :-1]
        logits = _logits(distances, observed.truth, observed.k, left)
        trusts, widths, backgrounds = GRID
        return AttentionPredictions(observed, trusts, widths, backgrounds, logits)


def attention_weights(validity: FloatArray, trust: FloatArray) -> FloatArray:
    """The weights of the features, (…, s), for trusts that broadcast."""
    weights = attention(validity, trust)
    return np.asarray((1 - SPREAD) * weights + SPREAD / weights.shape[-1])


def half_distances(weights: FloatArray, points: FloatArray, memories: FloatArray) -> FloatArray:
    """½ Σ_f a_f (x_f − x_rf)² of points (e, s) and memories (t, s), (…, e, t), with weights a (…, e or 1, s)."""
    distances = np.vecdot(weights, points**2)[..., None] + weights @ (memories**2).T
    return np.asarray(np.maximum(distances / 2 - (weights * points) @ memories.T, 0.0))


def _logits(
    distances: FloatArray, memories: FloatArray, k: int, left: FloatArray | float = 1.0
) -> FloatArray:
    """log(votes + b/k) of all models, (m, e, k), for half distances (trusts, e, t)."""
    similar = np.exp(distances[:, None] / -np.array(WIDTHS)[:, None, None]) * left
    votes = (similar @ memories)[:, :, None] + np.array(BACKGROUNDS)[:, None, None] / k
    return np.asarray(np.log(votes).reshape(GRID[0].size, *votes.shape[-2:]))
