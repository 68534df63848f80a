"""Learners that are not what the teachers assume: other losses, half-blind, prototypes, exemplars.

They show what a teacher is worth to a learner whom it misjudges. An answer is the likeliest class;
of classes that tie, the last.
"""

from abc import ABC, abstractmethod

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray, squared_distances
from ..classes import checked_class_count, likeliest, one_hot, softmax
from ..errors import BadSetting
from .paper import Learner, SimulatedLearner


class HingeLearner(SimulatedLearner):
    """Learns by the hinge loss max(0, 1 − (s_y − max s_c)) of its logits s = Wx: a whole step or none."""

    def slopes(self, logits: FloatArray, labels: IntArray) -> FloatArray:
        """−1 for the true class and +1 for its strongest rival while they are less than 1 apart."""
        truth = one_hot(labels, logits.shape[-1])
        own = (logits * truth).sum(axis=-1, keepdims=True)
        others = np.where(truth > 0, -np.inf, logits)
        rival = one_hot(likeliest(others), logits.shape[-1])
        is_close = own - others.max(axis=-1, keepdims=True) < 1
        return np.where(is_close, rival - truth, 0.0)


class SquaredLearner(SimulatedLearner):
    """Learns by the squared loss ‖s − e_y + 1/k‖² of its logits s = Wx: too sure is as wrong as unsure.

    The logits are taken about their mean, which tells no two classes apart.
    """

    def slopes(self, logits: FloatArray, labels: IntArray) -> FloatArray:
        """2(s − e_y + 1/k)."""
        k = logits.shape[-1]
        centred = logits - logits.mean(axis=-1, keepdims=True)
        return np.asarray(2 * (centred - one_hot(labels, k) + 1 / k))


class PartialView:
    """A learner to whom some features only are visible; the others are 0 for it."""

    def __init__(self, learner: Learner, visible: BoolArray) -> None:
        """`visible` has shape (d,)."""
        self.learner = learner
        self.visible = visible

    def probabilities(self, features: FloatArray) -> FloatArray:
        """P, shape (…, k), by what is seen of one example (d,) or many (n, d)."""
        return self.learner.probabilities(features * self.visible)

    def answer(self, x: FloatArray) -> int:
        """Name the class of what is seen of one example (d,)."""
        return self.learner.answer(x * self.visible)

    def learn(self, x: FloatArray, label: int) -> None:
        """Take what is seen of one example (d,), with its revealed label."""
        self.learner.learn(x * self.visible, label)


class MemoryLearner(ABC):
    """A learner without a concept W, who compares an example with what it remembers."""

    def __init__(self, d: int, *, classes: int) -> None:
        self.dimensions, self.classes = d, checked_class_count(classes)

    @abstractmethod
    def compared(self, features: FloatArray) -> FloatArray:
        """P of many examples (n, d), shape (n, k)."""

    @abstractmethod
    def learn(self, x: FloatArray, label: int) -> None:
        """Take one example (d,) with its revealed class."""

    def probabilities(self, features: FloatArray) -> FloatArray:
        """P, shape (…, k), for one example (d,) or many (n, d)."""
        rows = self.compared(np.atleast_2d(features))
        return rows if features.ndim == 2 else np.asarray(rows[0])

    def answer(self, x: FloatArray) -> int:
        """Name the class of one example (d,)."""
        return int(likeliest(self.probabilities(x)))


class PrototypeLearner(MemoryLearner):
    """Remembers one prototype of each class, the mean of what it was shown, and takes the nearest.

    A prototype begins at 0, the middle of centred features, with the weight of one example. It always
    moves by `least_step` of the way, so that old examples fade. P is the softmax of minus the
    squared distances, in units of `scale`.
    """

    def __init__(
        self, d: int, *, classes: int = 2, least_step: float = 0.1, scale: float = 1.0
    ) -> None:
        super().__init__(d, classes=classes)
        if not (0 <= least_step <= 1 and scale > 0):
            raise BadSetting("A prototype moves by a share of the way, and its scale is above 0.")
        self.prototypes = np.zeros((classes, d))
        self.counts = np.ones(classes, dtype=np.intp)
        self.least_step, self.scale = least_step, scale

    def compared(self, features: FloatArray) -> FloatArray:
        """P of many examples (n, d), shape (n, k)."""
        return softmax(-squared_distances(features, self.prototypes) / self.scale)

    def learn(self, x: FloatArray, label: int) -> None:
        """Move the prototype of the class towards one example (d,)."""
        self.counts[label] += 1
        step = max(1 / float(self.counts[label]), self.least_step)
        self.prototypes[label] += step * (x - self.prototypes[label])


