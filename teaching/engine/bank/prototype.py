"""Prototype learners: they keep one prototype for each class and take the nearest.

A prototype starts at the centre with the weight of one example and moves towards each example of its class by
1/(number + 1) of the way, or by the least step if that is more. It is stored as coefficients of the shown examples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..arrays import Examples, FloatArray, IntArray
from .agreement import Agreement
from .base import (
    GIVEN,
    RELEVANT,
    Family,
    Observations,
    Predictions,
    by_space,
    combined,
    described,
    of_labels,
    space_names,
)

LEAST_STEPS = (0.0, 0.1, 0.3)
# The factor of squared distances, where examples have a variance of 1.
SHARPNESS = (1.0, 4.0, 16.0)
GRID = combined([GIVEN, RELEVANT], range(len(LEAST_STEPS)), SHARPNESS)


@dataclass(frozen=True)
class PrototypePredictions(Predictions):
    """The space (ascending), the index of the least step, and the sharpness of the models, (m,) each.

    `coefficients` (g, k, t) and `steps` (g, k) are those of the prototypes now, for the g least steps.
    """

    observed: Observations
    spaces: IntArray
    which: IntArray
    sharpness: FloatArray
    logits: FloatArray
    coefficients: FloatArray
    steps: FloatArray

    @property
    def names(self) -> list[str]:
        steps = [LEAST_STEPS[which] for which in self.which]
        return described(by=space_names(self.spaces), least_step=steps, sharpness=self.sharpness)

    def logits_at(self, examples: Examples) -> FloatArray:
        logits = []
        for place, own in by_space(self.spaces):
            space = self.observed.spaces.both[place]
            prototypes = self._prototypes(place)
            closeness = 2 * (space.centred[examples] @ prototypes.swapaxes(1, 2))
            closeness -= np.vecdot(prototypes, prototypes)[:, None]
            closeness /= space.variance
            logits.append(self.sharpness[own, None, None] * closeness[self.which[own]])
        return np.concatenate(logits)

    def gains(self, models: IntArray) -> FloatArray:
        """The rise of the agreement when μ, the prototype of the class of x, moves by a of the way to x.

        That adds D_j = s·a(2(x − μ)ᵀx_j − m), m = 2(x − μ)ᵀμ + a‖x − μ‖², to the closeness of x_j. The products of the
        agreement gain mean_j t_jD_j, the squares 2 mean_j z̃_jD_j + (1 − 1/k) mean_j D_j². All of these are moments of
        the pool, so they hold for steps of any length. Points are relative to the centre, in units of the variance; C
        is the mean of x_jx_jᵀ.
        """
        observed, labels = self.observed, self.observed.pool.labels
        k, truth = observed.k, observed.spaces.truth
        gains = np.empty((models.size, labels.size))
        for place, own in by_space(self.spaces[models]):
            space, pulls = observed.spaces.both[place], observed.spaces.centred_pulls[place]
            some, of_model = np.unique(self.which[models[own]], return_inverse=True)
            prototypes, a = self._prototypes(place)[some], self.steps[some]
            # xᵀμ and xᵀCμ of every example and class, (g, k, n).
            inner = prototypes @ space.centred.T / space.variance
            turned = prototypes @ space.centred_moments @ space.centred.T / space.variance
            lengths = np.vecdot(prototypes, prototypes) / space.variance
            # Σ_j t_j (μᵀx_j), and μᵀCμ' of all pairs of classes.
            shown, coefficients = observed.examples, self.coefficients[some]
            pulled = np.vecdot(coefficients, pulls[:, shown])
            pairs = turned[:, :, shown] @ coefficients.swapaxes(1, 2)
            selves = np.diagonal(pairs, axis1=1, axis2=2)
            # For the class of each example, (g, n).
            step, length, pull, self_product, mean_pair = (
                values[:, labels] for values in (a, lengths, pulled, selves, pairs.mean(axis=2))
            )
            own_inner, own_turned = of_labels(inner, labels), of_labels(turned, labels)
            offset = own_inner - length
            squared_offset = np.maximum(space.squared_lengths - 2 * own_inner + length, 0.0)
            m = 2 * offset + step * squared_offset
            products = 2 * (pulls[labels, np.arange(labels.size)] - pull)
            products -= truth.mean(axis=1)[labels] * m
            # mean_j ((x − μ)ᵀx_j)², and 2 mean_j z̃_jD_j in units of a.
            spread = space.centred_squared_products - 2 * own_turned + self_product
            across = 8 * (own_turned - turned.mean(axis=1) - self_product + mean_pair)
            across += 2 * (length - lengths.mean(axis=1, keepdims=True)) * m
            squares = across + (1 - 1 / k) * step * (4 * spread + m**2)
            now = Agreement.of(2 * inner - lengths[..., None], truth)
            s = self.sharpness[models[own]]
            scaled = Agreement(now.products[of_model], now.squares[of_model], k).scaled(s)
            gains[own] = scaled.rises(
                s[:, None] * (step * products)[of_model],
                (s**2)[:, None] * (step * squares)[of_model],
            )
        return gains

    def _prototypes(self, place: int) -> FloatArray:
        """The prototypes relative to the centre, (g, k, q)."""
        space = self.observed.spaces.both[place]
        return np.asarray(self.coefficients @ space.centred[self.observed.examples])


class Prototype(Family):
    name: ClassVar[str] = "prototype"
    title: ClassVar[str] = "compares with what is typical of each class"
    weight: ClassVar[float] = 2.0

    def predict(self, observed: Observations) -> PrototypePredictions:
        t, k = len(observed), observed.k
        coefficients, steps = prototype_coefficients(observed)
        closeness = []
        for space in observed.spaces.both:
            shown = space.centred[observed.examples]
            prototypes = coefficients[:, :-1] @ shown
            inner = np.vecdot(prototypes, shown[:, None])
            closeness.append((2 * inner - np.vecdot(prototypes, prototypes)) / space.variance)
        logits = np.stack(closeness)[:, :, None] * np.array(SHARPNESS)[:, None, None]
        spaces, which, sharpness = GRID
        return PrototypePredictions(
            observed,
            spaces,
            which,
            sharpness,
            logits.reshape(spaces.size, t, k),
            coefficients[:, -1],
            steps,
        )


def prototype_coefficients(observed: Observations) -> tuple[FloatArray, FloatArray]:
    """The coefficients before each step and now, (g, t+1, k, t), and the share of the way of the next step, (g, k)."""
    t, least = len(observed), np.array(LEAST_STEPS)
    coefficients = np.zeros((least.size, t + 1, observed.k, t))
    counts = np.full(observed.k, 2.0)
    for step, label in enumerate(observed.labels.tolist()):
        share = np.maximum(1 / counts[label], least)
        now = coefficients[:, step + 1]
        now[:] = coefficients[:, step]
        now[:, label] *= 1 - share[:, None]
        now[:, label, step] = share
        counts[label] += 1
    return coefficients, np.maximum(1 / counts, least[:, None])
