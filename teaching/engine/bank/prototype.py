"""Learners who keep one prototype of each class, and take the nearest.

A prototype begins at the centre with the weight of one example and moves towards each example of its class, by
1/(number + 1) of the way or by the least step, whichever is more. It is a combination of the shown examples, kept by
its coefficients.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from .agreement import Agreement
from .base import GIVEN, RELEVANT, Family, Followed, Seen, combined, described, looks, own_class

LEAST_STEPS = (0.0, 0.1, 0.3)
# How much a squared distance counts, where examples have the mean square 1.
SHARPNESS = (1.0, 4.0, 16.0)
GRID = combined([GIVEN, RELEVANT], range(len(LEAST_STEPS)), SHARPNESS)


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

    @property
    def names(self) -> list[str]:
        steps = [LEAST_STEPS[which] for which in self.which]
        return described(by=looks(self.places), least_step=steps, sharpness=self.sharpness)

    def beliefs(self, models: IntArray) -> FloatArray:
        believed = np.empty((models.size, self.seen.k, self.seen.pool.n))
        for place, own in self._by_place(models):
            prototypes = self._prototypes(place, models[own])
            space, sharpness = self.seen.spaces.both[place], self.sharpness[models[own]]
            near = 2 * space.centred_along(prototypes)
            near -= (np.vecdot(prototypes, prototypes) / space.spread)[:, :, None]
            believed[own] = sharpness[:, None, None] * near
        return believed

    def gains(self, models: IntArray, beliefs: FloatArray) -> FloatArray:
        """Moving μ by a of the way to x adds D_j = s·a(2(x − μ)ᵀ(x_j − μ) − a‖x − μ‖²) to the nearness of x_j.

        The agreement then has mean_j t_jD_j more in its products, and 2 mean_j z̃_jD_j + (1 − 1/k) mean_j D_j² in
        its squares. All of these are moments of the pool: exact for steps of any length.
        """
        now = Agreement.of(beliefs, self.seen.spaces.truth)
        products, squares = np.empty((2, models.size, self.seen.pool.n))
        for place, own in self._by_place(models):
            products[own], squares[own] = self._added(place, models[own], beliefs[own])
        return now.rises(products, squares)

    def _by_place(self, models: IntArray) -> list[tuple[int, BoolArray]]:
        """Which of the models look where, of the places where some do."""
        places = self.places[models]
        return [(place, own) for place in (GIVEN, RELEVANT) if (own := places == place).any()]

    def _prototypes(self, place: int, models: IntArray) -> FloatArray:
        """Prototypes from the centre of the pool, (len(models), k, q)."""
        shown = self.seen.shown_points[place] - self.seen.spaces.both[place].centre
        return np.asarray(self.coefficients[self.which[models]] @ shown)

    def _added(
        self, place: int, models: IntArray, beliefs: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """What showing each example adds to the products and the squares of the agreements, (len(models), n) each."""
        seen, labels = self.seen, self.seen.pool.labels
        s, which = self.sharpness[models][:, None], self.which[models]
        a, near = self.steps[which][:, labels], self._nearness(place, models, beliefs)
        pulls = seen.spaces.centred_pulls[place]
        # (x − μ)ᵀ mean_j t_jx_j, of the class of x.
        shifts = np.vecdot(self.coefficients[which], pulls[:, seen.examples])
        pulled = own_class(pulls, labels) - shifts[:, labels]
        means = seen.spaces.truth.mean(axis=1)[labels]
        moved = 2 * near.beyond + a * near.apart
        lengths = (near.lengths.mean(axis=1, keepdims=True) - near.lengths)[:, labels]
        bend = 4 * near.squares + a * near.apart * (4 * near.beyond + a * near.apart)
        squares = 2 * s**2 * a * (4 * near.turned - lengths * moved)
        squares += (1 - 1 / seen.k) * (s * a) ** 2 * bend
        return s * a * (2 * pulled - means * moved), squares

    def _nearness(self, place: int, models: IntArray, beliefs: FloatArray) -> _Nearness:
        labels, space = self.seen.pool.labels, self.seen.spaces.both[place]
        # The products of prototypes from the centre: μᵀμ, xᵀμ, μᵀCμ' and xᵀCμ, in units of the spread.
        prototypes = self._prototypes(place, models)
        turned = prototypes @ space.centred_moments
        lengths = np.vecdot(prototypes, prototypes) / space.spread
        # Logits are s(2xᵀμ − ‖μ‖²).
        own_lengths, s = lengths[:, labels], self.sharpness[models][:, None]
        along = (own_class(beliefs, labels) / s + own_lengths) / 2
        among = turned @ prototypes.swapaxes(1, 2) / space.spread
        selves = np.diagonal(among, axis1=1, axis2=2)
        across = space.centred_along(turned)
        own, beyond = own_class(across, labels), along - own_lengths
        return _Nearness(
            lengths=lengths,
            beyond=beyond,
            apart=np.maximum(space.squared_lengths - 2 * along + own_lengths, 0.0),
            turned=own - across.mean(axis=1) - (selves - among.mean(axis=2))[:, labels],
            squares=space.centred_squared_products - 2 * own + selves[:, labels] + beyond**2,
        )


@dataclass(frozen=True)
class _Nearness:
    """Of m models, every example x and the prototype μ of its class, from the centre of the pool, (m, n) each.

    beyond: (x − μ)ᵀμ; apart: ‖x − μ‖²; turned: (x − μ)ᵀC(μ − mean of all prototypes), C the mean of x_jx_jᵀ; squares:
    the mean of ((x − μ)ᵀ(x_j − μ))². `lengths` (m, k) are the ‖μ‖².
    """

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
        among = np.stack([one.centred for one in seen.among])
        before = coefficients[:, :-1]
        # The products of each prototype with everything that was shown, (2, g, t, k, t).
        flat = before.reshape(-1, len(seen)) if len(seen) else before[0, :, 0]
        along = (flat @ among).reshape(len(among), *before.shape)
        near = 2 * np.einsum("pgsks->pgsk", along) - np.vecdot(along, before)
        logits = near[:, :, None] * np.array(SHARPNESS)[:, None, None]
        places, which, sharpness = GRID
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
    least = np.array(LEAST_STEPS)[:, None]
    counts = 2 + np.vstack([np.zeros((1, seen.k)), np.cumsum(seen.truth, axis=0)])
    steps = np.maximum(1 / np.vecdot(counts[:-1], seen.truth), least)
    # A lesson counts by its step, times what later lessons of its class have left of it, here as logs.
    left = np.zeros((len(least), len(seen) + 1, seen.k))
    np.cumsum(np.log1p(-steps)[:, :, None] * seen.truth, axis=1, out=left[:, 1:])
    then = np.vecdot(left[:, 1:], seen.truth)
    lasting = np.exp(np.minimum(left[:, :, seen.labels] - then[:, None], 0.0))
    coefficients = np.tri(len(seen) + 1, len(seen), -1) * (steps[:, None] * lasting)
    return coefficients[:, :, None] * seen.truth.T, np.maximum(1 / counts[-1], least)
