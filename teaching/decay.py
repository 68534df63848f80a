"""The memory decay of one worker, fitted from the answers of the teaching alone.

The worker is taken for a multinomial logistic learner with momentum that starts at W = 0, whose learning rate is some
multiple of the study's and whose answers slip now and then. For every β of a grid the likelihood of the answers is
profiled over the multiple; the interval holds the β whose profile lies within χ²₁'s 95 % of the best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .engine import LearningRate, Pool, Shown
from .engine.arrays import FloatArray, IntArray
from .engine.classes import less_truth, softmax

BETAS = np.round(np.arange(0, 0.9501, 0.025), 3)
RATES = np.array([0.25, 0.5, 1.0, 2.0, 4.0])
# The chance that an answer is a guess.
GUESS = 0.1
# How far below the best the profile of a plausible β may lie: half of χ²₁'s 95 % quantile.
ALLOWED_DROP = 1.9207294103470618


@dataclass(frozen=True)
class Fit:
    """β as the answers have it, what it may as well be, and how far they prefer it to no learning at all."""

    beta: float
    low: float
    high: float
    rate: float
    log_likelihood: float
    without_learning: float

    @property
    def tells_nothing(self) -> bool:
        return says_nothing(self.low, self.high)


def says_nothing(low: float, high: float) -> bool:
    """Whether every β of the grid explains the answers about as well, if those from low to high do."""
    return (low, high) == (float(BETAS[0]), float(BETAS[-1]))


def fit_session(pool: Pool, history: Sequence[Shown], rate: LearningRate) -> Fit:
    """The fit to what was shown and answered in a session."""
    examples = np.array([shown.example for shown in history], dtype=np.intp)
    answers = np.array([shown.answer for shown in history], dtype=np.intp)
    features, labels = np.asarray(pool.features[examples]), np.asarray(pool.labels[examples])
    return fit_decay(features, labels, answers, rate, pool.class_count)


def fit_decay(
    features: FloatArray, labels: IntArray, answers: IntArray, rate: LearningRate, classes: int = 2
) -> Fit:
    """The fit for examples (t, d), their classes (t,) and the worker's answers (t,), numbers below `classes`."""
    surface = log_likelihoods(features, labels, answers, rate, classes)
    profile = surface.max(axis=1)
    best = int(profile.argmax())
    within = np.flatnonzero(profile >= profile[best] - ALLOWED_DROP)
    return Fit(
        beta=float(BETAS[best]),
        low=float(BETAS[within[0]]),
        high=float(BETAS[within[-1]]),
        rate=float(RATES[surface[best].argmax()]),
        log_likelihood=float(profile[best]),
        without_learning=len(answers) * float(-np.log(classes)),
    )


def log_likelihoods(
    features: FloatArray, labels: IntArray, answers: IntArray, rate: LearningRate, classes: int = 2
) -> FloatArray:
    """Σ log P(answer_t) for every β (rows) and every multiple of the rate (columns)."""
    betas, factors = (axis.ravel() for axis in np.meshgrid(BETAS, RATES, indexing="ij"))
    # In the span of the shown examples: the learner never leaves it, and it is smaller than the space.
    gram = features @ features.T
    steps = len(answers)
    weights, momenta = np.zeros((2, len(betas), classes, steps))
    total = np.zeros(len(betas))
    for t in range(steps):
        probabilities = softmax(weights @ gram[t])
        total += np.log(GUESS / classes + (1 - GUESS) * probabilities[:, answers[t]])
        momenta *= betas[:, None, None]
        momenta[..., t] += less_truth(probabilities, labels[t])
        # The rate is that of a learner of two classes, as everywhere.
        weights -= (rate(t + 1) / 2 * factors)[:, None, None] * momenta
    return total.reshape(len(BETAS), len(RATES))
