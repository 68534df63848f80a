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
from .base import GIVEN, RELEVANT, Family, Followed, Seen, judged_firmness, residuals

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
        """Moving prototype μ by a of the way to x adds a(2(x − μ)ᵀ(x_j − μ) − a‖x − μ‖²) to the nearness of x_j.

        The mean loss falls, to first order, by what all residuals together make of that; the second order
        takes the mean over j of the square of the first product as though μ were the centre.
        """
        judged = beliefs[:, self.seen.judged]
        firmness = judged_firmness(judged)
        labels = self.seen.pool.labels[self.seen.judged]
        wanted, curvature = residuals(firmness[:, None, None] * judged, labels)
        scales = firmness * self.sharpness[models]
        return np.stack(
            [self._gain(*one) for one in zip(models, scales, wanted, curvature, strict=True)]
        )

    def _gain(
        self, model: int, scale: float, wanted: FloatArray, curvature: FloatArray
    ) -> FloatArray:
        """Of one model whose nearness counts `scale`."""
        space, labels = self.seen.spaces.both[self.places[model]], self.seen.pool.labels
        steps, weights = self.steps[self.which[model]], wanted.mean(axis=0)
        along, apart = self._towards(model, wanted)
        first = steps * (2 * along - steps * weights * apart)
        squares = 4 * space.centred_squared_products[:, None] + (steps * apart) ** 2
        bend = steps**2 * np.diag(curvature) * squares
        return of_class(scale * first - scale**2 * bend / 2, labels)

    def _towards(self, model: int, wanted: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Of every example and prototype, mean_j r_j (x − μ)ᵀ(x_j − μ) and ‖x − μ‖², (n, k) each."""
        space = self.seen.spaces.both[self.places[model]]
        coefficients, points = self.coefficients[self.which[model]], space.points
        prototypes = coefficients @ points[self.seen.examples]
        # What the coefficients leave is the centre, where prototypes begin.
        prototypes += (1 - coefficients.sum(axis=1))[:, None] * space.centre
        judged = points[self.seen.judged]
        pulls = wanted.T @ judged / len(judged) - wanted.mean(axis=0)[:, None] * prototypes
        along = points @ pulls.T - np.vecdot(pulls, prototypes)
        squares = np.einsum("ij,ij->i", points, points)[:, None] + np.vecdot(prototypes, prototypes)
        apart = np.maximum(squares - 2 * points @ prototypes.T, 0.0)
        return along / space.spread, apart / space.spread


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
