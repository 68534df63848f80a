"""Learners who go by one feature at a time, and try another when it fails.

Which feature a learner holds is hidden. Answers tell about it; after feedback a learner moves on, rarely when it was
right and often when it was wrong, to features in proportion to how well they have predicted the labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..arrays import FloatArray, IntArray, Places
from .agreement import Agreement
from .along import ByPlace
from .base import (
    GUESSERS,
    Family,
    Followed,
    Seen,
    Style,
    class_sums,
    combined,
    described,
    own_class,
)
from .beliefs import Beliefs, to_power
from .single import attention

# How firmly a learner goes by its feature, how often it moves on when right and when wrong, and how much the
# record of a feature counts for taking it up.
FIRMNESS = (1.0, 4.0)
MOVES = ((0.02, 0.1), (0.05, 0.5))
TRUSTS = (0.3, 1.0)
GRID = combined(FIRMNESS, range(len(MOVES)), TRUSTS)
# Features that a learner holds or takes up less probably than this share of the likeliest are left out of gains.
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

    def logits_now(self, at: Places) -> FloatArray:
        votes = self.seen.single.votes_at(at).swapaxes(1, 2)
        chances = votes / class_sums(votes)
        said = [
            np.tensordot(self.held[self.firmness == one], firm(chances, one), 1) for one in FIRMNESS
        ]
        return np.asarray(np.log(np.concatenate(said)))

    def gains(self, models: IntArray, along: ByPlace) -> FloatArray:
        """Who holds f moves on with chance m_f(x), and gains S' − S_f of agreement, S' that of what is taken up."""
        held, taken = self.held[models], self.taken[models]
        counts = likely(held + taken) > 0
        features = np.flatnonzero(counts.any(axis=0))
        heard = Beliefs.of_votes(self.seen.single.votes(features))
        hopes = self._hopes(
            models, heard, (counts * held)[:, features], (counts * taken)[:, features]
        )
        hoped = self._spoken(models, heard, hopes)
        when_right, when_wrong = self.moves[models].T[:, :, None]
        rises = hopes.sum(axis=1, keepdims=True)
        gains = when_wrong * rises - (when_wrong - when_right) * self._right(hoped, rises)
        return np.asarray(gains)

    def _hopes(
        self, models: IntArray, heard: Beliefs, held: FloatArray, taken: FloatArray
    ) -> FloatArray:
        """held_f (S' − S_f) of models, for some features, (len(models), f)."""
        agreement = agreements(heard, self.seen.spaces.truth, self.firmness[models])
        then = np.vecdot(taken, agreement) / taken.sum(axis=1)
        return np.asarray(_shares(held) * (then[:, None] - agreement))

    def _spoken(self, models: IntArray, heard: Beliefs, weights: FloatArray) -> FloatArray:
        """Sums of the chances by some features, by weights (len(models), f); (len(models), …) like `chances`."""
        firmness, shape = self.firmness[models], heard.odds.shape
        spoken = np.empty((len(weights), *shape[1:]))
        for one in sorted({*firmness.tolist()}):
            chances = heard.chances(one).reshape(shape[0], -1)
            own = firmness == one
            spoken[own] = (weights[own] @ chances).reshape(-1, *shape[1:])
        return spoken

    def _right(self, spoken: FloatArray, totals: FloatArray) -> FloatArray:
        """Of sums over chances those of the labels, (len(models), n); `totals` (len(models), 1) are of all classes."""
        labels = self.seen.pool.labels
        if self.seen.k == 2:
            return np.where(labels == 1, spoken, totals - spoken)
        return own_class(spoken, labels)


def agreements(heard: Beliefs, truth: FloatArray, firmness: FloatArray) -> FloatArray:
    """With the labels as t (k, n), of those who go by one feature, so firmly (m,), of which all f are heard; (m, f)."""
    logs = np.log(heard.odds)
    found = Agreement.of_differences(-logs, truth) if heard.k == 2 else Agreement.of(logs, truth)
    by = firmness[:, None]
    return Agreement(by * found.products, by**2 * found.squares, heard.k).now


def _shares(weights: FloatArray) -> FloatArray:
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def likely(weights: FloatArray) -> FloatArray:
    """Weights (…, s) of features, 0 where they are left out of gains."""
    kept = np.where(weights >= HARDLY * weights.max(axis=-1, keepdims=True), weights, 0.0)
    falling = np.argsort(-weights, axis=-1, kind="stable").reshape(-1, weights.shape[-1])
    rest = falling[:, MOST_HELD:] + weights.shape[-1] * np.arange(len(falling))[:, None]
    kept.flat[rest.ravel()] = 0.0
    return kept


class Rule(Family):
    """Learners who hold one rule on one feature, and explore."""

    name: ClassVar[str] = "rule"
    title: ClassVar[str] = "goes by one feature at a time"
    styles: ClassVar[tuple[Style, ...]] = GUESSERS

    def follow(self, seen: Seen) -> FollowedRules:
        firmness, which, trusts = GRID
        moves = np.array(MOVES)[which]
        # Of each step and firmness, (t, f, s, k).
        spoken = np.empty((len(seen), len(FIRMNESS), seen.single.count, seen.k))
        for own, one in zip(spoken.transpose(1, 2, 0, 3), FIRMNESS, strict=True):
            own[:] = firm(seen.single.chances, one)
        said = spoken[np.arange(len(seen)), :, :, seen.answers]
        takes = attention(seen.single.validity[:, None], np.array(TRUSTS)[:, None])
        takes = takes[:, np.arange(trusts.size) % len(TRUSTS)]
        move = moves.T[(seen.answers != seen.labels).astype(np.intp)][..., None]
        each = firmness.size // len(FIRMNESS)
        held = held_before(np.repeat(said, each, axis=1), move, takes)
        # Models that are as firm go by the same chances.
        alike = held[:-1].reshape(len(seen), len(FIRMNESS), each, seen.single.count)
        chances = np.vecmat(alike, spoken[:, :, None])
        logits = np.log(chances.reshape(len(seen), firmness.size, seen.k)).swapaxes(0, 1)
        return FollowedRules(seen, firmness, moves, held[-1], takes[-1], logits)


def held_before(said: FloatArray, move: FloatArray, takes: FloatArray) -> FloatArray:
    """Which feature is held before each step and now, (t+1, m, s), all alike at first.

    `said` (t, m, s) are the chances of the answers by each feature, `move` (t, m, 1) those to move on, and `takes`
    (t+1, m, s) where to.
    """
    stayed, moved = said * (1 - move), move * takes[1:]
    held = np.empty(takes.shape)
    held[0] = 1 / takes.shape[-1]
    total = np.empty(takes.shape[1])
    by = total[:, None]
    # One step after the other, as plain calls: there are many of them.
    for before, heard, stay, come, now in zip(held, said, stayed, moved, held[1:], strict=False):
        np.multiply(before, stay, out=now)
        np.vecdot(before, heard, out=total)
        now /= by
        now += come
    return held


def firm(chances: FloatArray, firmness: float) -> FloatArray:
    """Chances (…, k) that are so many times firmer."""
    if firmness == 1:
        return chances
    powers = np.empty(chances.shape)
    to_power(chances, firmness, out=powers)
    powers /= class_sums(powers)
    return powers
