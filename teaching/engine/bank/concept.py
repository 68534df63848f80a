"""The paper's learner: a concept that follows the gradient, with a memory that decays, slow to fast.

From W₀ = 0, with λ_r = e_{y_r} − P_r what step r taught, the learner's update unrolls into

    W_s x = Σ_{r≤s} Γ_sr λ_r (x_rᵀx),   Γ_sr = Σ_{j=r…s} ½η_j β^{j−r},   V_s x = −Σ_{r≤s} β^{s−r} λ_r (x_rᵀx),

so that no matrix has d rows. Some learners look at the features as they are, others at what matters alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import ClassVar

import numpy as np
from scipy.special import expit

from ..arrays import BoolArray, FloatArray, IntArray
from ..learners.paper import LearningRate
from .agreement import Agreement
from .base import (
    GIVEN,
    RELEVANT,
    Family,
    Followed,
    Seen,
    described,
    looks,
    over_classes,
    softmax,
)
from .fading import left_before

# Learning rates η₀ where examples have the length 1, and factors of the study's own.
RATES = (0.2, 0.6, 2.0, 6.0, 20.0)
FACTORS = (0.4, 1.0, 2.5)
# Memory decays beside the participant's own, and those of learners who look at what matters.
BETAS = (0.0, 0.5)
# Of learners with the study's own rate and the participant's decay, with rates near them, with any other, and of those
# who look at what matters alone. Where answers tell little, a learner is taken for the one that the study assumes.
SHARES = (0.5, 0.15, 0.1, 0.25)


@dataclass(frozen=True)
class Grid:
    """Learning rates η₀, decays β, where each of the models looks, and how probable it is at first, (m,) each."""

    rates: FloatArray
    betas: FloatArray
    places: IntArray
    shares: FloatArray

    @classmethod
    def around(cls, seen: Seen) -> Grid:
        """Rates and decays of any size, and those that the study assumes."""
        own = seen.learning_rate.initial * seen.spaces.given.square
        betas = [*dict.fromkeys([*BETAS, seen.beta])]
        parts = [
            (GIVEN, [own], [seen.beta]),
            (GIVEN, [factor * own for factor in FACTORS], betas),
            (GIVEN, RATES, betas),
            (RELEVANT, RATES[1:], BETAS),
        ]
        pairs = [list(product(rates, decays)) for _, rates, decays in parts]
        sizes = [len(one) for one in pairs]
        settings = np.array([pair for one in pairs for pair in one])
        places = np.repeat([place for place, _, _ in parts], sizes)
        shares = np.repeat(np.array(SHARES) / sizes, sizes)
        return cls(settings[:, 0], settings[:, 1], places, shares)


@dataclass(frozen=True)
class FollowedConcepts(Followed):
    """What the models were taught (m, t, k), how far it reaches into W now and what is left of it in V, (m, t)."""

    seen: Seen
    grid: Grid
    logits: FloatArray
    taught: FloatArray
    reach: FloatArray
    decay: FloatArray

    @property
    def first_shares(self) -> FloatArray:
        return self.grid.shares

    @property
    def names(self) -> list[str]:
        grid, schedule = self.grid, self.seen.learning_rate
        factors = grid.rates / (schedule.initial * self.seen.spaces.given.square)
        betas = len({*BETAS, self.seen.beta})
        rates = [f"{factor:g} of the assumed" for factor in factors[: 1 + len(FACTORS) * betas]]
        rates += [f"{rate:g}" for rate in grid.rates[len(rates) :]]
        _, *others = described(by=looks(grid.places), rate=rates, decay=grid.betas)
        return ["as the study assumes", *others]

    def inferred(self, weights: FloatArray) -> tuple[float, float]:
        """η₀ and β of a learner who looks at the features as given, by the weights (m,) of the models."""
        given = np.where(self.grid.places == GIVEN, weights, 0.0)
        given = given / given.sum()
        rate = float(np.exp(given @ np.log(self.grid.rates))) / self.seen.spaces.given.square
        return rate, float(given @ self.grid.betas)

    def beliefs(self, models: IntArray) -> FloatArray:
        reached = self.reach[models][:, :, None] * self.taught[models]
        believed = np.empty((models.size, self.seen.k, self.seen.pool.n))
        for place, own in self._by_place(models):
            concepts = reached[own].swapaxes(1, 2) @ self.seen.shown_points[place]
            believed[own] = self.seen.spaces.both[place].along(concepts)
        return believed

    def _by_place(self, models: IntArray) -> list[tuple[int, BoolArray]]:
        """Which of the models look where, of the places where some do."""
        places = self.grid.places[models]
        return [(place, own) for place in (GIVEN, RELEVANT) if (own := places == place).any()]

    def gains(self, models: IntArray, beliefs: FloatArray) -> FloatArray:
        """With ρ = ½η_t, the lesson moves the concept from U = W − ρβV to U + ρ λ_x xᵀ.

        With M = mean_j x_jx_jᵀ and T = mean_j t_jx_jᵀ, the products of the agreement become ⟨U, T⟩ + ρ λ_xᵀTx and its
        squares ⟨UM, U⟩ + 2ρ λ_xᵀUMx + ρ²‖λ_x‖²xᵀMx: exact for steps of any length.
        """
        seen, rho = self.seen, self.next_rates(models)[:, None]
        lessons = seen.pool.truth - softmax(beliefs, axis=1)
        along, now = self._carried(models)
        places = self.grid.places[models]
        own = over_classes(lessons, lessons) * seen.spaces.mean_squared_products[places]
        return now.rises(
            rho * over_classes(lessons, seen.spaces.pulls[places]),
            2 * rho * over_classes(lessons, along) + rho**2 * own,
        )

    def _carried(self, models: IntArray) -> tuple[FloatArray, Agreement]:
        """UMx of every example, (len(models), k, n), and the agreement of U, where the momentum alone leads."""
        seen, n, k = self.seen, self.seen.pool.n, self.seen.k
        carried = (self.next_rates(models) * self.grid.betas[models])[:, None] * self.decay[models]
        kept = (self.reach[models] + carried)[:, :, None] * self.taught[models]
        along = np.empty((models.size, k, n))
        products, squares = np.empty((2, models.size))
        for place, own in self._by_place(models):
            space = seen.spaces.both[place]
            concepts = kept[own].swapaxes(1, 2) @ seen.shown_points[place]
            moved = concepts @ space.moments
            along[own] = space.along(moved)
            pulls = seen.spaces.pulls[place][:, seen.examples]
            products[own] = np.einsum("mtk,kt->m", kept[own], pulls)
            squares[own] = np.einsum("mkq,mkq->m", moved, concepts) / space.square
        return along, Agreement(products, squares, k)

    def next_rates(self, models: IntArray) -> FloatArray:
        """ρ of the lesson to come, (len(models),)."""
        schedule = self.seen.learning_rate
        left = schedule(len(self.seen) + 1) / schedule.initial
        return np.asarray(self.grid.rates[models] * (left / 2))


class Concept(Family):
    """Learners as the paper assumes them."""

    name: ClassVar[str] = "concept"
    title: ClassVar[str] = "follows a concept, as the paper assumes"
    weight: ClassVar[float] = 3.0
    # It is what a study assumes: before any answer it counts as much as all other families together.
    assumed: ClassVar[float] = 4.0

    def follow(self, seen: Seen) -> FollowedConcepts:
        return follow_grid(seen, Grid.around(seen))


def follow_grid(seen: Seen, grid: Grid) -> FollowedConcepts:
    """Run learners of any rates and decays over a history."""
    decay, reach = unrolled(grid, seen.learning_rate, len(seen))
    products = np.stack([one.plain for one in seen.among])
    # How far each lesson moves the logits before each step, lessons first, (t, t, 1, m).
    links = (reach[:, :-1] * products[grid.places]).transpose(2, 1, 0)[:, :, None].copy()
    follow = _followed_by_difference if seen.k == 2 else _followed
    logits, taught = (part.transpose(2, 0, 1) for part in follow(links, seen.truth))
    return FollowedConcepts(seen, grid, logits, taught, reach[:, -1], decay)


def _followed(links: FloatArray, truth: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Logits and lessons (t, k, m) by lessons that reach later steps through links (t, t, 1, m)."""
    logits, taught = np.zeros((2, *truth.shape, links.shape[-1]))
    for step, label in enumerate(truth):
        lesson = np.subtract(label[:, None], softmax(logits[step], axis=0), out=taught[step])
        logits[step + 1 :] += links[step, step + 1 :] * lesson
    return logits, taught


