"""The feature spaces of learner models: the features as given, the target's logits, and single features.

Lengths and distances are in units of the pool's own, so a model means the same in a pool of any scale. Everything here
depends on the pool alone and is computed once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from .arrays import FloatArray
from .classes import of_class, one_hot, softmax

if TYPE_CHECKING:
    from .pool import Pool

# Single features are limited to those that separate the classes best.
MAX_FEATURES = 24
# Lengths below this share of the largest feature are rounding errors.
MIN_LENGTH = 1e-9
MIN_PROBABILITY = 1e-12


@dataclass(frozen=True)
class Space:
    """Examples as points (n, q). Products are in units of the mean square, distances in units of the variance."""

    points: FloatArray

    @cached_property
    def centre(self) -> FloatArray:
        return np.asarray(self.points.mean(axis=0))

    @cached_property
    def centred(self) -> FloatArray:
        return self.points - self.centre

    @cached_property
    def mean_square(self) -> float:
        return float(np.einsum("ij,ij->", self.points, self.points)) / len(self.points) or 1.0

    @cached_property
    def variance(self) -> float:
        beyond = self.mean_square - float(self.centre @ self.centre)
        return beyond if beyond > MIN_LENGTH * self.mean_square else 1.0

    @cached_property
    def squared_lengths(self) -> FloatArray:
        """‖x − centre‖², (n,)."""
        return np.asarray(np.vecdot(self.centred, self.centred) / self.variance)

    @cached_property
    def moments(self) -> FloatArray:
        """mean_j x_jx_jᵀ, (q, q)."""
        return np.asarray(self.points.T @ self.points) / (len(self.points) * self.mean_square)

    @cached_property
    def centred_moments(self) -> FloatArray:
        return np.asarray(self.centred.T @ self.centred) / (len(self.points) * self.variance)

    @cached_property
    def squared_products(self) -> FloatArray:
        """mean_j (xᵀx_j)², (n,)."""
        return np.asarray(np.vecdot(self.points @ self.moments, self.points)) / self.mean_square

    @cached_property
    def centred_squared_products(self) -> FloatArray:
        turned = self.centred @ self.centred_moments
        return np.asarray(np.vecdot(turned, self.centred)) / self.variance


@dataclass(frozen=True)
class Spaces:
    """The spaces of a pool, and the labels.

    given: the features as they are. relevant: the logits of the target concept, which leave out what does not matter
    for the classes. standard (n, s): standardised single features. ease (n,): the target's log odds of the true class,
    standardised. log_rivals (n, k): the target's log probability of each class among the false ones. truth (k, n): the
    labels as e_y − 1/k, scaled to a mean square of 1.
    """

    given: Space
    relevant: Space
    standard: FloatArray
    ease: FloatArray
    log_rivals: FloatArray
    truth: FloatArray

    @property
    def both(self) -> tuple[Space, Space]:
        return self.given, self.relevant

    @cached_property
    def pulls(self) -> tuple[FloatArray, FloatArray]:
        """mean_j t_j (x_jᵀx), (k, n), in both spaces."""
        first, second = (
            _pulls(space.points, self.truth) / space.mean_square for space in self.both
        )
        return first, second

    @cached_property
    def centred_pulls(self) -> tuple[FloatArray, FloatArray]:
        first, second = (_pulls(space.centred, self.truth) / space.variance for space in self.both)
        return first, second

    @classmethod
    def of(cls, pool: Pool) -> Spaces:
        logits = pool.features @ pool.target.T
        logits = logits - logits.mean(axis=0)
        length = float(np.sqrt((logits**2).mean()))
        # A target that separates nothing has no relevant directions.
        relevant = logits / length if length > MIN_LENGTH else np.zeros_like(logits)
        chances = softmax(relevant)
        truth = one_hot(pool.labels, pool.class_count)
        rivals = np.where(truth > 0, 0.0, chances)
        total = rivals.sum(axis=1)
        return cls(
            given=Space(pool.features),
            relevant=Space(relevant),
            standard=_salient(pool.features, truth),
            ease=_standardised(np.log(of_class(chances, pool.labels) / total)),
            log_rivals=np.log(np.maximum(rivals / total[:, None], MIN_PROBABILITY)),
            truth=np.ascontiguousarray(truth.T - 1 / pool.class_count)
            / np.sqrt(1 - 1 / pool.class_count),
        )


def _pulls(points: FloatArray, truth: FloatArray) -> FloatArray:
    return np.asarray((truth @ points) @ points.T / len(points))


def _salient(features: FloatArray, truth: FloatArray) -> FloatArray:
    """The features that separate the classes best among those that vary at all, standardised, (n, s)."""
    centred = features - features.mean(axis=0)
    deviations = np.sqrt((centred**2).mean(axis=0))
    varies = deviations > MIN_LENGTH * (np.abs(features).max(initial=0.0) or 1.0)
    if not varies.any():
        return np.zeros((len(features), 1))
    standard = centred[:, varies] / deviations[varies]
    if standard.shape[1] <= MAX_FEATURES:
        return np.asarray(standard)
    means = truth.T @ standard / np.maximum(truth.sum(axis=0), 1.0)[:, None]
    between = truth.mean(axis=0) @ means**2
    best = np.sort(np.argsort(-between, kind="stable")[:MAX_FEATURES])
    return np.ascontiguousarray(standard[:, best])


def _standardised(values: FloatArray) -> FloatArray:
    deviation = float(values.std())
    return np.asarray(
        (values - values.mean()) / deviation if deviation > MIN_LENGTH else 0 * values
    )
