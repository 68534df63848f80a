"""What all families of learner models have in common: the observed history, answer styles and the interface."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import product
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..arrays import Examples, FloatArray, IntArray
from ..classes import one_hot, softmax
from ..history import Past
from ..learners.paper import LearningRate
from ..pool import Pool
from ..spaces import Spaces
from .single_features import SingleFeatures

# The feature spaces, as indices into `Spaces.both`: the features as given, or the target's logits alone.
GIVEN, RELEVANT = 0, 1
INVERSE_TEMPERATURES = (1.5, 5.0)
# Guess rates with their prior weights.
GUESS_RATES = {0.02: 16.0, 0.1: 6.0, 0.4: 2.0}
# Pseudocounts of answers and of labels of each class in the response bias.
PSEUDOCOUNT = 2.0


@dataclass(frozen=True)
class Style:
    """How a learner turns logits into answers: P = g/k + (1 − g) softmax(φz + bias), and the prior weight of that.

    φ is the inverse temperature, g the guess rate.
    """

    inverse_temperature: float
    guess_rate: float
    weight: float = 1.0


STYLES = tuple(
    Style(temperature, guess_rate, weight)
    for temperature in INVERSE_TEMPERATURES
    for guess_rate, weight in GUESS_RATES.items()
)
GUESSING_STYLES = tuple(
    Style(1.0, guess_rate, weight) for guess_rate, weight in GUESS_RATES.items()
)
# For models of the answers themselves, which expect guesses already.
DIRECT_STYLES = (Style(1.0, 0.02),)


@dataclass(frozen=True)
class StyleArrays:
    """The styles of a family as arrays.

    `temperatures` (f,) are the distinct inverse temperatures, `which` (s,) the index of each style's temperature,
    `guess_rates` (s,) and `prior` (s,), which adds up to 1.
    """

    temperatures: FloatArray
    which: IntArray
    guess_rates: FloatArray
    prior: FloatArray


@dataclass(frozen=True)
class Observations:
    """A history as the models see it: examples, labels and answers (t,), and what the study assumes."""

    pool: Pool
    examples: IntArray
    labels: IntArray
    answers: IntArray
    beta: float
    learning_rate: LearningRate

    @classmethod
    def of(cls, pool: Pool, past: Past, beta: float, learning_rate: LearningRate) -> Observations:
        labels = pool.labels[past.examples]
        return cls(pool, past.examples, labels, past.answers, beta, learning_rate)

    def __len__(self) -> int:
        return int(self.examples.size)

    @property
    def k(self) -> int:
        return self.pool.class_count

    @property
    def spaces(self) -> Spaces:
        return self.pool.spaces

    @cached_property
    def truth(self) -> FloatArray:
        """The labels, one-hot, (t, k)."""
        return one_hot(self.labels, self.k)

    @cached_property
    def response_bias(self) -> FloatArray:
        """log of how much more often each class was answered than shown, before each step and now, (t+1, k)."""
        answered = np.cumsum(one_hot(self.answers, self.k), axis=0) + PSEUDOCOUNT
        shown = np.cumsum(self.truth, axis=0) + PSEUDOCOUNT
        bias = np.zeros((len(self) + 1, self.k))
        np.log(answered / shown, out=bias[1:])
        return bias

    @cached_property
    def single_features(self) -> SingleFeatures:
        """What each feature alone predicts."""
        return SingleFeatures(self.spaces.standard, self.examples, self.labels, self.k)

    @cached_property
    def points(self) -> tuple[FloatArray, FloatArray]:
        """The shown examples as points (t, q) of both spaces."""
        given, relevant = self.spaces.both
        return given.points[self.examples], relevant.points[self.examples]

    @cached_property
    def products(self) -> FloatArray:
        """xᵀx' between shown examples in units of the mean square, (2, t, t), for both spaces."""
        pairs = zip(self.points, self.spaces.both, strict=True)
        return np.stack([points @ points.T / space.mean_square for points, space in pairs])


