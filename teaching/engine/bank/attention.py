"""Exemplar learners who attend to the features that have told the classes apart so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..arrays import FloatArray, IntArray
from .base import Family, Followed, Seen, combined, described
from .exemplar import (
    BACKGROUNDS,
    WIDTHS,
    all_similarities,
    logits_of,
    neighbour_gains,
    votes_of,
    with_background,
)
from .fading import left_before
from .single import attention

# How much a feature's record counts, and what share of attention is spread over all features alike.
TRUSTS = (0.3, 1.0)
SPREAD = 0.1
DECAY = 0.97
GRID = combined(TRUSTS, WIDTHS, BACKGROUNDS)


@dataclass(frozen=True)
class FollowedAttention(Followed):
    """`widths`, `trusts` and `backgrounds` (m,) of the models, and what they believed."""

    seen: Seen
    widths: FloatArray
    trusts: FloatArray
    backgrounds: FloatArray
    logits: FloatArray

    @property
    def names(self) -> list[str]:
        return described(trust=self.trusts, width=self.widths, background=self.backgrounds)

    def beliefs(self, models: IntArray) -> FloatArray:
        left = np.tile(left_before(len(self.seen), DECAY)[:, -1], (models.size, 1))
        votes = np.empty((models.size, self.seen.k, self.seen.pool.n))
        for trust in np.unique(self.trusts[models]):
            own = np.flatnonzero(self.trusts[models] == trust)
            distances = self._distances(trust)
            votes[own] = votes_of(self.seen, distances, self.widths[models[own]], left[own])
        return logits_of(votes, self.backgrounds[models])

    def _distances(self, trust: float) -> FloatArray:
        """Between what was shown and every example, as attended to now, (t, n)."""
        single = self.seen.single
        weights = attended(single.validity[-1], trust) / 2
        shown = single.standard[self.seen.examples]
        apart = (-2 * weights * shown) @ single.standard.T
        apart += (shown**2 @ weights)[:, None]
        apart += self.seen.spaces.squared_standard @ weights
        return np.maximum(apart, 0.0, out=apart)

    def gains(self, models: IntArray, beliefs: FloatArray) -> FloatArray:
        decays = np.full(models.size, DECAY)
        return neighbour_gains(self.seen, beliefs, decays, self.backgrounds[models])


class Attention(Family):
    """Learners who compare by what has mattered so far."""

    name: ClassVar[str] = "attention"
    title: ClassVar[str] = "compares images by the features that have told"
    weight: ClassVar[float] = 1.5

    def follow(self, seen: Seen) -> FollowedAttention:
        trusts, widths, backgrounds = GRID
        similar = np.stack(all_similarities(self._distances(seen)), axis=1)
        votes = (similar * left_before(len(seen), DECAY)[:, :-1]) @ seen.truth
        logits = with_background(votes, seen.k)
        return FollowedAttention(seen, widths, trusts, backgrounds, logits)

    @staticmethod
    def _distances(seen: Seen) -> FloatArray:
        """Between what was shown, each row as attended to before its step by each trust, (2, t, t)."""
        single = seen.single
        weights = attended(single.validity[:-1], np.array(TRUSTS)[:, None, None])
        values = single.standard[seen.examples]
        crossed = (weights * values) @ values.T
        own = np.vecdot(weights, values**2)[..., None]
        return np.asarray(np.maximum(own + weights @ (values**2).T - 2 * crossed, 0.0) / 2)


def attended(validity: FloatArray, trust: FloatArray | float) -> FloatArray:
    """The weights of the features, (…, s), for trusts that broadcast."""
    weights = attention(validity, np.asarray(trust))
    return np.asarray((1 - SPREAD) * weights + SPREAD / max(weights.shape[-1], 1))
