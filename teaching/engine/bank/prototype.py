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
from .agreement import Agreement
from .along import ByPlace, asked_for
from .base import (
    GIVEN,
    RELEVANT,
    Family,
    Followed,
    Now,
    Seen,
    at_labels,
    by_place,
    combined,
    described,
    looks,
    own_class,
    shared,
)
from .beliefs import Beliefs
from .fading import left_before

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

    def directions(self, models: IntArray) -> ByPlace:
        """The prototypes from the centre, plain and turned by C, (2, g', k, q) of each place; see `_nearness`."""
        asked = {}
        for place, own in by_place(self.places[models]):
            space, (which, _) = self.seen.spaces.both[place], shared(self.which[models[own]])
            shown = self.seen.shown_points[place] - space.centre
            prototypes = self.coefficients[which] @ shown
            both = np.stack([prototypes, prototypes @ space.centred_moments]) / space.spread
            asked[place] = asked_for(both, -(both @ space.centre).ravel())
        return asked

    def now(self, models: IntArray, along: ByPlace) -> Now:
        """Moving μ by a of the way to x adds D_j = s·a(2(x − μ)ᵀ(x_j − μ) − a‖x − μ‖²) to the nearness of x_j.

        The agreement then has mean_j t_jD_j more in its products, and 2 mean_j z̃_jD_j + (1 − 1/k) mean_j D_j² in
        its squares. All of these are moments of the pool: exact for steps of any length. Models that differ in s alone
        share them.
        """
        n, k = self.seen.pool.n, self.seen.k
        logits, gains = np.empty((models.size, k, n)), np.empty((models.size, n))
        for place, own in by_place(self.places[models]):
            which, of = shared(self.which[models[own]])
            s = self.sharpness[models[own]]
            near = self._nearness(place, which, along[place].reshape(2, which.size, k, n))
            products, squares = self._added(place, which, near)
            now = Agreement.of(near.near, self.seen.spaces.truth).of_models(of).scaled(s)
            np.multiply(s[:, None, None], near.near[of], out=logits[own])
            gains[own] = now.rises(s[:, None] * products[of], (s**2)[:, None] * squares[of])
        return Now(Beliefs.of_logits(logits), gains)

    def _added(self, place: int, which: IntArray, near: _Nearness) -> tuple[FloatArray, FloatArray]:
        """What showing each example adds to the products and squares of the agreements where s is 1, (g', n) each."""
        seen, labels = self.seen, self.seen.pool.labels
        a = at_labels(self.steps[which], labels)
        pulls = seen.spaces.centred_pulls[place]
        # (x − μ)ᵀ mean_j t_jx_j, of the class of x.
        shifts = np.vecdot(self.coefficients[which], pulls[:, seen.examples])
        pulled = own_class(pulls, labels) - at_labels(shifts, labels)
        means = at_labels(seen.spaces.truth.mean(axis=1), labels)
        moved = 2 * near.beyond + a * near.apart
        lengths = at_labels(near.lengths.mean(axis=1, keepdims=True) - near.lengths, labels)
        bend = 4 * near.squares + a * near.apart * (4 * near.beyond + a * near.apart)
        squares = 2 * a * (4 * near.turned - lengths * moved)
        squares += (1 - 1 / seen.k) * a**2 * bend
        return a * (2 * pulled - means * moved), squares

    def _nearness(self, place: int, which: IntArray, along: FloatArray) -> _Nearness:
        """From the products of all examples with the prototypes, plain and turned, (2, g', k, n)."""
        seen, labels, space = self.seen, self.seen.pool.labels, self.seen.spaces.both[place]
        # From the centre, in units of the spread: xᵀμ and xᵀCμ, then μᵀμ and μᵀCμ'.
        shown, coefficients = seen.examples, self.coefficients[which]
        plain, across = along
        lengths = np.vecdot(plain[:, :, shown], coefficients)
        among = across[:, :, shown] @ coefficients.swapaxes(1, 2)
        selves = np.diagonal(among, axis1=1, axis2=2)
        own_lengths, own = at_labels(lengths, labels), own_class(across, labels)
        inner = own_class(plain, labels)
        beyond = inner - own_lengths
        return _Nearness(
            near=2 * plain - lengths[:, :, None],
            lengths=lengths,
            beyond=beyond,
            apart=np.maximum(space.squared_lengths - 2 * inner + own_lengths, 0.0),
            turned=own - across.mean(axis=1) - at_labels(selves - among.mean(axis=2), labels),
            squares=space.centred_squared_products
            - 2 * own
            + at_labels(selves, labels)
            + beyond**2,
        )


@dataclass(frozen=True)
class _Nearness:
    """Of g' least steps, every example x and the prototype μ of its class, from the centre of the pool, (g', n) each.

    beyond: (x − μ)ᵀμ; apart: ‖x − μ‖²; turned: (x − μ)ᵀC(μ − mean of all prototypes), C the mean of x_jx_jᵀ; squares:
    the mean of ((x − μ)ᵀ(x_j − μ))². `lengths` (g', k) are the ‖μ‖², and `near` (g', k, n) the logits where s is 1.
    """

    near: FloatArray
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
        among = seen.among.centred
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
    counts = np.full((len(seen) + 1, seen.k), 2.0)
    counts[1:] += np.cumsum(seen.truth, axis=0)
    steps = np.maximum(1 / np.vecdot(counts[:-1], seen.truth), least)
    # A lesson counts by its step, times what later lessons of its class have left of it, here as logs.
    left = np.zeros((len(least), len(seen) + 1, seen.k))
    np.cumsum(np.log1p(-steps)[:, :, None] * seen.truth, axis=1, out=left[:, 1:])
    then = np.vecdot(left[:, 1:], seen.truth)
    lasting = np.exp(np.minimum(at_labels(left, seen.labels) - then[:, None], 0.0))
    lasting *= steps[:, None]
    # Nothing of what is to come.
    coefficients = left_before(len(seen), 1.0) * lasting
    return coefficients[:, :, None] * seen.truth.T, np.maximum(1 / counts[-1], least)
