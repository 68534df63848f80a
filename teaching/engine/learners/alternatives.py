"""Learners that are not what the teachers assume: other losses, half-blind, prototypes, exemplars.

They show what a teacher is worth to a learner whom it misjudges. An answer is the side of ½ on which
p lies; a tie answers +1.
"""

from abc import ABC, abstractmethod

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from ..arrays import BoolArray, FloatArray, squared_distances
from ..errors import BadSetting
from .paper import Learner, SimulatedLearner


class HingeLearner(SimulatedLearner):
    """Learns by the hinge loss max(0, 1 − y wᵀx): a whole step or none."""

    def slopes(self, margins: npt.ArrayLike, labels: npt.ArrayLike) -> FloatArray:
        """−y where y wᵀx is below 1, and 0 beyond."""
        y = np.asarray(labels, dtype=np.float64)
        return np.where(y * np.asarray(margins) < 1, -y, 0.0)


class SquaredLearner(SimulatedLearner):
    """Learns by the squared loss ½(wᵀx − y)²: too sure is as wrong as not sure enough."""

    def slopes(self, margins: npt.ArrayLike, labels: npt.ArrayLike) -> FloatArray:
        """wᵀx − y."""
        return np.asarray(margins) - np.asarray(labels, dtype=np.float64)


class PartialView:
    """A learner to whom some features only are visible; the others are 0 for it."""

    def __init__(self, learner: Learner, visible: BoolArray) -> None:
        """`visible` has shape (d,)."""
        self.learner = learner
        self.visible = visible

    def probability(self, x: FloatArray) -> float:
        """p by what is seen of one example (d,)."""
        return self.learner.probability(x * self.visible)

    def answer(self, x: FloatArray) -> int:
        """Label what is seen of one example (d,)."""
        return self.learner.answer(x * self.visible)

    def learn(self, x: FloatArray, label: int) -> None:
        """Take what is seen of one example (d,), with its revealed label."""
        self.learner.learn(x * self.visible, label)


class MemoryLearner(ABC):
    """A learner without a concept w, who compares an example with what it remembers."""

    @abstractmethod
    def probabilities(self, features: FloatArray) -> FloatArray:
        """p of many examples (n, d), shape (n,)."""

    @abstractmethod
    def learn(self, x: FloatArray, label: int) -> None:
        """Take one example (d,) with its revealed label."""

    def probability(self, x: FloatArray) -> float:
        """p of one example (d,)."""
        return float(self.probabilities(x[None])[0])

    def answer(self, x: FloatArray) -> int:
        """Label one example (d,) with −1 or +1."""
        return 1 if self.probability(x) >= 0.5 else -1


class PrototypeLearner(MemoryLearner):
    """Remembers one prototype of each class, the mean of what it was shown, and takes the nearer.

    A prototype begins at 0, the middle of centred features, with the weight of one example. It always
    moves by `least_step` of the way, so that old examples fade. p is logistic in the difference of the
    squared distances, in units of `scale`.
    """

    def __init__(self, d: int, *, least_step: float = 0.1, scale: float = 1.0) -> None:
        if not (0 <= least_step <= 1 and scale > 0):
            raise BadSetting("A prototype moves by a share of the way, and its scale is above 0.")
        self.prototypes = {-1: np.zeros(d), 1: np.zeros(d)}
        self.counts = {-1: 1, 1: 1}
        self.least_step, self.scale = least_step, scale

    def probabilities(self, features: FloatArray) -> FloatArray:
        """p of many examples (n, d), shape (n,)."""
        minus, plus = (squared_distances(features, self.prototypes[c][None]) for c in (-1, 1))
        return np.asarray(expit((minus - plus)[:, 0] / self.scale))

    def learn(self, x: FloatArray, label: int) -> None:
        """Move the prototype of the label towards one example (d,)."""
        self.counts[label] += 1
        step = max(1 / self.counts[label], self.least_step)
        way = x - self.prototypes[label]
        self.prototypes[label] = self.prototypes[label] + step * way


class ExemplarLearner(MemoryLearner):
    """Remembers every example it was shown, fading by `decay` a step, and answers by the most similar.

    p is the share of the +1 among all that is remembered, each weighed by its similarity
    exp(−‖x − x'‖²/`width`) and by its age; ½ where nothing is similar.
    """

    def __init__(self, d: int, *, width: float, decay: float = 0.95) -> None:
        if not (width > 0 and 0 < decay <= 1):
            raise BadSetting("The width of similarity is above 0, and its decay within (0, 1].")
        self.shown = np.empty((0, d))
        self.strengths = np.empty(0)
        self.width, self.decay = width, decay

    def probabilities(self, features: FloatArray) -> FloatArray:
        """p of many examples (n, d), shape (n,)."""
        similarity = np.exp(-squared_distances(features, self.shown) / self.width)
        total = similarity @ np.abs(self.strengths)
        plus = similarity @ np.maximum(self.strengths, 0)
        nothing = np.full_like(total, 0.5)
        return np.asarray(np.divide(plus, total, out=nothing, where=total > 0))

    def learn(self, x: FloatArray, label: int) -> None:
        """Remember one example (d,) and its label."""
        self.shown = np.vstack([self.shown, x])
        self.strengths = np.append(self.decay * self.strengths, label)
