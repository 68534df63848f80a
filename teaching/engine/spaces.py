"""Where learners compare examples: the features as given, the directions that matter, and single features.

Lengths and distances are measured in units of the pool's own, so that a model means the same in a pool
of any scale. Everything here follows from the pool alone, and is worked out once for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from .arrays import FloatArray, IntArray, Places
from .classes import of_class, one_hot, softmax
from .gauss import Lines

if TYPE_CHECKING:
    from .pool import Pool

# Nobody attends to more features than this; of more, those that tell the classes apart best are kept.
MOST_FEATURES = 24
# Lengths below this share of the features' own come from rounding.
NO_LENGTH = 1e-9
# No class is less probable.
LEAST_CHANCE = 1e-12


@dataclass(frozen=True)
class Space:
    """Examples as points (n, q), with inner products and distances in units of the pool.

    The mean square of the points is `square`, and `spread` that of the points less their mean `centre`.
    """

    points: FloatArray

    @cached_property
    def centre(self) -> FloatArray:
        return np.asarray(self.points.mean(axis=0))

    @cached_property
    def square(self) -> float:
        return float(np.einsum("ij,ij->", self.points, self.points)) / len(self.points) or 1.0

    @cached_property
    def spread(self) -> float:
        beyond = self.square - float(self.centre @ self.centre)
        return beyond if beyond > NO_LENGTH * self.square else 1.0

    @cached_property
    def along_centre(self) -> FloatArray:
        """The product of every example with the centre, (n,)."""
        return np.asarray(self.points @ self.centre)

    @cached_property
    def squared_norms(self) -> FloatArray:
        """‖x‖², (n,)."""
        return np.asarray(np.vecdot(self.points, self.points))

    @cached_property
    def half_squares(self) -> FloatArray:
        """½‖x‖², (n,), in units of the spread."""
        return self.squared_norms / (2 * self.spread)

    @cached_property
    def columns(self) -> FloatArray:
        """Of every example its features, 1 and ½‖x‖² in units of the spread, (q + 2, n).

        Products with rows of a matrix take less time than those with its columns, and a distance is one of them.
        """
        ones = np.ones(len(self.points))
        return np.vstack([self.points.T, ones, self.half_squares])

    @cached_property
    def squared_lengths(self) -> FloatArray:
        """‖x − centre‖², (n,), in units of the spread."""
        beyond = self.squared_norms - 2 * self.along_centre + self.centre @ self.centre
        return np.asarray(np.maximum(beyond, 0.0) / self.spread)

    def distances(self, from_these: IntArray, to: Places) -> FloatArray:
        """½‖x − x'‖², (t, e), between examples."""
        halves = self.squared_norms / 2
        apart = self.points[from_these] @ -self.points[to].T
        apart += halves[from_these][:, None]
        apart += halves[to]
        return np.maximum(apart, 0.0, out=apart)

    @cached_property
    def moments(self) -> FloatArray:
        """The mean of xxᵀ over the pool, (q, q), in units of the square."""
        return np.asarray(self.points.T @ self.points) / (len(self.points) * self.square)

    @cached_property
    def centred_moments(self) -> FloatArray:
        """The same of points less their centre, in units of the spread."""
        crossed = self.moments * self.square - np.outer(self.centre, self.centre)
        return np.asarray(crossed / self.spread)

    @cached_property
    def mean_squared_products(self) -> FloatArray:
        """The mean over all j of (xᵀx_j)², (n,), for products in units of the square."""
        return np.asarray(np.vecdot(self.points @ self.moments, self.points)) / self.square

    @cached_property
    def centred_squared_products(self) -> FloatArray:
        """The same of points less their centre, in units of the spread."""
        centred = self.points - self.centre
        return np.asarray(np.vecdot(centred @ self.centred_moments, centred)) / self.spread


