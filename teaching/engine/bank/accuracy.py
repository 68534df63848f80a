"""No model of learning at all: how often this person was right, alone and with the difficulty of the example."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np
from scipy.special import logit

from ..arrays import FloatArray, Places
from .base import AS_EXPECTED, GUESSERS, Family, Followed, Seen, Style, combined, described
from .fading import all_left_before, left_before

# How fast earlier answers are forgotten; before the first, as though this many had been guesses.
DECAYS = (1.0, 0.9, 0.75)
GUESSES = 2.0
# After how many examples half of what there was to learn is learned.
HALF_WAYS = (1.0, 3.0, 10.0, 30.0)
# How much an example's ease moves the log odds of a right answer.
SLOPES = (0.3, 1.0)
PRACTICES = combined(HALF_WAYS, (0.0, *SLOPES))


@dataclass(frozen=True)
class FollowedAccuracy(Followed):
    """`shares` (m,): P(right) now, for an example of usual ease; `slopes` (m,): what ease adds to its log odds."""

    seen: Seen
    shares: FloatArray
    slopes: FloatArray
    logits: FloatArray
    settings: dict[str, FloatArray]

    @classmethod
    def before(
        cls, seen: Seen, shares: FloatArray, slopes: FloatArray, **settings: FloatArray
    ) -> FollowedAccuracy:
        """From P(right) before each answer and now, (m, t+1), and what else distinguishes the models, (m,) each."""
        odds = logit(shares[:, :-1]) + slopes[:, None] * seen.ease
        logits = _among_classes(odds, seen.taught, seen.log_rivals, slopes)
        return cls(seen, shares[:, -1], slopes, logits.swapaxes(1, 2), settings)

    @property
    def names(self) -> list[str]:
        return described(**self.settings, slope=self.slopes)

    def logits_now(self, at: Places) -> FloatArray:
        pool, spaces, slopes = self.seen.pool, self.seen.spaces, self.slopes
        odds = logit(self.shares[:, None]) + slopes[:, None] * spaces.ease[at]
        logits = _among_classes(odds, pool.truth[:, at], spaces.log_rivals[:, at], slopes)
        return logits.swapaxes(1, 2)


class RunningAccuracy(Family):
    """Right as often as before, and otherwise any other class alike."""

    name: ClassVar[str] = "accuracy"
    title: ClassVar[str] = "is right as often as before"
    weight: ClassVar[float] = 1.5
    leans: ClassVar[bool] = False
    styles: ClassVar[tuple[Style, ...]] = AS_EXPECTED
    decays: ClassVar[tuple[float, ...]] = DECAYS
    slopes: ClassVar[tuple[float, ...]] = (0.0,)

    def follow(self, seen: Seen) -> FollowedAccuracy:
        shares = running_shares(seen.answers == seen.labels, self.decays, seen.k)
        decays, slopes = self.grid()
        shares = np.repeat(shares, len(self.slopes), axis=0)
        return FollowedAccuracy.before(seen, shares, slopes, decay=decays)

    @classmethod
    @cache
    def grid(cls) -> tuple[FloatArray, ...]:
        """Decays and slopes of the models, (m,) each."""
        return combined(cls.decays, cls.slopes)


class Difficulty(RunningAccuracy):
    """Right as often as before, more often where the target finds it easy; wrong in favour of similar classes."""

    name: ClassVar[str] = "difficulty"
    title: ClassVar[str] = "is right as often as the image is easy"
    weight: ClassVar[float] = 1.0
    leans: ClassVar[bool] = True
    decays: ClassVar[tuple[float, ...]] = DECAYS[:2]
    slopes: ClassVar[tuple[float, ...]] = (0.0, *SLOPES)


class Practice(Family):
    """Better from example to example, whatever is shown: errors fall as h/(h + number of examples)."""

    name: ClassVar[str] = "practice"
    title: ClassVar[str] = "gets better with practice"
    styles: ClassVar[tuple[Style, ...]] = GUESSERS

    def follow(self, seen: Seen) -> FollowedAccuracy:
        half_ways, slopes = PRACTICES
        left = half_ways[:, None] / (half_ways[:, None] + np.arange(len(seen) + 1))
        shares = 1 - (1 - 1 / seen.k) * left
        return FollowedAccuracy.before(seen, shares, slopes, half_way=half_ways)


def running_shares(is_right: np.ndarray, decays: Iterable[float], k: int) -> FloatArray:
    """P(right) before each answer and now, (m, t+1)."""
    t, each = is_right.size, tuple(decays)
    right = left_before(t, *each) @ is_right
    return np.asarray((right + GUESSES / k) / (all_left_before(t, *each) + GUESSES))


def _among_classes(
    odds: FloatArray, truth: FloatArray, log_rivals: FloatArray, slopes: FloatArray
) -> FloatArray:
    """The logits of all classes, (m, k, e), from the log odds of the true one, (m, e), and the labels, (k, e).

    They stand beside the logs of how probable each other class is among the others.
    """
    others, k = log_rivals, len(truth)
    if k > 2:
        others = np.where((slopes > 0)[:, None, None], others, -math.log(k - 1))
    return np.where(truth > 0, odds[:, None], others)