class Predictions(ABC):
    """What the m models of a family predict for a history.

    `logits` (m, t, k) are the beliefs before each answer, `prior` (m,) the probabilities of the models in the family.
    """

    logits: FloatArray

    @property
    @abstractmethod
    def names(self) -> list[str]:
        """The settings of each model, as text."""

    @property
    def prior(self) -> FloatArray:
        return np.full(len(self.logits), 1 / len(self.logits))

    @abstractmethod
    def logits_at(self, examples: Examples) -> FloatArray:
        """The beliefs about some examples after the last step, (m, e, k)."""

    def gains(self, models: IntArray) -> FloatArray | None:
        """The rise of the agreement with the labels (`agreement.py`) if an example is shown next, (len(models), n).

        `models` are in ascending order. None if the models learn nothing from an example.
        """
        return None


class Family(ABC):
    """A kind of learner: a grid of models with the same mechanism.

    name: as stored and exported; title: completes the sentence "the worker …"; weight: the prior weight beside those of
    the other families; choice_weight: a factor of the posterior when the teacher chooses; is_biased: whether the
    response bias is added to the logits.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    weight: ClassVar[float] = 1.0
    choice_weight: ClassVar[float] = 1.0
    styles: ClassVar[tuple[Style, ...]] = STYLES
    is_biased: ClassVar[bool] = True

    @classmethod
    @cache
    def style_arrays(cls) -> StyleArrays:
        temperatures, which = np.unique(
            [style.inverse_temperature for style in cls.styles], return_inverse=True
        )
        weights = np.array([style.weight for style in cls.styles])
        guess_rates = np.array([style.guess_rate for style in cls.styles])
        return StyleArrays(temperatures, which, guess_rates, weights / weights.sum())

    @classmethod
    def chances(cls, logits: FloatArray, bias: FloatArray) -> FloatArray:
        """P of all classes without guesses at each temperature, (f, m, e, k), for logits (m, e, k), bias (…, k)."""
        sharpened = cls.style_arrays().temperatures[:, None, None, None] * logits
        return softmax(sharpened + bias if cls.is_biased else sharpened)

    @abstractmethod
    def predict(self, observed: Observations) -> Predictions:
        """Run all models over a history."""


def combined(*axes: Sequence[float]) -> tuple[NDArray[Any], ...]:
    """All combinations of settings, the last varying fastest: one array per setting."""
    return tuple(np.array(setting) for setting in zip(*product(*axes), strict=True))


def described(**settings: Iterable[object]) -> list[str]:
    """The settings of each model as text, such as "width 0.02, decay 0.9"."""
    words = [name.replace("_", " ") for name in settings]
    rows = zip(*settings.values(), strict=True)
    return [
        ", ".join(f"{word} {one}" for word, one in zip(words, row, strict=True)) for row in rows
    ]


def space_names(spaces: IntArray) -> list[str]:
    return [("features", "relevant")[space] for space in spaces]


def by_space(spaces: IntArray) -> list[tuple[int, slice]]:
    """The models that use each space, for models in ascending order of their space; unused spaces are left out."""
    split = int(np.searchsorted(spaces, RELEVANT))
    parts = ((GIVEN, slice(0, split)), (RELEVANT, slice(split, spaces.size)))
    return [(space, own) for space, own in parts if own.start < own.stop]


def of_labels(values: FloatArray, labels: IntArray) -> FloatArray:
    """The values (m, k, n) of each example's own class, (m, n)."""
    return np.asarray(values[:, labels, np.arange(labels.size)])


@lru_cache(maxsize=256)
def decay_weights(t: int, *decays: float) -> FloatArray:
    """δ^(s−1−r), the weight of step r before step s and after the last, (len(decays), t+1, t); 0 for later steps."""
    age = np.arange(t + 1)[:, None] - 1 - np.arange(t)
    powers = np.power.outer(np.array(decays, dtype=np.float64), np.maximum(age, 0))
    return np.where(age >= 0, powers, 0.0)
