"""Exemplar learners who attend to the features that have told the classes apart so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..arrays import FloatArray, IntArray, squared_distances
from .base import Family, Followed, Seen, faded
from .exemplar import BACKGROUNDS, WIDTHS, neighbour_gains, with_background
from .single import attention

# How much a feature's record counts, and what share of attention is spread over all features alike.
TRUSTS = (0.3, 1.0)
SPREAD = 0.1
DECAY = 0.97


@dataclass(frozen=True)
class FollowedAttention(Followed):
    """`widths`, `trusts` and `backgrounds` (m,) of the models, and what they believed."""

    seen: Seen
    widths: FloatArray
    trusts: FloatArray
    backgrounds: FloatArray
    logits: FloatArray

    def beliefs(self, models: IntArray) -> FloatArray:
        return np.stack([self._belief(model) for model in models])

    def _belief(self, model: int) -> FloatArray:
        single = self.seen.single
        weights = attended(single.validity[-1], self.trusts[model])
        points = single.standard * np.sqrt(weights / 2)
        similar = np.exp(
            squared_distances(points, points[self.seen.examples]) / -self.widths[model]
        )
        left = faded(self.seen.final_ages, np.array([DECAY]))[0]
        votes = similar @ (left[:, None] * self.seen.truth)
        return np.asarray(np.log(votes + self.backgrounds[model] / self.seen.k))

    def gains(self, models: IntArray, beliefs: FloatArray) -> FloatArray:
        decays = np.full(models.size, DECAY)
        return neighbour_gains(self.seen, beliefs, decays, self.backgrounds[models])


class Attention(Family):
    """Learners who compare by what has mattered so far."""

    name: ClassVar[str] = "attention"
    title: ClassVar[str] = "compares images by the features that have told"
    weight: ClassVar[float] = 1.5

    def follow(self, seen: Seen) -> FollowedAttention:
        grid = np.meshgrid(TRUSTS, WIDTHS, BACKGROUNDS, indexing="ij")
        trusts, widths, backgrounds = (axis.ravel() for axis in grid)
        distances = np.stack([self._distances(seen, trust) for trust in TRUSTS])
        similar = np.exp(distances[:, None] / -np.array(WIDTHS)[:, None, None])
        votes = (similar * faded(seen.ages, np.array([DECAY]))) @ seen.truth
        logits = with_background(votes, seen.k)
        return FollowedAttention(seen, widths, trusts, backgrounds, logits)

    @staticmethod
    def _distances(seen: Seen, trust: float) -> FloatArray:
        """Between what was shown, each row as attended to before its step, (t, t)."""
        single = seen.single
        weights = attended(single.validity[:-1], trust)
        values = single.standard[seen.examples]
        crossed = (weights * values) @ values.T
        own = np.vecdot(weights, values**2)[:, None]
        return np.asarray(np.maximum(own + weights @ (values**2).T - 2 * crossed, 0.0) / 2)


def attended(validity: FloatArray, trust: float) -> FloatArray:
    """The weights of the features, (…, s)."""
    weights = attention(validity, np.array(trust))
    return np.asarray((1 - SPREAD) * weights + SPREAD / max(weights.shape[-1], 1))
