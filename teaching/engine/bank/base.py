"""What every learner model of the bank has in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from ..arrays import FloatArray, IntArray, Places
from ..classes import one_hot
from ..history import Past
from ..learners.paper import LearningRate
from ..pool import Pool
from ..spaces import Spaces
from .along import ByPlace
from .single import SingleFeatures

# Answers as firm as the logits or firmer, and how often an answer is a guess: rather rarely than often.
FIRMNESS = (1.5, 5.0)
GUESSING = {0.02: 16.0, 0.1: 6.0, 0.4: 2.0}
# As though this many answers of each class had come as often as their labels.
EVEN_ANSWERS = 2.0
# Where learners look: at everything, or at what matters alone; by their places in `Seen.among`.
GIVEN, RELEVANT = 0, 1


@dataclass(frozen=True)
class Style:
    """How a learner turns what it believes into answers: firmness φ, the chance to guess, and how common it is."""

    firmness: float
    guess: float
    weight: float = 1.0


STYLES = tuple(
    Style(firmness, guess, weight) for firmness in FIRMNESS for guess, weight in GUESSING.items()
)
GUESSERS = tuple(Style(1.0, guess, weight) for guess, weight in GUESSING.items())


@dataclass(frozen=True)
class StyleArrays:
    """Styles as arrays: the different firmness (f,), and of each style its place there, guessing and share, (s,)."""

    firmness: FloatArray
    which: IntArray
    guesses: FloatArray
    shares: FloatArray


# For models of the answers themselves: what they expect is nearly what comes.
AS_EXPECTED = (Style(1.0, 0.02),)


@dataclass(frozen=True)
class Seen:
    """A history as the models of the bank look at it: what was shown, what was said, and what is assumed."""

    pool: Pool
    examples: IntArray
    labels: IntArray
    answers: IntArray
    beta: float
    learning_rate: LearningRate

    @classmethod
    def of(cls, pool: Pool, past: Past, beta: float, learning_rate: LearningRate) -> Seen:
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
        """The labels, one-hot, shape (t, k)."""
        return one_hot(self.labels, self.k)

    @cached_property
    def taught(self) -> FloatArray:
        """The labels, one-hot, shape (k, t)."""
        return np.ascontiguousarray(self.truth.T)

    @cached_property
    def said(self) -> FloatArray:
        """The answers, one-hot, shape (t, k)."""
        return one_hot(self.answers, self.k)

    @cached_property
    def ease(self) -> FloatArray:
        """How easy the target finds what was shown, (t,)."""
        return self.spaces.ease[self.examples]

    @cached_property
    def log_rivals(self) -> FloatArray:
        """How probable it finds each class among the others, as logs, (k, t)."""
        return self.spaces.log_rivals[:, self.examples]

    @cached_property
    def leaning(self) -> FloatArray:
        """By how much more often each class was said than shown, as logs, before each step and now, (t+1, k)."""
        said = np.cumsum(self.said, axis=0) + EVEN_ANSWERS
        shown = np.cumsum(self.truth, axis=0) + EVEN_ANSWERS
        leaning = np.zeros((len(self) + 1, self.k))
        np.log(said / shown, out=leaning[1:])
        return leaning

    @cached_property
    def single(self) -> SingleFeatures:
        """What single features say."""
        return SingleFeatures(self.spaces, self.examples, self.labels, self.k)

    @cached_property
    def among(self) -> Among:
        """Products between what was shown, in either space."""
        return Among(self.spaces, self.examples, self.shown_points)

    @cached_property
    def shown_points(self) -> tuple[FloatArray, FloatArray]:
        """What was shown, as points (t, q) of either space."""
        given, relevant = self.spaces.both
        return given.points[self.examples], relevant.points[self.examples]


@dataclass(frozen=True)
class Among:
    """Inner products and distances between the examples that were shown, in either space, (2, t, t)."""

    spaces: Spaces
    shown: IntArray
    points: tuple[FloatArray, FloatArray]

    @cached_property
    def crossed(self) -> FloatArray:
        """xᵀx' as it is."""
        return np.stack([points @ points.T for points in self.points])

    @cached_property
    def plain(self) -> FloatArray:
        """xᵀx', in units of the square."""
        return np.asarray(self.crossed / self.spaces.squares)

    @cached_property
    def centred(self) -> FloatArray:
        """(x − centre)ᵀ(x' − centre), in units of the spread."""
        along = self.spaces.along_centres[:, self.shown, None]
        apart = self.crossed - along
        apart -= along.swapaxes(1, 2) - self.spaces.squared_centres
        apart /= self.spaces.spreads
        return apart

    @cached_property
    def distances(self) -> FloatArray:
        """‖x − x'‖², in units of the mean over all pairs."""
        halves = np.diagonal(self.crossed, axis1=1, axis2=2) / 2
        apart = halves[:, :, None] + halves[:, None]
        apart -= self.crossed
        np.maximum(apart, 0.0, out=apart)
        apart /= self.spaces.spreads
        return apart


