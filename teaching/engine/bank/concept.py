"""The paper's learner: a concept that follows the gradient of the loss, with an exponentially decaying memory.

From W₀ = 0, with the lesson λ_r = e_{y_r} − P_r of step r, the learner's update unrolls into

    W_s x = Σ_{r≤s} Γ_sr λ_r (x_rᵀx),   Γ_sr = Σ_{j=r…s} ½η_j β^{j−r},   V_s x = −Σ_{r≤s} β^{s−r} λ_r (x_rᵀx),

so no matrix has d rows. Some learners see the features as given, others only the logits of the target.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import ClassVar

import numpy as np

from ..arrays import Examples, FloatArray, IntArray
from ..classes import softmax
from ..learners.paper import LearningRate
from .agreement import Agreement
from .base import (
    GIVEN,
    RELEVANT,
    Family,
    Observations,
    Predictions,
    by_space,
    decay_weights,
    described,
    space_names,
)

# Learning rates η₀ for examples of length 1, and factors of the study's own rate.
RATES = (0.2, 0.6, 2.0, 6.0, 20.0)
FACTORS = (0.4, 1.0, 2.5)
# Memory decays besides the participant's own.
BETAS = (0.0, 0.5)
# Prior of the study's own rate and the participant's β; of rates near it; of other rates; of learners in the relevant
# space. Where answers are uninformative, the learner is taken for the one that the study assumes.
PRIOR = (0.5, 0.15, 0.1, 0.25)


@dataclass(frozen=True)
class Grid:
    """Learning rates η₀, memory decays β, feature spaces (ascending) and prior of the models, (m,) each."""

    rates: FloatArray
    betas: FloatArray
    spaces: IntArray
    prior: FloatArray

    # Cached because all steps of a session need the same grid.
    @classmethod
    @lru_cache(maxsize=256)
    def around(cls, rate: float, beta: float) -> Grid:
        """The assumed rate (for examples of length 1) and β, variations of both, and rates of any size."""
        betas = [*dict.fromkeys([*BETAS, beta])]
        parts = [
            (GIVEN, [rate], [beta]),
            (GIVEN, [factor * rate for factor in FACTORS], betas),
            (GIVEN, RATES, betas),
            (RELEVANT, RATES[1:], BETAS),
        ]
        pairs = [list(product(rates, decays)) for _, rates, decays in parts]
        sizes = [len(one) for one in pairs]
        settings = np.array([pair for one in pairs for pair in one])
        spaces = np.repeat([space for space, _, _ in parts], sizes)
        prior = np.repeat(np.array(PRIOR) / sizes, sizes)
        return cls(settings[:, 0], settings[:, 1], spaces, prior)


@dataclass(frozen=True)
class ConceptPredictions(Predictions):
    """`lessons` λ (m, t, k), and their weights in W now, `reach` (m, t), and in −V now, `momentum` (m, t)."""

    observed: Observations
    grid: Grid
    logits: FloatArray
    lessons: FloatArray
    reach: FloatArray
    momentum: FloatArray

    @property
    def prior(self) -> FloatArray:
        return self.grid.prior

    @property
    def names(self) -> list[str]:
        grid, observed = self.grid, self.observed
        near = 1 + len(FACTORS) * len({*BETAS, observed.beta})
        factors = grid.rates / (observed.learning_rate.initial * observed.spaces.given.mean_square)
        rates = [f"{factor:g} of the assumed" for factor in factors[:near]]
        rates += [f"{rate:g}" for rate in grid.rates[near:]]
        _, *others = described(by=space_names(grid.spaces), rate=rates, decay=grid.betas)
        return ["as the study assumes", *others]

    def inferred(self, weights: FloatArray) -> tuple[float, float]:
        """The posterior means of log η₀, as a rate, and of β, over the models that see the features as given."""
        given = np.where(self.grid.spaces == GIVEN, weights, 0.0)
        given = given / given.sum()
        rate = float(np.exp(given @ np.log(self.grid.rates)))
        return rate / self.observed.spaces.given.mean_square, float(given @ self.grid.betas)

    def logits_at(self, examples: Examples) -> FloatArray:
        logits = []
        for place, own in by_space(self.grid.spaces):
            space = self.observed.spaces.both[place]
            concepts = self._concepts(place, self.reach[own], self.lessons[own])
            logits.append(space.points[examples] @ concepts.swapaxes(1, 2) / space.mean_square)
        return np.concatenate(logits)

    def gains(self, models: IntArray) -> FloatArray:
        """With ρ = ½η_t, the lesson moves the concept from U = W − ρβV to U + ρ λ_x xᵀ.

        With M = mean_j x_jx_jᵀ and T = mean_j t_jx_jᵀ, the products of the agreement become ⟨U, T⟩ + ρ λ_xᵀTx and its
        squares ⟨UM, U⟩ + 2ρ λ_xᵀUMx + ρ²‖λ_x‖²xᵀMx, for steps of any length.
        """
        observed, schedule = self.observed, self.observed.learning_rate
        left = schedule(len(observed) + 1) / schedule.initial
        gains = np.empty((models.size, observed.pool.n))
        for place, own in by_space(self.grid.spaces[models]):
            some, space = models[own], observed.spaces.both[place]
            rho = self.grid.rates[some] * (left / 2)
            reach, lessons = self.reach[some], self.lessons[some]
            carried = reach + (rho * self.grid.betas[some])[:, None] * self.momentum[some]
            concepts = np.stack(
                [
                    self._concepts(place, reach, lessons),
                    self._concepts(place, carried, lessons) @ space.moments,
                ]
            )
            believed, moved = concepts @ space.points.T / space.mean_square
            added = observed.pool.truth - softmax(believed, axis=1)
            pulls = observed.spaces.pulls[place]
            shown = observed.examples
            agreement = Agreement(
                np.einsum("mt,mtk,kt->m", carried, lessons, pulls[:, shown]),
                np.einsum("mt,mtk,mkt->m", carried, lessons, moved[:, :, shown]),
                observed.k,
            )
            step = rho[:, None]
            products = step * np.einsum("mkn,kn->mn", added, pulls)
            squares = 2 * step * np.einsum("mkn,mkn->mn", added, moved)
            squares += step**2 * np.einsum("mkn,mkn->mn", added, added) * space.squared_products
            gains[own] = agreement.rises(products, squares)
        return gains

    def _concepts(self, place: int, weights: FloatArray, lessons: FloatArray) -> FloatArray:
        """Σ_r weight_r λ_r x_rᵀ, (m, k, q), for weights (m, t) and lessons (m, t, k)."""
        return np.asarray(
            (weights[..., None] * lessons).swapaxes(1, 2) @ self.observed.points[place]
        )


class Concept(Family):
    name: ClassVar[str] = "concept"
    title: ClassVar[str] = "follows a concept, as the paper assumes"
    weight: ClassVar[float] = 3.0
    # What the study assumes: 63 % of the weight in a choice before the first answer.
    choice_weight: ClassVar[float] = 4.0

    def predict(self, observed: Observations) -> ConceptPredictions:
        rate = observed.learning_rate.initial * observed.spaces.given.mean_square
        return run_learners(observed, Grid.around(rate, observed.beta))


def run_learners(observed: Observations, grid: Grid) -> ConceptPredictions:
    """Run learners of any learning rates and decays through a history."""
    t, rates = len(observed), grid.rates[:, None]
    decays, which = np.unique(grid.betas, return_inverse=True)
    reach = unrolled(tuple(decays.tolist()), observed.learning_rate, t)[which]
    # How far the lesson of each step moves the logits before each other step, (m, t, t).
    links = reach[:, :-1] * observed.products[grid.spaces] * rates[..., None]
    logits, lessons = np.zeros((2, rates.size, t, observed.k))
    for step, label in enumerate(observed.truth):
        logits[:, step] = np.vecmat(links[:, step, :step], lessons[:, :step])
        lessons[:, step] = label - softmax(logits[:, step])
    momentum = decay_weights(t, *decays.tolist())[which, -1]
    return ConceptPredictions(observed, grid, logits, lessons, reach[:, -1] * rates, momentum)


@lru_cache(maxsize=256)
def unrolled(decays: tuple[float, ...], schedule: LearningRate, t: int) -> FloatArray:
    """Γ for each decay if the first learning rate is 1, before each step and now, (len(decays), t+1, t)."""
    half_rates = np.array([schedule(s + 1) for s in range(t)]) / (2 * schedule.initial)
    reach = np.zeros((len(decays), t + 1, t))
    np.cumsum(decay_weights(t, *decays)[:, 1:] * half_rates[:, None], axis=1, out=reach[:, 1:])
    return reach