class ExemplarLearner(MemoryLearner):
    """Remembers every example it was shown, fading by `decay` a step, and answers by the most similar.

    P is the share of each class in all that is remembered, each weighed by its similarity
    exp(−‖x − x'‖²/`width`) and by its age; 1/k where nothing is similar.
    """

    def __init__(self, d: int, *, classes: int = 2, width: float, decay: float = 0.95) -> None:
        super().__init__(d, classes=classes)
        if not (width > 0 and 0 < decay <= 1):
            raise BadSetting("The width of similarity is above 0, and its decay within (0, 1].")
        self.shown = np.empty((0, d))
        # How strongly each memory speaks for each class.
        self.strengths = np.empty((0, classes))
        self.width, self.decay = width, decay

    def compared(self, features: FloatArray) -> FloatArray:
        """P of many examples (n, d), shape (n, k)."""
        similarity = np.exp(-squared_distances(features, self.shown) / self.width)
        votes = similarity @ self.strengths
        total = votes.sum(axis=1, keepdims=True)
        nothing = np.full_like(votes, 1 / self.classes)
        return np.asarray(np.divide(votes, total, out=nothing, where=total > 0))

    def learn(self, x: FloatArray, label: int) -> None:
        """Remember one example (d,) and its class."""
        self.shown = np.vstack([self.shown, x])
        newest = one_hot(np.asarray(label), self.classes)
        self.strengths = np.vstack([self.decay * self.strengths, newest])


class RuleSwitcher(MemoryLearner):
    """Goes by one feature, on which it takes the nearest class mean, and drops it when it fails.

    After an error it goes on to another feature with the chance `restless`: to one, drawn at random, that would
    have been right about the example just shown, if there is any.
    """

    def __init__(
        self, d: int, *, classes: int = 2, restless: float = 0.5, rng: np.random.Generator
    ) -> None:
        super().__init__(d, classes=classes)
        if not 0 <= restless <= 1:
            raise BadSetting("A chance to change the rule lies in [0, 1].")
        self.restless, self._rng = restless, rng
        self.sums, self.counts = np.zeros((classes, d)), np.ones(classes)
        self.feature = int(rng.integers(d))

    @property
    def means(self) -> FloatArray:
        """Of each class along each feature, (k, d), with the weight of one example at 0."""
        return np.asarray(self.sums / self.counts[:, None])

    def compared(self, features: FloatArray) -> FloatArray:
        """P of many examples (n, d), shape (n, k): shared by the classes whose means are nearest on the feature."""
        apart = np.abs(features[:, self.feature, None] - self.means[:, self.feature])
        is_nearest = apart == apart.min(axis=1, keepdims=True)
        return np.asarray(is_nearest / is_nearest.sum(axis=1, keepdims=True))

    def learn(self, x: FloatArray, label: int) -> None:
        """Count one example (d,), and change the rule if it failed."""
        is_wrong = self.answer(x) != label
        right = np.flatnonzero(likeliest(-np.abs(x[:, None] - self.means.T)) == label)
        self.sums[label] += x
        self.counts[label] += 1
        if is_wrong and self._rng.random() < self.restless:
            others = right if right.size else np.arange(self.dimensions)
            self.feature = int(self._rng.choice(others))


class ForgettingLearner(SimulatedLearner):
    """The delta rule with a concept that fades: after each update a share `fading` of it is lost."""

    fading: float = 0.05

    def learn(self, x: FloatArray, label: int) -> None:
        """Take one example (d,), and forget a little of everything."""
        super().learn(x, label)
        self.concept = (1 - self.fading) * self.concept