@dataclass(frozen=True)
class Spaces:
    """A pool as learners may look at it.

    given: the features as they are. relevant: the logits of the target concept, which leave out
    what does not matter for the classes: learners who know what to look at. standard (n, s): single
    features in units of their standard deviations, those that tell the classes apart best. ease (n,): the log
    odds of the truth under the target, standardised. rivals (n, k): of the other classes, how probable
    the target finds each. truth (k, n): the labels as e_y − 1/k, of mean square 1.

    What the models of the bank work out for the whole pool has the examples along its last axis.
    """

    given: Space
    relevant: Space
    standard: FloatArray
    ease: FloatArray
    rivals: FloatArray
    truth: FloatArray

    # Of either space, in shapes that go with (2, t, t).

    @cached_property
    def squares(self) -> FloatArray:
        """The mean squares, (2, 1, 1)."""
        return np.array([[[space.square]] for space in self.both])

    @cached_property
    def spreads(self) -> FloatArray:
        """The mean squares of points less their centre, (2, 1, 1)."""
        return np.array([[[space.spread]] for space in self.both])

    @cached_property
    def squared_centres(self) -> FloatArray:
        """‖centre‖², (2, 1, 1)."""
        return np.array([[[space.centre @ space.centre]] for space in self.both])

    @cached_property
    def along_centres(self) -> FloatArray:
        """The products of every example with the centres, (2, n)."""
        return np.stack([space.along_centre for space in self.both])

    @cached_property
    def pulls(self) -> FloatArray:
        """The mean over all j of t_j (x_jᵀx) in either space, (2, k, n), with the truth t, in units of the square."""
        return np.stack([_pulls(space.points, self.truth) / space.square for space in self.both])

    @cached_property
    def mean_squared_products(self) -> FloatArray:
        """Those of either space, (2, n)."""
        return np.stack([space.mean_squared_products for space in self.both])

    @cached_property
    def centred_pulls(self) -> tuple[FloatArray, FloatArray]:
        """The same of points less their centre, in units of the spread."""
        first, second = (
            _pulls(space.points - space.centre, self.truth) / space.spread for space in self.both
        )
        return first, second

    @cached_property
    def own_pulls(self) -> tuple[FloatArray, FloatArray]:
        """Of the centred pulls those towards the class of each example itself, (n,) in either space."""
        first, second = ((pulls * (self.truth > 0)).sum(axis=0) for pulls in self.centred_pulls)
        return first, second

    @cached_property
    def own_means(self) -> FloatArray:
        """The mean over all j of t_j, of the class of each example, (n,)."""
        return np.asarray(self.truth.mean(axis=1) @ (self.truth > 0))

    @cached_property
    def squared_standard(self) -> FloatArray:
        """The squares of the single features, (s, n)."""
        return np.ascontiguousarray(self.standard.T) ** 2

    @cached_property
    def standard_columns(self) -> FloatArray:
        """The single features and 1 of every example, (s + 1, n)."""
        return np.vstack([self.standard.T, np.ones(len(self.standard))])

    @cached_property
    def log_rivals(self) -> FloatArray:
        """The logs of the rivals, (k, n)."""
        return np.ascontiguousarray(np.log(np.maximum(self.rivals.T, LEAST_CHANCE)))

    @cached_property
    def lines(self) -> Lines:
        """The single features, each as points on a line."""
        return Lines.of(self.standard.T)

    @property
    def both(self) -> tuple[Space, Space]:
        """Everything, and what matters alone."""
        return self.given, self.relevant

    @classmethod
    def of(cls, pool: Pool) -> Spaces:
        logits = pool.features @ pool.target.T
        logits = logits - logits.mean(axis=0)
        length = float(np.sqrt((logits**2).mean()))
        # A target that tells nothing apart leaves nothing to look at.
        relevant = logits / length if length > NO_LENGTH else np.zeros_like(logits)
        chances = softmax(relevant)
        truth = one_hot(pool.labels, pool.class_count)
        others = np.where(truth > 0, 0.0, chances)
        return cls(
            given=Space(pool.features),
            relevant=Space(relevant),
            standard=_salient(pool.features, truth),
            ease=_standardised(np.log(of_class(chances, pool.labels) / others.sum(axis=1))),
            rivals=others / others.sum(axis=1, keepdims=True),
            truth=np.ascontiguousarray(truth.T - 1 / pool.class_count)
            / np.sqrt(1 - 1 / pool.class_count),
        )


def _pulls(points: FloatArray, truth: FloatArray) -> FloatArray:
    """The mean over all j of t_j (x_jᵀx), (k, n)."""
    return np.asarray((truth @ points) @ points.T / len(points))


def _salient(features: FloatArray, truth: FloatArray) -> FloatArray:
    """The features that tell the classes apart best, standardised, shape (n, s); those that vary at all."""
    centred = features - features.mean(axis=0)
    deviations = np.sqrt((centred**2).mean(axis=0))
    varies = deviations > NO_LENGTH * (np.abs(features).max(initial=0.0) or 1.0)
    if not varies.any():
        return np.zeros((len(features), 1))
    standard = centred[:, varies] / deviations[varies]
    if standard.shape[1] <= MOST_FEATURES:
        return np.asarray(standard)
    means = truth.T @ standard / np.maximum(truth.sum(axis=0), 1.0)[:, None]
    between = truth.mean(axis=0) @ means**2
    best = np.sort(np.argsort(-between, kind="stable")[:MOST_FEATURES])
    return np.ascontiguousarray(standard[:, best])


def _standardised(values: FloatArray) -> FloatArray:
    deviation = float(values.std())
    return np.asarray((values - values.mean()) / deviation if deviation > NO_LENGTH else 0 * values)
