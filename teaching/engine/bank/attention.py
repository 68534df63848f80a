"""Exemplar learners who attend to the features that have told the classes apart so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..arrays import FloatArray, IntArray, Places, pieces
from .along import ByPlace
from .base import Family, Followed, Seen, combined, described, runs
from .exemplar import (
    BACKGROUNDS,
    WIDTHS,
    Nearness,
    add_up,
    all_similarities,
    neighbour_gains,
    votes_now,
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

    def logits_now(self, at: Places) -> FloatArray:
        seen, spaces = self.seen, self.seen.spaces
        weights = attended(seen.single.validity[-1], np.array(TRUSTS)[:, None])
        values = spaces.standard[seen.examples]
        apart = (values * weights[:, None]) @ -spaces.standard_columns[:-1, at]
        apart += (values**2 @ weights.T / 2).T[:, :, None]
        apart += (weights / 2 @ spaces.squared_standard[:, at])[:, None]
        fading = left_before(len(seen), DECAY)[:, -1:] * seen.taught
        return with_background(votes_now(np.maximum(apart, 0.0, out=apart), fading), seen.k)

    def gains(self, models: IntArray, along: ByPlace) -> FloatArray:
        [left] = left_before(len(self.seen), DECAY)[:, -1]
        trusts, widths = self.trusts[models], self.widths[models]
        shape = (models.size, self.seen.k, self.seen.pool.n)
        votes = np.empty(shape)
        weights = np.broadcast_to(left * self.seen.taught, (*shape[:2], left.size))
        for trust, own in runs(trusts):
            near = self._nearness(trust, widths[own][-1])
            add_up(near, widths[own], weights[own], out=votes[own])
        return neighbour_gains(self.seen, votes, DECAY, self.backgrounds[models])

    def _nearness(self, trust: float, width: float) -> Nearness:
        """As attended to now."""
        spaces, shown = self.seen.spaces, self.seen.examples
        weights = attended(self.seen.single.validity[-1], trust) / width
        halves = (weights / 2) @ spaces.squared_standard
        points = np.column_stack([weights * spaces.standard[shown], -halves[shown]])
        for some in pieces(self.seen.pool.n, len(points)):
            near = points @ spaces.standard_columns[:, some]
            near -= halves[some]
            yield some, near


class Attention(Family):
    """Learners who compare by what has mattered so far."""

    name: ClassVar[str] = "attention"
    title: ClassVar[str] = "compares by the features that have mattered"
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
        squares = values**2
        apart = weights @ squares.T
        apart += np.vecdot(weights, squares)[..., None]
        apart /= 2
        apart -= (weights * values) @ values.T
        return np.maximum(apart, 0.0, out=apart)


def attended(validity: FloatArray, trust: FloatArray | float) -> FloatArray:
    """The weights of the features, (…, s), for trusts that broadcast."""
    weights = attention(validity, np.asarray(trust))
    return np.asarray((1 - SPREAD) * weights + SPREAD / max(weights.shape[-1], 1))
