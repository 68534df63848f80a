"""Models of how often answers are right, without a model of learning: running accuracy, and practice."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import logit

from ..arrays import Examples, FloatArray
from .base import (
    DIRECT_STYLES,
    GUESSING_STYLES,
    Family,
    Observations,
    Predictions,
    Style,
    combined,
    decay_weights,
    described,
)

# Decays of earlier answers, and the number of guesses that the count begins with.
DECAYS = (1.0, 0.9, 0.75)
INITIAL_GUESSES = 2.0
# Practice: examples until half is learned, and the effect of an example's ease on the log odds of a right answer.
HALF_LIVES = (1.0, 3.0, 10.0, 30.0)
SLOPES = (0.0, 0.3, 1.0)
PRACTICES = combined(HALF_LIVES, SLOPES)


@dataclass(frozen=True)
class AccuracyPredictions(Predictions):
    """`accuracy` (m, t+1) is P(right) before each answer and now, for an example of average ease; `slopes` (m,)."""

    observed: Observations
    accuracy: FloatArray
    slopes: FloatArray
    settings: dict[str, FloatArray]

    def __post_init__(self) -> None:
        logits = self._logits(self.accuracy[:, :-1], self.observed.examples)
        object.__setattr__(self, "logits", logits)

    @property
    def names(self) -> list[str]:
        return described(**self.settings)

    def logits_at(self, examples: Examples) -> FloatArray:
        return self._logits(self.accuracy[:, -1:], examples)

    def _logits(self, accuracy: FloatArray, examples: Examples) -> FloatArray:
        """The log odds of the true class beside log P of each rival among the rivals, (m, e, k)."""
        spaces, k = self.observed.spaces, self.observed.k
        odds = logit(accuracy) + self.slopes[:, None] * spaces.ease[examples]
        rivals = np.where(
            self.slopes[:, None, None] > 0, spaces.log_rivals[examples], -math.log(k - 1)
        )
        is_true = self.observed.pool.truth[:, examples].T > 0
        return np.where(is_true, odds[..., None], rivals)


class RunningAccuracy(Family):
    """Right as often as so far; errors are spread evenly over the other classes."""

    name: ClassVar[str] = "accuracy"
    title: ClassVar[str] = "is right as often as before"
    weight: ClassVar[float] = 1.5
    is_biased: ClassVar[bool] = False
    styles: ClassVar[tuple[Style, ...]] = DIRECT_STYLES

    def predict(self, observed: Observations) -> AccuracyPredictions:
        weights = decay_weights(len(observed), *DECAYS)
        right = weights @ (observed.answers == observed.labels)
        accuracy = (right + INITIAL_GUESSES / observed.k) / (weights.sum(axis=-1) + INITIAL_GUESSES)
        settings = {"decay": np.array(DECAYS)}
        return AccuracyPredictions(observed, accuracy, np.zeros(len(DECAYS)), settings)


class Practice(Family):
    """Improves with every example, whatever is shown: errors fall as h/(h + number of examples)."""

    name: ClassVar[str] = "practice"
    title: ClassVar[str] = "gets better with practice"
    styles: ClassVar[tuple[Style, ...]] = GUESSING_STYLES

    def predict(self, observed: Observations) -> AccuracyPredictions:
        half_lives, slopes = PRACTICES
        left = half_lives[:, None] / (half_lives[:, None] + np.arange(len(observed) + 1))
        accuracy = 1 - (1 - 1 / observed.k) * left
        settings = {"half_life": half_lives, "slope": slopes}
        return AccuracyPredictions(observed, accuracy, slopes, settings)
