"""Learners who go by one feature at a time, and try another when it fails.

Which feature a learner holds is hidden. Answers tell about it; after feedback a learner moves on, rarely when it was
right and often when it was wrong, to features in proportion to how well they have predicted the labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..arrays import FloatArray, IntArray
from ..classes import of_class
from .agreement import Agreement
from .base import GUESSERS, Family, Followed, Seen, Style
from .single import attention

# How firmly a learner goes by its feature, how often it moves on when right and when wrong, and how much the
# record of a feature counts for taking it up.
FIRMNESS = (1.0, 4.0)
MOVES = ((0.02, 0.1), (0.05, 0.5))
TRUSTS = (0.3, 1.0)
# Features that a learner holds less probably than this share of the likeliest are left out of beliefs.
HARDLY = 0.02
MOST_HELD = 6


@dataclass(frozen=True)
class FollowedRules(Followed):
    """Of m models: `firmness`, `moves` (m, 2), and `held` and `taken` (m, s): which feature, and which next."""

    seen: Seen
    firmness: FloatArray
    moves: FloatArray
    held: FloatArray
    taken: FloatArray
    logits: FloatArray

    def beliefs(self, models: IntArray) -> FloatArray:
        return np.stack([self._belief(model) for model in models])

    def _belief(self, model: int) -> FloatArray:
        features = self._likely(self.held[model])
        held = self.held[model, features]
        chances = self._chances(model, features)
        return np.log(np.tensordot(held / held.sum(), chances, axes=1))

    def gains(self, models: IntArray, beliefs: FloatArray) -> FloatArray:
        return np.stack([self._gain(model) for model in models])

    def _gain(self, model: int) -> FloatArray:
        """Who holds f moves on with chance m_f(x), and gains S' − S_f of agreement, S' that of what is taken up."""
        features = self._likely(self.held[model] + self.taken[model])
        held, taken = self.held[model, features], self.taken[model, features]
        chances = self._chances(model, features)
        agreement = Agreement.of(np.log(chances), self.seen.spaces.truth).now
        wanted = held / held.sum() * (agreement @ taken / taken.sum() - agreement)
        right = np.stack([of_class(one, self.seen.pool.labels) for one in chances])
        when_right, when_wrong = self.moves[model]
        return np.asarray(wanted @ (when_wrong - (when_wrong - when_right) * right))

    def _chances(self, model: int, features: IntArray) -> FloatArray:
        return firm(self.seen.single.now(features), self.firmness[model])

    @staticmethod
    def _likely(weights: FloatArray) -> IntArray:
        best = np.argsort(-weights, kind="stable")[:MOST_HELD]
        return np.sort(best[weights[best] >= HARDLY * weights[best[0]]])


class Rule(Family):
    """Learners who hold one rule on one feature, and explore."""

    name: ClassVar[str] = "rule"
    title: ClassVar[str] = "goes by one feature at a time"
    styles: ClassVar[tuple[Style, ...]] = GUESSERS

    def follow(self, seen: Seen) -> FollowedRules:
        grid = np.meshgrid(FIRMNESS, np.arange(len(MOVES)), TRUSTS, indexing="ij")
        firmness, which, trusts = (axis.ravel() for axis in grid)
        moves = np.array(MOVES)[which.astype(np.intp)]
        spoken = np.stack([firm(seen.single.log_chances, one) for one in FIRMNESS], axis=1)
        spoken = np.repeat(spoken.transpose(2, 1, 0, 3), firmness.size // len(FIRMNESS), axis=1)
        takes = attention(seen.single.validity[:, None], trusts[:, None])
        move = np.where((seen.answers == seen.labels)[:, None], moves[:, 0], moves[:, 1])[..., None]
        held = np.full((firmness.size, seen.single.count), 1 / seen.single.count)
        chances = np.ones((len(seen), firmness.size, seen.k))
        for s, answer in enumerate(seen.answers):
            chances[s] = np.vecmat(held, spoken[s])
            held = held * spoken[s, :, :, answer]
            held *= (1 - move[s]) / held.sum(axis=1, keepdims=True)
            held += move[s] * takes[s + 1]
        logits = np.log(chances).swapaxes(0, 1)
        return FollowedRules(seen, firmness, moves, held, takes[-1], logits)


def firm(log_chances: FloatArray, firmness: float) -> FloatArray:
    """Chances (…, k) that are so many times firmer."""
    powers = np.exp(firmness * log_chances)
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))