def _followed_by_difference(links: FloatArray, truth: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The same of two classes, whose lessons are opposite."""
    apart, taught = np.zeros((2, len(truth), links.shape[-1]))
    twice = 2 * links[:, :, 0]
    for step, label in enumerate(truth[:, 1].tolist()):
        lesson = np.subtract(label, expit(apart[step]), out=taught[step])
        apart[step + 1 :] += twice[step, step + 1 :] * lesson
    return np.stack([-apart / 2, apart / 2], axis=1), np.stack([-taught, taught], axis=1)


def unrolled(grid: Grid, schedule: LearningRate, t: int) -> tuple[FloatArray, FloatArray]:
    """β^{t−1−r} (m, t), and Γ (m, t+1, t): how far lesson r reaches into W before each step."""
    halves = np.array([schedule(s + 1) for s in range(t)]) / (2 * schedule.initial)
    betas, which = np.unique(grid.betas, return_inverse=True)
    powers = left_before(t, *betas.tolist())[:, 1:]
    reach = np.zeros((betas.size, t + 1, t))
    np.cumsum(powers * halves[:, None], axis=1, out=reach[:, 1:])
    decay = powers[:, -1] if t else np.zeros((betas.size, 0))
    return decay[which], reach[which] * grid.rates[:, None, None]