class Followed(ABC):
    """The models of one family after a history.

    `logits` (m, t, k) are what each of m models believed before each answer, up to a constant: the
    logarithms of the chances of the classes. `first_shares` (m,) are how probable each is at first, within its family.
    """

    logits: FloatArray

    @property
    @abstractmethod
    def names(self) -> list[str]:
        """What distinguishes each model within its family, in words."""

    @property
    def first_shares(self) -> FloatArray:
        """Alike, unless a family knows better; they add up to one."""
        return _alike(len(self.logits))

    @abstractmethod
    def logits_now(self, at: Places) -> FloatArray:
        """What all models believe of some examples now, (m, e, k): what `logits` would have if they were shown next."""

    def directions(self, models: IntArray) -> ByPlace:
        """The vectors, by space, whose products with every example `gains` is made of; models in ascending order."""
        return {}

    def gains(self, models: IntArray, along: ByPlace) -> FloatArray | None:
        """By how much each example would raise the agreement of some models with the labels of the pool.

        (len(models), n), for models in ascending order, from the products of their directions; None if nothing would.
        """
        return None


class Family(ABC):
    """A kind of learner: a grid of models that share a mechanism.

    name: as files name it; title: as people read it; weight: how probable it is before any answer, in
    proportion to those of the other families; leans: whether its learners prefer some answers, whatever they know;
    assumed: how many times its probability it counts in a choice.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    weight: ClassVar[float] = 1.0
    assumed: ClassVar[float] = 1.0
    styles: ClassVar[tuple[Style, ...]] = STYLES
    leans: ClassVar[bool] = True

    @classmethod
    @cache
    def style_arrays(cls) -> StyleArrays:
        """The styles as arrays."""
        firmness, which = np.unique([style.firmness for style in cls.styles], return_inverse=True)
        weights = np.array([style.weight for style in cls.styles])
        guesses = np.array([style.guess for style in cls.styles])
        return StyleArrays(firmness, which, guesses, weights / weights.sum())

    @abstractmethod
    def follow(self, seen: Seen) -> Followed:
        """Run the models of the family over a history."""


@cache
def _alike(count: int) -> FloatArray:
    """Equal shares, (count,), that add up to one."""
    return np.full(count, 1 / count)


def combined(*axes: Sequence[float]) -> tuple[NDArray[Any], ...]:
    """Every combination of settings, the last changing fastest: one array of each setting."""
    return tuple(np.array(setting) for setting in zip(*product(*axes), strict=True))


def described(**settings: Iterable[object]) -> list[str]:
    """Models by their settings, one list of each: "width 0.02, decay 0.9"."""
    words = [name.replace("_", " ") for name in settings]
    rows = zip(*settings.values(), strict=True)
    return [
        ", ".join(f"{word} {one}" for word, one in zip(words, row, strict=True)) for row in rows
    ]


def looks(places: IntArray) -> list[str]:
    """Where models look, in words."""
    return [("features", "relevant")[place] for place in places]


def by_place(places: IntArray) -> list[tuple[int, slice]]:
    """Of models in ascending order of where they look: which look where, of the places where some do."""
    split = int(np.searchsorted(places, RELEVANT))
    parts = ((GIVEN, slice(0, split)), (RELEVANT, slice(split, places.size)))
    return [(place, own) for place, own in parts if own.start < own.stop]


def runs(settings: FloatArray) -> list[tuple[float, slice]]:
    """The different ones among the ascending settings of models, each with the models that have it."""
    values = settings.tolist()
    starts = [
        place for place, value in enumerate(values) if place == 0 or value != values[place - 1]
    ]
    ends = [*starts[1:], len(values)]
    return [(values[first], slice(first, last)) for first, last in zip(starts, ends, strict=True)]


def shared(settings: IntArray) -> tuple[IntArray, IntArray]:
    """The different ones among the settings of models, ascending, and which of them each model has."""
    different = np.array(sorted({*settings.tolist()}))
    return different, np.searchsorted(different, settings)


def softmax(logits: FloatArray, axis: int = -1) -> FloatArray:
    """Probabilities over an axis; of two classes by their difference, which takes half the time."""
    if logits.shape[axis] == 2:
        chances = np.empty(logits.shape)
        along: tuple[slice | int, ...] = (slice(None),) * (axis % logits.ndim)
        first, second = (*along, 0), (*along, 1)
        expit(logits[second] - logits[first], out=chances[second])
        np.subtract(1, chances[second], out=chances[first])
        return chances
    powers = np.exp(logits - logits.max(axis=axis, keepdims=True))
    powers /= powers.sum(axis=axis, keepdims=True)
    return np.asarray(powers)


def class_sums(values: FloatArray) -> FloatArray:
    """Sums over the classes of values (…, k), kept as (…, 1): a product with ones takes a third of the time."""
    return np.asarray(values @ np.ones((values.shape[-1], 1)))


def over_classes(first: FloatArray, second: FloatArray) -> FloatArray:
    """Σ_c first·second of arrays (…, k, n), of which the second may have fewer axes; (…, n)."""
    total = first[..., 0, :] * second[..., 0, :]
    for c in range(1, first.shape[-2]):
        total += first[..., c, :] * second[..., c, :]
    return np.asarray(total)


def at_labels(values: FloatArray, labels: IntArray) -> FloatArray:
    """Of values (…, k) of the classes those of the class of each example, (…, n)."""
    # No label is outside; to look at that takes several times as long as to take what is there.
    return np.asarray(np.take(values, labels, axis=-1, mode="clip"))


def own_class(values: FloatArray, labels: IntArray) -> FloatArray:
    """Of values (…, k, n) or (…, k, 1) those of the class of each example, (…, n)."""
    chosen = values[..., 0, :]
    for c in range(1, values.shape[-2]):
        chosen = np.where(labels == c, values[..., c, :], chosen)
    return np.asarray(chosen)
