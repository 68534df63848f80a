"""Learners who keep one prototype of each class, and take the nearest.

A prototype begins at the centre with the weight of one example and moves towards each example of its class, by
1/(number + 1) of the way or by the least step, whichever is more. It is a combination of the shown examples, kept by
its coefficients.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..arrays import FloatArray, IntArray, Places
from .agreement import Agreement
from .along import ByPlace, asked_for
from .base import (
    GIVEN,
    RELEVANT,
    Family,
    Followed,
    Seen,
    at_labels,
    by_place,
    combined,
    described,
    looks,
    own_class,
    shared,
)
from .fading import left_before

LEAST_STEPS = (0.0, 0.1, 0.3)
# How much a squared distance counts, where examples have the mean square 1.
SHARPNESS = (1.0, 4.0, 16.0)
SHARPER = np.array(SHARPNESS)[:, None, None]
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

    def logits_now(self, at: Places) -> FloatArray:
        logits = []
        for place, own in by_place(self.places):
            space = self.seen.spaces.both[place]
            prototypes = self.coefficients @ (self.seen.shown_points[place] - space.centre)
            near = 2 * prototypes @ (space.points[at] - space.centre).T
            near -= np.vecdot(prototypes, prototypes)[:, :, None]
            near /= space.spread
            logits.append(self.sharpness[own, None, None] * near[self.which[own]])
        return np.concatenate(logits).swapaxes(1, 2)

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

    def gains(self, models: IntArray, along: ByPlace) -> FloatArray:
        """Moving μ by a of the way to x adds D_j = s·a(2(x − μ)ᵀ(x_j − μ) − a‖x − μ‖²) to the nearness of x_j.

        The agreement then has mean_j t_jD_j more in its products, and 2 mean_j z̃_jD_j + (1 − 1/k) mean_j D_j² in
        its squares. All of these are moments of the pool: exact for steps of any length. Models that differ in s alone
        share them.
        """
        n, k, truth = self.seen.pool.n, self.seen.k, self.seen.spaces.truth
        gains = np.empty((models.size, n))
        for place, own in by_place(self.places[models]):
            which, of = shared(self.which[models[own]])
            s = self.sharpness[models[own]]
            plain, turned = along[place].reshape(2, which.size, k, n)
            # From the centre, in units of the spread: ‖μ‖², and 2xᵀμ − ‖μ‖².
            lengths = np.vecdot(plain[:, :, self.seen.examples], self.coefficients[which])
            now = _agreement(2 * plain - lengths[:, :, None], truth).of_models(of).scaled(s)
            by_class = np.stack([lengths, *self._of_classes(place, which, turned)])
            products, squares = self._added(place, by_class, plain, turned)
            gains[own] = now.rises(s[:, None] * products[of], (s**2)[:, None] * squares[of])
        return gains

    def _added(
        self, place: int, by_class: FloatArray, plain: FloatArray, turned: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """What showing each example adds to the products and squares of the agreements where s is 1, (g', n) each.

        From ‖μ‖² of the prototypes with what `_of_classes` says, (4, g', k), and xᵀμ and xᵀCμ of all x, (g', k, n).
        As all points are from the centre, D_j = a(2(x − μ)ᵀx_j − m) with m = 2(x − μ)ᵀμ + a‖x − μ‖² has the mean −a·m
        and the mean square a²(4(x − μ)ᵀC(x − μ) + m²), C the mean of x_jx_jᵀ.
        """
        spaces, labels = self.seen.spaces, self.seen.pool.labels
        space, lengths = spaces.both[place], by_class[0].mean(axis=1, keepdims=True)
        length, a, shift, level = at_labels(by_class, labels)
        inner, across = own_class(plain, labels) - length, own_class(turned, labels)
        m = np.maximum(space.squared_lengths - length - 2 * inner, 0.0)
        m *= a
        m += 2 * inner
        products = 2 * (spaces.own_pulls[place] - shift)
        products -= spaces.own_means * m
        squares = 4 * space.centred_squared_products - 8 * across
        squares += m**2
        squares *= (1 - 1 / self.seen.k) * a
        squares += 8 * (across - turned.mean(axis=1))
        squares += 2 * (length - lengths) * m
        squares += level
        return np.multiply(a, products, out=products), np.multiply(a, squares, out=squares)

    def _of_classes(
        self, place: int, which: IntArray, turned: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Of the prototypes, (g', k) each: the next steps a, μᵀ mean_j t_jx_j, and the part of squares without x.

        The squares are those that are added by a step, in units of a.
        """
        shown, coefficients, a = self.seen.examples, self.coefficients[which], self.steps[which]
        shift = np.vecdot(coefficients, self.seen.spaces.centred_pulls[place][:, shown])
        # μᵀCμ' of all pairs.
        among = turned[:, :, shown] @ coefficients.swapaxes(1, 2)
        selves = np.diagonal(among, axis1=1, axis2=2)
        level = 4 * (1 - 1 / self.seen.k) * a * selves - 8 * (selves - among.mean(axis=2))
        return a, shift, level


def _agreement(near: FloatArray, truth: FloatArray) -> Agreement:
    """That of logits (g', k, n)."""
    if near.shape[1] == 2:
        return Agreement.of_differences(near[:, 1] - near[:, 0], truth)
    return Agreement.of(near, truth)


class Prototype(Family):
    """Learners who remember what is typical of each class."""

    name: ClassVar[str] = "prototype"
    title: ClassVar[str] = "compares with what is typical of each class"
    weight: ClassVar[float] = 2.0

    def follow(self, seen: Seen) -> FollowedPrototypes:
        coefficients, moves, steps = moved(seen)
        logits = nearness(seen, coefficients[:, :-1], moves)[:, :, None] * SHARPER
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


def nearness(seen: Seen, coefficients: FloatArray, moves: FloatArray) -> FloatArray:
    """2μᵀx − ‖μ‖² of each prototype and what is shown next, from coefficients (g, t, k, t) and moves; (2, g, t, k).

    Where μ moves by a of the way to x, ‖μ‖² becomes (1 − a)²‖μ‖² + 2a(1 − a)μᵀx + a²‖x‖². What a lesson adds is left
    of it like the square of its coefficient, so that nothing of t³ products has to be worked out.
    """
    among = seen.among.centred
    along = np.vecdot(among[:, None, :, None], coefficients)
    own = np.vecdot(along, seen.truth)
    squares = np.diagonal(among, axis1=1, axis2=2)[:, None]
    added = (2 / moves - 2) * own + squares
    return np.asarray(2 * along - np.vecdot(coefficients**2, added[:, :, None, None]))


def moved(seen: Seen) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Coefficients of the prototypes before each step and now, (g, t+1, k, t).

    Also by how much of the way each lesson moved its prototype, (g, t), and how much the next ones will, (g, k).
    """
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
    return coefficients[:, :, None] * seen.taught, steps, np.maximum(1 / counts[-1], least)
