"""Learners that the teachers do not assume, and the kinds of learners that the estimators are compared on.

An answer is the most likely class; of classes that tie, the last.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from teaching.engine import BadSetting, Habits, LearningRate, Pool, SimulatedLearner, Teacher
from teaching.engine.arrays import BoolArray, FloatArray, IntArray, squared_distances
from teaching.engine.classes import checked_class_count, likeliest, one_hot, softmax
from teaching.engine.learners.paper import Learner
from teaching.engine.learners.people import SimulatedWorker, make_worker

from .teachers import OmniscientJEDI


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
    """Learns by the squared loss ‖s − e_y + 1/k‖² of its centred logits s = Wx: too sure is as wrong as unsure."""

    def slopes(self, logits: FloatArray, labels: IntArray) -> FloatArray:
        """2(s − e_y + 1/k)."""
        k = logits.shape[-1]
        centred = logits - logits.mean(axis=-1, keepdims=True)
        return np.asarray(2 * (centred - one_hot(labels, k) + 1 / k))


class PartialView:
    """A learner that sees only some features; the others are 0 for it."""

    def __init__(self, learner: Learner, visible: BoolArray) -> None:
        """`visible` has shape (d,)."""
        self.learner = learner
        self.visible = visible

    def probabilities(self, features: FloatArray) -> FloatArray:
        """P, shape (…, k), for the visible part of one example (d,) or many (n, d)."""
        return self.learner.probabilities(features * self.visible)

    def answer(self, x: FloatArray) -> int:
        """The answer to the visible part of one example (d,)."""
        return self.learner.answer(x * self.visible)

    def learn(self, x: FloatArray, label: int) -> None:
        """Learn from the visible part of one example (d,) and its revealed label."""
        self.learner.learn(x * self.visible, label)


class MemoryLearner(ABC):
    """A learner without a concept W, which compares examples with its memory."""

    def __init__(self, d: int, *, classes: int) -> None:
        self.dimensions, self.classes = d, checked_class_count(classes)

    @abstractmethod
    def compared(self, features: FloatArray) -> FloatArray:
        """P of many examples (n, d), shape (n, k)."""

    @abstractmethod
    def learn(self, x: FloatArray, label: int) -> None:
        """Learn from one example (d,) and its revealed class."""

    def probabilities(self, features: FloatArray) -> FloatArray:
        """P, shape (…, k), for one example (d,) or many (n, d)."""
        rows = self.compared(np.atleast_2d(features))
        return rows if features.ndim == 2 else np.asarray(rows[0])

    def answer(self, x: FloatArray) -> int:
        """The answer to one example (d,)."""
        return int(likeliest(self.probabilities(x)))


class PrototypeLearner(MemoryLearner):
    """Remembers one prototype of each class, the mean of its examples, and answers the nearest.

    A prototype starts at 0, the middle of centred features, with the weight of one example. It always moves by at
    least `min_step` of the way, so that old examples fade. P is the softmax of the negative squared distances, in units
    of `scale`.
    """

    def __init__(
        self, d: int, *, classes: int = 2, min_step: float = 0.1, scale: float = 1.0
    ) -> None:
        super().__init__(d, classes=classes)
        if not (0 <= min_step <= 1 and scale > 0):
            raise BadSetting("A prototype moves by a share of the way, and its scale is above 0.")
        self.prototypes = np.zeros((classes, d))
        self.counts = np.ones(classes, dtype=np.intp)
        self.min_step, self.scale = min_step, scale

    def compared(self, features: FloatArray) -> FloatArray:
        """P of many examples (n, d), shape (n, k)."""
        return softmax(-squared_distances(features, self.prototypes) / self.scale)

    def learn(self, x: FloatArray, label: int) -> None:
        """Move the prototype of the class towards one example (d,)."""
        self.counts[label] += 1
        step = max(1 / float(self.counts[label]), self.min_step)
        self.prototypes[label] += step * (x - self.prototypes[label])


class ExemplarLearner(MemoryLearner):
    """Remembers every example, with a weight that decays by `decay` per step, and answers by similarity.

    P is the share of each class among the remembered examples, weighted by the similarity exp(−‖x − x'‖²/`width`) and
    the age; 1/k if nothing is similar.
    """

    def __init__(self, d: int, *, classes: int = 2, width: float, decay: float = 0.95) -> None:
        super().__init__(d, classes=classes)
        if not (width > 0 and 0 < decay <= 1):
            raise BadSetting("The width of similarity is above 0, and its decay within (0, 1].")
        self.shown = np.empty((0, d))
        # The weight of each example for each class.
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
    """Uses one feature, on which it answers the nearest class mean, and replaces it after errors.

    After an error it switches with probability `restless` to a random feature that would have been right about that
    example, if there is any.
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
        """Of each class and feature, (k, d), with one example at 0 added."""
        return np.asarray(self.sums / self.counts[:, None])

    def compared(self, features: FloatArray) -> FloatArray:
        """P of many examples (n, d), shape (n, k): equal among the classes with the nearest mean."""
        apart = np.abs(features[:, self.feature, None] - self.means[:, self.feature])
        is_nearest = apart == apart.min(axis=1, keepdims=True)
        return np.asarray(is_nearest / is_nearest.sum(axis=1, keepdims=True))

    def learn(self, x: FloatArray, label: int) -> None:
        """Count one example (d,), and perhaps switch after an error."""
        is_wrong = self.answer(x) != label
        right = np.flatnonzero(likeliest(-np.abs(x[:, None] - self.means.T)) == label)
        self.sums[label] += x
        self.counts[label] += 1
        if is_wrong and self._rng.random() < self.restless:
            others = right if right.size else np.arange(self.dimensions)
            self.feature = int(self._rng.choice(others))


class ForgettingLearner(SimulatedLearner):
    """The delta rule with a decaying concept: after each update a share `fading` of it is lost."""

    fading: float = 0.05

    def learn(self, x: FloatArray, label: int) -> None:
        """Learn from one example (d,), then decay."""
        super().learn(x, label)
        self.concept = (1 - self.fading) * self.concept


# The kinds of learners that the estimators are compared on

FITS, OFF, OPINIONS, OTHER = ("fits", "off", "opinions", "other")
# With a larger β a learner overshoots for good.
LONGEST_BETA = 0.95
VISIBLE_SHARE = 0.2
# Chosen by what it learns from random examples: the width as a share of the mean squared distance between two examples,
# and the decay per step.
EXEMPLAR_WIDTH, EXEMPLAR_DECAY = 0.08, 0.95


@dataclass(frozen=True)
class Start:
    """What all kinds of learners of a seed share: what the teacher is told, and the size of first opinions."""

    pool: Pool
    rate: LearningRate
    beta: float
    conviction: float
    seed: int


@dataclass(frozen=True, kw_only=True)
class LearnerKind:
    """How a learner differs from the one that the teachers assume.

    rate: a factor, and beta: a difference, from what the teacher is told. noise: its length per step, relative to the
    first step. conviction: instead of the common one.
    """

    name: str
    title: str
    group: str
    rate: float = 1.0
    beta: float = 0.0
    noise: float = 0.0
    bernoulli: bool = False
    lapse: float = 0.0
    conviction: float | None = None
    turned: Callable[[SimulatedLearner, Start], Learner] | None = None
    """converts the assumed learner into another kind"""
    has_concept: bool = True
    """whether an omniscient teacher can read it"""

    def worker(self, start: Start) -> SimulatedWorker:
        """The learner of a seed before its first lesson."""
        beta = float(np.clip(start.beta + self.beta, 0.0, max(start.beta, LONGEST_BETA)))
        rate = LearningRate(self.rate * start.rate.initial, start.rate.decay)
        conviction = start.conviction if self.conviction is None else self.conviction
        worker = make_worker(
            start.pool,
            beta=beta,
            learning_rate=rate,
            seed=[start.seed, 2],
            conviction=conviction,
            noise=self.noise * first_step(start.pool, rate) / np.sqrt(start.pool.dimensions),
            bernoulli=self.bernoulli,
            habits=Habits(lapse=self.lapse),
        )
        if self.turned and isinstance(worker.learner, SimulatedLearner):
            worker.learner = self.turned(worker.learner, start)
        return worker

    def chances(self, worker: SimulatedWorker, features: FloatArray) -> FloatArray:
        """P(the worker answers +1) for many examples (n, d), slips included, shape (n,)."""
        p = worker.learner.probabilities(features)[:, 1]
        said = p if self.bernoulli else (p >= 0.5).astype(np.float64)
        return np.asarray(said + self.lapse * (1 - 2 * said))


def first_step(pool: Pool, rate: LearningRate) -> float:
    """The length of the first step of a learner who knows nothing, for a typical example."""
    return float(0.5 * rate.initial * np.sqrt(pool.squared_norms.mean()))


def omniscient(worker: SimulatedWorker, pool: Pool) -> tuple[Teacher, Pool]:
    """The omniscient teacher of this worker, and the pool as the worker sees it."""
    learner = worker.learner
    if isinstance(learner, PartialView):
        seen = Pool(pool.features * learner.visible, pool.labels, pool.affinity, pool.target)
        return _reader(learner.learner), seen
    return _reader(learner), pool


def _reader(learner: Learner) -> Teacher:
    if not isinstance(learner, SimulatedLearner):
        raise TypeError(f"{learner!r} has no concept to read")
    return OmniscientJEDI(learner=learner, beta=learner.beta, learning_rate=learner.learning_rate)


def _half_blind(learner: SimulatedLearner, start: Start) -> Learner:
    d = start.pool.dimensions
    visible = np.zeros(d, dtype=np.bool_)
    rng = np.random.default_rng([start.seed, 5])
    visible[rng.permutation(d)[: max(1, round(VISIBLE_SHARE * d))]] = True
    learner.concept = learner.concept * visible
    return PartialView(learner, visible)


def _with_loss(kind: type[SimulatedLearner]) -> Callable[[SimulatedLearner, Start], Learner]:
    def turned(learner: SimulatedLearner, start: Start) -> Learner:
        # The slope of these losses at 0 is 1, that of the logistic loss ½: keep the length of the first step.
        rate = LearningRate(learner.learning_rate.initial / 2, learner.learning_rate.decay)
        return kind(learner.concept, beta=learner.beta, learning_rate=rate)

    return turned


def _prototypes(learner: SimulatedLearner, start: Start) -> Learner:
    scale = float(start.pool.squared_norms.mean())
    return PrototypeLearner(
        start.pool.dimensions, classes=start.pool.class_count, scale=scale if scale > 0 else 1.0
    )


def _exemplars(learner: SimulatedLearner, start: Start) -> Learner:
    # For centred features the mean squared distance of two examples is twice the mean square.
    apart = 2 * float(start.pool.squared_norms.mean())
    width = EXEMPLAR_WIDTH * apart if apart > 0 else 1.0
    return ExemplarLearner(
        start.pool.dimensions,
        classes=start.pool.class_count,
        width=width,
        decay=EXEMPLAR_DECAY,
    )


def _switching(learner: SimulatedLearner, start: Start) -> Learner:
    d, k = start.pool.dimensions, start.pool.class_count
    rng = np.random.default_rng([start.seed, 6])
    return RuleSwitcher(d, classes=k, rng=rng)


def _forgetting(learner: SimulatedLearner, start: Start) -> Learner:
    return ForgettingLearner(learner.concept, beta=0.0, learning_rate=_without_momentum(learner))


def _primacy(learner: SimulatedLearner, start: Start) -> Learner:
    """The first examples count most: the rate halves within three of them."""
    rate = LearningRate(_without_momentum(learner).initial, decay=3)
    return SimulatedLearner(learner.concept, beta=0.0, learning_rate=rate)


def _without_momentum(learner: SimulatedLearner) -> LearningRate:
    """The rate that gives steps of the same total length without momentum."""
    rate = learner.learning_rate
    return LearningRate(rate.initial / (1 - learner.beta), rate.decay)


KINDS = (
    LearnerKind(name="fits", title="as assumed", group=FITS),
    LearnerKind(name="fast", title="η 2.5 times as large", group=OFF, rate=2.5),
    LearnerKind(name="slow", title="η 2.5 times smaller", group=OFF, rate=0.4),
    LearnerKind(name="long", title="β larger by 0.1", group=OFF, beta=0.1),
    LearnerKind(name="short", title="β smaller by 0.1", group=OFF, beta=-0.1),
    LearnerKind(name="noisy", title="concept noise", group=OFF, noise=1.0),
    LearnerKind(name="bernoulli", title="Bernoulli answers", group=OFF, bernoulli=True),
    LearnerKind(name="lapses", title="slips in 10 %", group=OFF, lapse=0.1),
    LearnerKind(name="opinion", title="first margins of 0.3", group=OPINIONS, conviction=0.3),
    LearnerKind(name="convinced", title="first margins of 1", group=OPINIONS, conviction=1.0),
    LearnerKind(name="partial", title="sees a fifth", group=OTHER, turned=_half_blind),
    LearnerKind(name="hinge", title="hinge loss", group=OTHER, turned=_with_loss(HingeLearner)),
    LearnerKind(
        name="squared",
        title="squared loss",
        group=OTHER,
        turned=_with_loss(SquaredLearner),
    ),
    LearnerKind(
        name="prototype", title="prototypes", group=OTHER, turned=_prototypes, has_concept=False
    ),
    LearnerKind(
        name="exemplar",
        title="exemplars that fade",
        group=OTHER,
        turned=_exemplars,
        has_concept=False,
    ),
    LearnerKind(
        name="rules", title="one rule at a time", group=OTHER, turned=_switching, has_concept=False
    ),
    LearnerKind(
        name="forgets",
        title="delta rule, forgets",
        group=OTHER,
        turned=_forgetting,
        has_concept=False,
    ),
    LearnerKind(
        name="primacy", title="primacy, slips in 20 %", group=OTHER, lapse=0.2, turned=_primacy
    ),
)
