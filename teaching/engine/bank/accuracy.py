"""No model of learning at all: how often this person was right, alone and with the difficulty of the example."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit, logit

from ..arrays import FloatArray, IntArray
from ..classes import one_hot
from .base import AS_EXPECTED, GUESSERS, Family, Followed, Seen, Style

# How fast earlier answers are forgotten; before the first, as though this many had been guesses.
DECAYS = (1.0, 0.9, 0.75)
GUESSES = 2.0
# After how many examples half of what there was to learn is learned.
HALF_WAYS = (1.0, 3.0, 10.0, 30.0)
# How much an example's ease moves the log odds of a right answer.
SLOPES = (0.3, 1.0)


@dataclass(frozen=True)
class FollowedAccuracy(Followed):
    """`shares` (m,): P(right) now, for an example of usual ease; `slopes` (m,): what ease adds to its log odds."""

    seen: Seen
    shares: FloatArray
    slopes: FloatArray
    logits: FloatArray

    def beliefs(self, models: IntArray) -> FloatArray:
        everything = np.arange(self.seen.pool.n)
        return expected(self.seen, self.shares[models][:, None], self.slopes[models], everything)


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
        grid = np.meshgrid(self.decays, self.slopes, indexing="ij")
        decays, slopes = (axis.ravel() for axis in grid)
        shares = running_shares(seen.answers == seen.labels, decays, seen.k)
        logits = expected(seen, shares[:, :-1], slopes, seen.examples)
        return FollowedAccuracy(seen, shares[:, -1], slopes, logits)


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
        half_ways, slopes = (
            axis.ravel() for axis in np.meshgrid(HALF_WAYS, [0.0, *SLOPES], indexing="ij")
        )
        left = half_ways[:, None] / (half_ways[:, None] + np.arange(len(seen) + 1))
        shares = 1 - (1 - 1 / seen.k) * left
        logits = expected(seen, shares[:, :-1], slopes, seen.examples)
        return FollowedAccuracy(seen, shares[:, -1], slopes, logits)


def running_shares(is_right: np.ndarray, decays: FloatArray, k: int) -> FloatArray:
    """P(right) before each answer and now, (m, t+1)."""
    t = is_right.size
    ages = np.arange(t + 1)[:, None] - 1 - np.arange(t)
    left = np.where(ages >= 0, decays[:, None, None] ** np.maximum(ages, 0), 0.0)
    return np.asarray((left @ is_right + GUESSES / k) / (left.sum(axis=-1) + GUESSES))


def expected(seen: Seen, shares: FloatArray, slopes: FloatArray, examples: IntArray) -> FloatArray:
    """The logs of the chances of all classes, (m, e, k), where an example of usual ease is right with `shares`."""
    spaces, k = seen.spaces, seen.k
    right = expit(logit(shares) + slopes[:, None] * spaces.ease[examples])[:, :, None]
    alike = np.full((examples.size, k), 1 / (k - 1))
    is_sloped = (slopes > 0)[:, None, None]
    others = np.where(is_sloped, spaces.rivals[examples], alike)
    truth = one_hot(seen.pool.labels[examples], k)
    return np.asarray(np.log(np.where(truth > 0, right, np.maximum((1 - right) * others, 1e-12))))
