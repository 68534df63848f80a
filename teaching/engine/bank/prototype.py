"""Learners who keep one prototype of each class, and take the nearest.

A prototype begins at the centre with the weight of one example and moves towards each example of its class, by
1/(number + 1) of the way or by the least step, whichever is more. It is a combination of the shown examples, kept by
its coefficients.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..arrays import FloatArray, IntArray
from ..classes import of_class
from .agreement import Agreement
from .base import GIVEN, RELEVANT, Family, Followed, Seen

LEAST_STEPS = (0.0, 0.1, 0.3)
# How much a squared distance counts, where examples have the mean square 1.
SHARPNESS = (1.0, 4.0, 16.0)


@dataclass(frozen=True)
class FollowedPrototypes(Followed):
    """Where each of m models looks, its sharpness, and which of the g least steps it has, (m,) each.

    `coefficients` (g, k, t) are those of the prototypes now, `steps` (g, k) the shares of the way that they move next.
    """

    seen: Seen
    places: IntArray
    which: IntArray
    sharpness: FloatArray
    logits: FloatArray
    coefficients: FloatArray
    steps: FloatArray

    def beliefs(self, models: IntArray) -> FloatArray:
        return np.stack([self._belief(model) for model in models])

    def _belief(self, model: int) -> FloatArray:
        place, coefficients = self.places[model], self.coefficients[self.which[model]]
        along = self.seen.across[place].centred @ coefficients.T
        squares = np.vecdot(coefficients @ self.seen.among[place].centred, coefficients)
        return np.asarray(self.sharpness[model] * (2 * along - squares))

    def gains(self, models: IntArray, beliefs: FloatArray) -> FloatArray:
        """Moving μ by a of the way to x adds D_j = s·a(2(x − μ)ᵀ(x_j − μ) − a‖x − μ‖²) to the nearness of x_j.

        The agreement then has mean_j t_jD_j more in its products, and 2 mean_j z̃_jD_j + (1 − 1/k) mean_j D_j² in
        its squares. All of these are moments of the pool: exact for steps of any length.
        """
        now = Agreement.of(beliefs, self.seen.spaces.truth)
        added = [self._added(model) for model in models]
        products, squares = (np.stack(part) for part in zip(*added, strict=True))
        return now.rises(products, squares)

    def _added(self, model: int) -> tuple[FloatArray, FloatArray]:
        """What showing each example adds to the products and the squares of one model's agreement, (n,) each."""
        seen, place, labels = self.seen, self.places[model], self.seen.pool.labels
        s, a = self.sharpness[model], self.steps[self.which[model]][labels]
        near = self._nearness(model)
        pulls = seen.spaces.centred_pulls[place]
        # (x − μ)ᵀ mean_j t_jx_j, of the class of x.
        pulled = pulls - np.vecdot(near.coefficients, pulls[seen.examples].T)
        means = seen.spaces.truth.mean(axis=0)[labels]
        products = 2 * of_class(pulled, labels) - means * (2 * near.beyond + a * near.apart)
        lengths = (near.lengths.mean() - near.lengths)[labels]
        crossed = 4 * near.turned - lengths * (2 * near.beyond + a * near.apart)
        bend = 4 * near.squares + 4 * a * near.apart * near.beyond + (a * near.apart) ** 2
        squares = 2 * s**2 * a * crossed + (1 - 1 / seen.k) * (s * a) ** 2 * bend
        return s * a * products, squares

    def _nearness(self, model: int) -> _Nearness:
        seen, place, labels = self.seen, self.places[model], self.seen.pool.labels
        space, coefficients = seen.spaces.both[place], self.coefficients[self.which[model]]
        # Prototypes from the centre, and their products: μᵀμ, xᵀμ, μᵀCμ' and xᵀCμ, in units of the spread.
        prototypes = coefficients @ (space.points[seen.examples] - space.centre)
        turned = prototypes @ space.centred_moments
        lengths = np.vecdot(prototypes, prototypes) / space.spread
        along = of_class(seen.across[place].centred @ coefficients.T, labels)
        among = turned @ prototypes.T / space.spread
        across = (space.points @ turned.T - turned @ space.centre) / space.spread
        from_mean = np.diag(among) - among.mean(axis=1)
        own, beyond = of_class(across, labels), along - lengths[labels]
        squares = space.centred_squared_products - 2 * own + np.diag(among)[labels]
        return _Nearness(
            coefficients=coefficients,
            lengths=lengths,
            beyond=beyond,
            apart=np.maximum(space.squared_lengths - 2 * along + lengths[labels], 0.0),
            turned=own - across.mean(axis=1) - from_mean[labels],
            squares=squares + beyond**2,
        )


@dataclass(frozen=True)
class _Nearness:
    """Of every example x and the prototype μ of its class, from the centre of the pool, (n,) each.

    beyond: (x − μ)ᵀμ; apart: ‖x − μ‖²; turned: (x − μ)ᵀC(μ − mean of all prototypes), C the mean of x_jx_jᵀ; squares:
    the mean of ((x − μ)ᵀ(x_j − μ))². `coefficients` (k, t) and `lengths` (k,) are those of the prototypes.
    """

    coefficients: FloatArray
    lengths: FloatArray
    beyond: FloatArray
    apart: FloatArray
    turned: FloatArray
    squares: FloatArray


class Prototype(Family):
    """Learners who remember what is typical of each class."""

    name: ClassVar[str] = "prototype"
    title: ClassVar[str] = "compares with what is typical of each class"
    weight: ClassVar[float] = 2.0

    def follow(self, seen: Seen) -> FollowedPrototypes:
        coefficients, steps = moved(seen)
        among = np.stack([one.centred for one in seen.among])[:, None]
        before = coefficients[:, :-1]
        squares = np.vecdot(before @ among[:, :, None], before)
        near = 2 * np.vecdot(before, among[:, :, :, None]) - squares
        logits = near[:, :, None] * np.array(SHARPNESS)[:, None, None]
        grid = np.meshgrid([GIVEN, RELEVANT], range(len(LEAST_STEPS)), SHARPNESS, indexing="ij")
        places, which, sharpness = (axis.ravel() for axis in grid)
        return FollowedPrototypes(
            seen=seen,
            places=places,
            which=which,
            sharpness=sharpness,
            logits=logits.reshape(places.size, len(seen), seen.k),
            coefficients=coefficients[:, -1],
            steps=steps,
        )


def moved(seen: Seen) -> tuple[FloatArray, FloatArray]:
    """Coefficients of the prototypes before each step and now, (g, t+1, k, t), and their next steps (g, k)."""
    g, t = len(LEAST_STEPS), len(seen)
    least = np.array(LEAST_STEPS)
    coefficients = np.zeros((g, t + 1, seen.k, t))
    counts = np.ones(seen.k)
    for s, label in enumerate(seen.labels):
        counts[label] += 1
        step = np.maximum(1 / counts[label], least)
        coefficients[:, s + 1] = coefficients[:, s]
        coefficients[:, s + 1, label] *= 1 - step[:, None]
        coefficients[:, s + 1, label, s] = step
    return coefficients, np.maximum(1 / (counts + 1), least[:, None])
