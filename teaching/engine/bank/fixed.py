"""Learners who learn nothing here: those with habits of answering, and those who knew it before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..arrays import FloatArray, Places
from .base import AS_EXPECTED, Family, Followed, Seen, Style, described
from .fading import left_before

# How fast it is forgotten which answers were given, and how often the last one is given again.
DECAYS = (1.0, 0.8)
AGAIN = 0.7
# How far apart the target concept holds the classes for those who know it.
SHARPNESS = (0.3, 1.0, 3.0)


@dataclass(frozen=True)
class FollowedHabits(Followed):
    """`chances` (m, k) of the classes for whatever comes."""

    seen: Seen
    chances: FloatArray
    logits: FloatArray

    @property
    def names(self) -> list[str]:
        said = described(answers_as_said_with_decay=DECAYS)
        return [*said, "the last answer again", "the last label again"]

    def logits_now(self, at: Places) -> FloatArray:
        e = self.seen.spaces.ease[at].size
        return np.repeat(np.log(self.chances)[:, None], e, axis=1)


class Habit(Family):
    """No learning: some classes are said more often than others, or the last answer or label again."""

    name: ClassVar[str] = "habit"
    title: ClassVar[str] = "does not learn"
    weight: ClassVar[float] = 0.5
    leans: ClassVar[bool] = False
    styles: ClassVar[tuple[Style, ...]] = AS_EXPECTED

    def follow(self, seen: Seen) -> FollowedHabits:
        again = self._again(np.stack([seen.said, seen.truth]))
        chances = np.concatenate([self._preferred(seen.said), again])
        return FollowedHabits(seen, chances[:, -1], np.log(chances[:, :-1]))

    @staticmethod
    def _preferred(said: FloatArray) -> FloatArray:
        """Each class as often as before, each said once to begin with; before each step and now, (2, t+1, k)."""
        counts = 1 + left_before(len(said), *DECAYS) @ said
        return np.asarray(counts / counts.sum(axis=-1, keepdims=True))

    @staticmethod
    def _again(said: FloatArray) -> FloatArray:
        """The last of each (2, t, k) again, and otherwise any other alike, (2, t+1, k)."""
        both, t, k = said.shape
        chances = np.full((both, t + 1, k), 1 / k)
        chances[:, 1:] = np.where(said > 0, AGAIN, (1 - AGAIN) / (k - 1))
        return chances


@dataclass(frozen=True)
class FollowedKnowledge(Followed):
    """`sharpness` (m,) of those who know the target concept."""

    seen: Seen
    sharpness: FloatArray
    logits: FloatArray

    @property
    def names(self) -> list[str]:
        return described(sharpness=self.sharpness)

    def logits_now(self, at: Places) -> FloatArray:
        return self.sharpness[:, None, None] * self.seen.spaces.relevant.points[at]


class Knowledge(Family):
    """Those who know the target concept from the start, more or less sharply."""

    name: ClassVar[str] = "knowledge"
    title: ClassVar[str] = "knew it before"

    def follow(self, seen: Seen) -> FollowedKnowledge:
        sharpness = np.array(SHARPNESS)
        logits = sharpness[:, None, None] * seen.spaces.relevant.points[seen.examples]
        return FollowedKnowledge(seen, sharpness, logits)
