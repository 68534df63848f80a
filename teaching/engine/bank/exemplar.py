"""Learners who remember what they were shown, and answer by what is most like it.

After t steps the votes for class c at x are Σ_r [y_r = c] δ^age k(x, x_r) with k = exp(−‖x − x_r‖²/ℓ), and the
logits are log(votes + b/k): the background b is what speaks where nothing similar is remembered.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse

from ..arrays import FloatArray, IntArray
from ..classes import one_hot
from .agreement import Agreement
from .base import GIVEN, RELEVANT, Family, Followed, Seen, faded

# ℓ in units of the mean squared distance, δ, and b.
WIDTHS = (0.02, 0.1, 0.4)
DECAYS = (0.9, 1.0)
BACKGROUNDS = (0.03, 0.3)


@dataclass(frozen=True)
class FollowedExemplars(Followed):
    """Where each of m models looks, its ℓ, δ and b, (m,) each, and what it believed."""

    seen: Seen
    places: IntArray
    widths: FloatArray
    decays: FloatArray
    backgrounds: FloatArray
    logits: FloatArray

    def beliefs(self, models: IntArray) -> FloatArray:
        return np.stack([self._belief(model) for model in models])

    def _belief(self, model: int) -> FloatArray:
        distances = self.seen.across[self.places[model]].distances
        similar = np.exp(distances * (-1 / self.widths[model]))
        left = faded(self.seen.final_ages, self.decays[model : model + 1])[0]
        votes = similar @ (left[:, None] * self.seen.truth)
        return np.asarray(np.log(votes + self.backgrounds[model] / self.seen.k))

    def gains(self, models: IntArray, beliefs: FloatArray) -> FloatArray:
        return neighbour_gains(self.seen, beliefs, self.decays[models], self.backgrounds[models])


class Exemplar(Family):
    """Learners who compare with everything they remember."""

    name: ClassVar[str] = "exemplar"
    title: ClassVar[str] = "compares with remembered images"
    weight: ClassVar[float] = 2.0

    def follow(self, seen: Seen) -> FollowedExemplars:
        grid = np.meshgrid([GIVEN, RELEVANT], WIDTHS, DECAYS, BACKGROUNDS, indexing="ij")
        places, widths, decays, backgrounds = (axis.ravel() for axis in grid)
        distances = np.stack([one.distances for one in seen.among])
        similar = np.exp(distances[:, None] / -np.array(WIDTHS)[:, None, None])
        votes = (similar[:, :, None] * faded(seen.ages, np.array(DECAYS))) @ seen.truth
        logits = with_background(votes, seen.k)
        return FollowedExemplars(seen, places, widths, decays, backgrounds, logits)


def with_background(votes: FloatArray, k: int) -> FloatArray:
    """log(votes + b/k) for each background, (m, t, k), from votes (…, t, k)."""
    backgrounds = np.array(BACKGROUNDS)[:, None, None] / k
    logits = np.log(votes[..., None, :, :] + backgrounds)
    return logits.reshape(math.prod(logits.shape[:-2]), *votes.shape[-2:])


def neighbour_gains(
    seen: Seen, beliefs: FloatArray, decays: FloatArray, backgrounds: FloatArray
) -> FloatArray:
    """By how much a new memory raises the agreement with the labels of the pool, (m, n).

    At j a memory of class c and similarity s turns the logit log v_c into log(v_c + s). The rise is taken along its
    chord from s = 0 to 1, so that it is s times that of a memory of j itself; the similarities are those of the
    pool's graph, and 1 to itself.
    """
    kept = decays[:, None, None]
    left = np.exp(beliefs) * kept + (1 - kept) * backgrounds[:, None, None] / seen.k
    logits, rises = np.log(left), np.log1p(1 / left)
    truth = seen.spaces.truth
    centred = logits - logits.mean(axis=-1, keepdims=True)
    graph = seen.pool.affinity
    products = _reached(seen, graph, truth * rises)
    crossed = _reached(seen, graph, centred * rises)
    squares = _reached(seen, graph.power(2), rises**2)
    now = Agreement.of(logits, truth)
    return now.rises(products, 2 * crossed + (1 - 1 / seen.k) * squares)


def _reached(seen: Seen, graph: sparse.csr_array, values: FloatArray) -> FloatArray:
    """What a memory of each example reaches of values (m, n, k) of its class, by similarity, as a mean (m, n)."""
    reached = np.stack([one + graph @ one for one in values])
    return np.asarray((reached * one_hot(seen.pool.labels, seen.k)).sum(axis=-1) / seen.pool.n)
