"""Learners who go by one feature at a time, and try another when it fails.

Which feature a learner holds is hidden. Answers tell about it; after feedback a learner moves on, rarely when it was
right and often when it was wrong, to features in proportion to how well they have predicted the labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from .base import GUESSERS, Family, Followed, Seen, Style, combined, described, own_class, softmax
from .single import attention

# How firmly a learner goes by its feature, how often it moves on when right and when wrong, and how much the
# record of a feature counts for taking it up.
FIRMNESS = (1.0, 4.0)
MOVES = ((0.02, 0.1), (0.05, 0.5))
TRUSTS = (0.3, 1.0)
GRID = combined(FIRMNESS, range(len(MOVES)), TRUSTS)
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

    @property
    def names(self) -> list[str]:
        right, wrong = self.moves.T
        return described(
            firmness=self.firmness, moves_when_right=right, when_wrong=wrong, trust=GRID[2]
        )

    def beliefs(self, models: IntArray) -> FloatArray:
        believed = np.empty((models.size, self.seen.k, self.seen.pool.n))
        for own, features, chances in self._spoken(models):
            held = likely(self.held[models[own]])[:, features]
            mixed = held / held.sum(axis=1, keepdims=True)
            believed[own] = np.log(np.tensordot(mixed, chances, axes=1))
        return believed

    def gains(self, models: IntArray, beliefs: FloatArray) -> FloatArray:
        """Who holds f moves on with chance m_f(x), and gains S' − S_f of agreement, S' that of what is taken up."""
        gained = np.empty((models.size, self.seen.pool.n))
        for own, features, chances in self._spoken(models):
            agreement = self.seen.single.agreement(features, self.firmness[models[own][0]])
            right = own_class(chances, self.seen.pool.labels)
            held, taken = self.held[models[own]], self.taken[models[own]]
            is_likely = (likely(held + taken) > 0)[:, features]
            held, taken = held[:, features] * is_likely, taken[:, features] * is_likely
            then = taken @ agreement / taken.sum(axis=1)
            wanted = held / held.sum(axis=1, keepdims=True) * (then[:, None] - agreement)
            when_right, when_wrong = self.moves[models[own]].T[:, :, None]
            rises = wanted.sum(axis=1, keepdims=True)
            gained[own] = when_wrong * rises - (when_wrong - when_right) * (wanted @ right)
        return gained

    def _spoken(self, models: IntArray) -> list[tuple[BoolArray, IntArray, FloatArray]]:
        """The models of each firmness, the features that count for any of them, and their chances (f, k, n)."""
        held, taken = self.held[models], self.taken[models]
        counts = (likely(held) > 0) | (likely(held + taken) > 0)
        found = []
        for firmness in np.unique(self.firmness[models]):
            own = self.firmness[models] == firmness
            features = np.flatnonzero(counts[own].any(axis=0))
            logs = firmness * self.seen.single.now(features)
            found.append((own, features, softmax(logs, axis=1)))
        return found


def likely(weights: FloatArray) -> FloatArray:
    """Weights (m, s) of features, 0 where they are left out of beliefs."""
    order = np.argsort(-weights, axis=1, kind="stable")
    highest = np.take_along_axis(weights, order[:, :1], axis=1)
    kept = np.where(weights >= HARDLY * highest, weights, 0.0)
    np.put_along_axis(kept, order[:, MOST_HELD:], 0.0, axis=1)
    return kept


class Rule(Family):
    """Learners who hold one rule on one feature, and explore."""

    name: ClassVar[str] = "rule"
    title: ClassVar[str] = "goes by one feature at a time"
    styles: ClassVar[tuple[Style, ...]] = GUESSERS

    def follow(self, seen: Seen) -> FollowedRules:
        firmness, which, trusts = GRID
        moves = np.array(MOVES)[which]
        spoken = np.stack([firm(seen.single.log_chances, one) for one in FIRMNESS], axis=1)
        spoken = np.repeat(spoken.transpose(2, 1, 0, 3), firmness.size // len(FIRMNESS), axis=1)
        takes = attention(seen.single.validity[:, None], trusts[:, None])
        move = np.where((seen.answers == seen.labels)[:, None], moves[:, 0], moves[:, 1])[..., None]
        held = held_before(seen.answers, spoken, move, takes)
        logits = np.log(np.vecmat(held[:-1], spoken)).swapaxes(0, 1)
        return FollowedRules(seen, firmness, moves, held[-1], takes[-1], logits)


def held_before(
    answers: IntArray, spoken: FloatArray, move: FloatArray, takes: FloatArray
) -> FloatArray:
    """Which feature is held before each step and now, (t+1, m, s), all alike at first.

    `spoken` (t, m, s, k) are the chances of answers by each feature, `move` (t, m, 1) those to move on, and `takes`
    (t+1, m, s) where to.
    """
    steps = np.arange(answers.size)
    said = np.ascontiguousarray(spoken[steps, :, :, answers])
    stays, moved = 1 - move, move * takes[1:]
    held = np.empty(takes.shape)
    held[0] = 1 / takes.shape[-1]
    for s in steps:
        now = np.multiply(held[s], said[s], out=held[s + 1])
        now *= stays[s] / now.sum(axis=1, keepdims=True)
        now += moved[s]
    return held


def firm(log_chances: FloatArray, firmness: float) -> FloatArray:
    """Chances (…, k) that are so many times firmer."""
    powers = np.exp(firmness * log_chances)
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))
