"""Whom the estimators are tried on: learners as the teachers assume them, a little off, and of another kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from teaching.engine import Habits, LearningRate, OmniscientJEDI, Pool, SimulatedLearner, Teacher
from teaching.engine.arrays import FloatArray
from teaching.engine.learners import alternatives
from teaching.engine.learners.paper import Learner
from teaching.engine.learners.people import SimulatedWorker, make_worker

FITS, OFF, OPINIONS, OTHER = ("fits", "off", "opinions", "other")
# A learner with a longer memory than this overshoots for good.
LONGEST_BETA = 0.95
VISIBLE_SHARE = 0.2
# Chosen by what is learned from random examples alone: a share of the mean squared distance between two examples, and
# what is left of a memory after a step.
EXEMPLAR_WIDTH, EXEMPLAR_DECAY = 0.08, 0.95


@dataclass(frozen=True)
class Start:
    """What is the same for every kind of learner of a seed: what the teacher is told, and the first opinion."""

    pool: Pool
    rate: LearningRate
    beta: float
    conviction: float
    seed: int


@dataclass(frozen=True, kw_only=True)
class LearnerKind:
    """A learner, by what differs from the one that the teachers assume.

    rate, beta: a factor and a difference from what the teacher is told. noise: its length after a step, as a share
    of the length of a first step. conviction: in place of the common one.
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
    """into a learner of another kind"""
    has_concept: bool = True
    """whether there is a w that a teacher could read"""

    def worker(self, start: Start) -> SimulatedWorker:
        """The learner of a seed before its first lesson, with its habits."""
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
        """How probably the worker says +1 to each of many examples (n, d), slips included, shape (n,)."""
        p = worker.learner.probabilities(features)[:, 1]
        said = p if self.bernoulli else (p >= 0.5).astype(np.float64)
        return np.asarray(said + self.lapse * (1 - 2 * said))


def first_step(pool: Pool, rate: LearningRate) -> float:
    """The length of the step of a learner who knows nothing, by a typical example."""
    return float(0.5 * rate.initial * np.sqrt(pool.squared_norms.mean()))


def omniscient(worker: SimulatedWorker, pool: Pool) -> tuple[Teacher, Pool]:
    """The teacher who reads this worker's mind, and the pool as the worker sees it."""
    learner = worker.learner
    if isinstance(learner, alternatives.PartialView):
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
    return alternatives.PartialView(learner, visible)


def _with_loss(kind: type[SimulatedLearner]) -> Callable[[SimulatedLearner, Start], Learner]:
    def turned(learner: SimulatedLearner, start: Start) -> Learner:
        # The slope of these losses at 0 is 1, and that of the logistic loss ½: first steps are to be as long.
        rate = LearningRate(learner.learning_rate.initial / 2, learner.learning_rate.decay)
        return kind(learner.concept, beta=learner.beta, learning_rate=rate)

    return turned


def _prototypes(learner: SimulatedLearner, start: Start) -> Learner:
    scale = float(start.pool.squared_norms.mean())
    return alternatives.PrototypeLearner(
        start.pool.dimensions, classes=start.pool.class_count, scale=scale if scale > 0 else 1.0
    )


def _exemplars(learner: SimulatedLearner, start: Start) -> Learner:
    # Of centred features, the mean squared distance of two examples is twice the mean square.
    apart = 2 * float(start.pool.squared_norms.mean())
    width = EXEMPLAR_WIDTH * apart if apart > 0 else 1.0
    return alternatives.ExemplarLearner(
        start.pool.dimensions,
        classes=start.pool.class_count,
        width=width,
        decay=EXEMPLAR_DECAY,
    )


def _switching(learner: SimulatedLearner, start: Start) -> Learner:
    d, k = start.pool.dimensions, start.pool.class_count
    rng = np.random.default_rng([start.seed, 6])
    return alternatives.RuleSwitcher(d, classes=k, rng=rng)


def _forgetting(learner: SimulatedLearner, start: Start) -> Learner:
    return alternatives.ForgettingLearner(
        learner.concept, beta=0.0, learning_rate=_without_momentum(learner)
    )


def _primacy(learner: SimulatedLearner, start: Start) -> Learner:
    """The first examples count most: the rate falls to a half within three of them."""
    rate = LearningRate(_without_momentum(learner).initial, decay=3)
    return SimulatedLearner(learner.concept, beta=0.0, learning_rate=rate)


def _without_momentum(learner: SimulatedLearner) -> LearningRate:
    """A rate at which steps are as long in the end as those of a learner with this momentum."""
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
    LearnerKind(
        name="hinge", title="hinge loss", group=OTHER, turned=_with_loss(alternatives.HingeLearner)
    ),
    LearnerKind(
        name="squared",
        title="squared loss",
        group=OTHER,
        turned=_with_loss(alternatives.SquaredLearner),
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
