"""The paper's learner: a concept that follows the gradient, with a memory that decays, slow to fast.

From W₀ = 0, with λ_r = e_{y_r} − P_r what step r taught, the learner's update unrolls into

    W_s x = Σ_{r≤s} Γ_sr λ_r (x_rᵀx),   Γ_sr = Σ_{j=r…s} ½η_j β^{j−r},   V_s x = −Σ_{r≤s} β^{s−r} λ_r (x_rᵀx),

so that no matrix has d rows. Some learners look at the features as they are, others at what matters alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from typing import ClassVar

import numpy as np
from scipy.special import expit

from ..arrays import FloatArray, IntArray, Places
from ..learners.paper import LearningRate
from .agreement import Agreement
from .along import ByPlace, asked_for
from .base import (
    GIVEN,
    RELEVANT,
    Family,
    Followed,
    Seen,
    by_place,
    described,
    looks,
    over_classes,
    softmax,
)
from .beliefs import Beliefs
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
        return cls.of(seen.learning_rate.initial * seen.spaces.given.square, seen.beta)

    # Kept: all steps of a study ask for the same.
    @classmethod
    @lru_cache(maxsize=256)
    def of(cls, own: float, beta: float) -> Grid:
        """Around a rate where examples have the length 1, and a decay."""
        betas = [*dict.fromkeys([*BETAS, beta])]
        parts = [
            (GIVEN, [own], [beta]),
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

    @cached_property
    def decays(self) -> list[float]:
        """The different β, ascending."""
        return sorted({*self.betas.tolist()})

    @cached_property
    def which(self) -> IntArray:
        """Which of the different β each model has, (m,)."""
        return np.searchsorted(self.decays, self.betas)

    @cached_property
    def kinds(self) -> IntArray:
        """Which of all pairs of a decay and a place each model has, (m,)."""
        return np.asarray(2 * self.which + self.places)


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

    def logits_now(self, at: Places) -> FloatArray:
        logits = []
        for place, own in by_place(self.grid.places):
            space = self.seen.spaces.both[place]
            reached = self.reach[own, :, None] * self._free(self.taught[own], axis=2)
            concepts = reached.swapaxes(1, 2) @ self.seen.shown_points[place]
            logits.append((concepts @ space.points[at].T / space.square).swapaxes(1, 2))
        found = np.concatenate(logits)
        return found if self.seen.k > 2 else _opposite(found[:, :, 0])

    def directions(self, models: IntArray) -> ByPlace:
        """W and UM of each model, (2, len(models), k', q) of each place; see `gains`."""
        asked = {}
        for place, own in by_place(self.grid.places[models]):
            space, concepts = self.seen.spaces.both[place], self._concepts(place, models[own])
            concepts[1] = concepts[1] @ space.moments
            asked[place] = asked_for(concepts / space.square)
        return asked

    def gains(self, models: IntArray, along: ByPlace) -> FloatArray:
        """With ρ = ½η_t, the lesson moves the concept from U = W − ρβV to U + ρ λ_x xᵀ.

        With M = mean_j x_jx_jᵀ and T = mean_j t_jx_jᵀ, the products of the agreement become ⟨U, T⟩ + ρ λ_xᵀTx and its
        squares ⟨UM, U⟩ + 2ρ λ_xᵀUMx + ρ²‖λ_x‖²xᵀMx: exact for steps of any length.
        """
        n = self.seen.pool.n
        gains = np.empty((models.size, n))
        for place, own in by_place(self.grid.places[models]):
            believed, carried = along[place].reshape(2, own.stop - own.start, -1, n)
            beliefs = _beliefs(believed, self.seen.k)
            gains[own] = self._gains(place, models[own], beliefs, carried)
        return gains

    def _gains(
        self, place: int, models: IntArray, beliefs: Beliefs, carried: FloatArray
    ) -> FloatArray:
        """By what was believed of all examples, and UMx of each (len(models), k', n)."""
        spaces, rho = self.seen.spaces, self.next_rates(models)[:, None]
        chances = beliefs.chances().reshape(carried.shape)
        lessons = np.subtract(self._free(self.seen.pool.truth), chances, out=chances)
        steps = self._copies * rho
        products = over_classes(lessons, self._free(spaces.pulls[place]))
        squares = over_classes(lessons, carried)
        squares *= 2 * steps
        own = over_classes(lessons, lessons)
        own *= spaces.mean_squared_products[place]
        own *= steps * rho
        squares += own
        products *= steps
        return self._carried(place, models, carried).rises(products, squares)

    def _carried(self, place: int, models: IntArray, carried: FloatArray) -> Agreement:
        """The agreement of U, where the momentum alone leads, from UMx of every example."""
        _, reached = self._reached(models)
        shown, pulls = self.seen.examples, self._free(self.seen.spaces.pulls[place])
        products = np.einsum("mtk,kt->m", reached, pulls[:, shown])
        squares = np.einsum("mtk,mkt->m", reached, carried[:, :, shown])
        return Agreement(self._copies * products, self._copies * squares, self.seen.k)

    def _concepts(self, place: int, models: IntArray) -> FloatArray:
        """W and U, (2, len(models), k', q)."""
        return self._reached(models).swapaxes(2, 3) @ self.seen.shown_points[place]

    def _reached(self, models: IntArray) -> FloatArray:
        """How far what was taught reaches into W and U, (2, len(models), t, k')."""
        carried = (self.next_rates(models) * self.grid.betas[models])[:, None] * self.decay[models]
        reach = self.reach[models]
        taught = self._free(self.taught[models], axis=2)
        return np.stack([reach, reach + carried])[..., None] * taught

    def _free(self, values: FloatArray, axis: int = 0) -> FloatArray:
        """Those of k' classes: of two classes one stands for both, since the other has the opposite."""
        if self.seen.k > 2:
            return values
        return values[1:] if axis == 0 else values[:, :, 1:]

    @property
    def _copies(self) -> int:
        """For how many classes each of the k' stands."""
        return 2 if self.seen.k == 2 else 1

    def next_rates(self, models: IntArray) -> FloatArray:
        """ρ of the lesson to come, (len(models),)."""
        schedule = self.seen.learning_rate
        left = schedule(len(self.seen) + 1) / schedule.initial
        return np.asarray(self.grid.rates[models] * (left / 2))


def _beliefs(believed: FloatArray, k: int) -> Beliefs:
    """From the logits of k' classes, (m, k', n)."""
    if k == 2:
        return Beliefs.of_differences(-2 * believed[:, 0])
    return Beliefs.of_logits(believed)


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
    t, which, rates = len(seen), grid.which, grid.rates[:, None]
    reach = unrolled(grid.decays, seen.learning_rate, t)
    # How far each lesson moves the logits before each step where the rate is 1, (decays, places, t, t).
    links = reach[:, None, :-1] * seen.among.plain
    follow = _followed_by_difference if seen.k == 2 else _followed
    logits, taught = follow(links.reshape(2 * len(grid.decays), t, t), grid, seen.truth)
    left = left_before(t, *grid.decays)[which, -1]
    return FollowedConcepts(seen, grid, logits, taught, reach[which, -1] * rates, left)


def _followed(links: FloatArray, grid: Grid, truth: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Logits and lessons (m, t, k) by lessons that reach each step through links (kinds, t, t) where the rate is 1."""
    own = _of_models(links, grid)
    logits, taught = np.zeros((2, len(own), *truth.shape))
    for step, label in enumerate(truth):
        logits[:, step] = np.vecmat(own[:, step, :step], taught[:, :step])
        np.subtract(label, softmax(logits[:, step]), out=taught[:, step])
    return logits, taught


def _followed_by_difference(
    links: FloatArray, grid: Grid, truth: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The same of two classes, whose lessons are opposite: the chance to be wrong, with the sign of the label."""
    signs = 2 * truth[:, 1] - 1
    # What was taught of a class lowers the log odds to be wrong in it, and raises those in the other.
    links *= -2 * signs[:, None] * signs
    reaching = _of_models(links, grid).swapaxes(0, 1)
    odds, wrong = np.zeros(reaching.shape[:2]), np.zeros((reaching.shape[1], len(truth)))
    # What is to come is 0 yet.
    for reached, own, chance in zip(reaching, odds, wrong.T, strict=True):
        np.vecdot(reached, wrong, out=own)
        expit(own, out=chance)
    return _opposite(odds.T * (-signs / 2)), _opposite(wrong * signs)


def _of_models(links: FloatArray, grid: Grid) -> FloatArray:
    """Links (kinds, t, t) as those of each model at its rate, (m, t, t)."""
    # No kind is outside; to look at that takes longer than to take what is there.
    own = np.take(links, grid.kinds, axis=0, mode="clip")
    own *= grid.rates[:, None, None]
    return own


def _opposite(values: FloatArray) -> FloatArray:
    """Of two classes, (…, 2), from those of class 1 (…)."""
    both = np.empty((*values.shape, 2))
    np.negative(values, out=both[..., 0])
    both[..., 1] = values
    return both


def unrolled(decays: Sequence[float], schedule: LearningRate, t: int) -> FloatArray:
    """Γ of each decay where the rate is 1, (decays, t+1, t)."""
    reach = np.zeros((len(decays), t + 1, t))
    powers = left_before(t, *decays)[:, 1:]
    np.cumsum(powers * _half_rates(schedule, t)[:, None], axis=1, out=reach[:, 1:])
    return reach


@lru_cache(maxsize=1024)
def _half_rates(schedule: LearningRate, t: int) -> FloatArray:
    """Half the rates of the first steps, (t,), where the first is 1."""
    return np.array([schedule(s + 1) for s in range(t)]) / (2 * schedule.initial)
