"""Bayesian mixture of all models in all answer styles, and what it predicts.

The weight of a member, a model with a style, is multiplied by its likelihood of each answer. After each answer a small
share of the weight returns to the prior, because people change (fixed share, Herbster and Warmuth 1998).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise

import numpy as np

from ..arrays import Examples, FloatArray, IntArray
from .base import Family, Observations, Predictions, StyleArrays

# The share of weight that returns to the prior after each answer.
CHANGE = 0.01
# Gains leave out the least probable families that hold this much together; of the others the likeliest models count,
# at least one per family and this many altogether. So the cost of a choice does not depend on the answers.
MAX_LEFT_OUT = 0.1
MAX_MODELS = 8
# Weights are compared in so many digits, because rounding errors differ between machines.
EQUAL_DIGITS = 12
# ± this many standard deviations hold 90 % of a normal distribution.
NINETY_PERCENT = 1.6449
# Examples of a pool that are predicted at once, to limit memory.
BATCH = 1_000


@dataclass(frozen=True)
class Member:
    """A family with its predictions."""

    family: Family
    predictions: Predictions
    observed: Observations

    @property
    def styles(self) -> StyleArrays:
        return self.family.style_arrays()

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of models and styles, (m, s)."""
        return len(self.predictions.logits), self.styles.guess_rates.size

    @cached_property
    def chances(self) -> FloatArray:
        """P of all classes before each answer at each temperature, without guesses, (f, m, t, k)."""
        return self.family.chances(self.predictions.logits, self.observed.response_bias[:-1])

    def chances_at(self, examples: IntArray) -> FloatArray:
        """The same for some examples after the last answer, (f, m, e, k)."""
        logits = self.predictions.logits_at(examples)
        return self.family.chances(logits, self.observed.response_bias[-1])

    def likelihoods(self) -> FloatArray:
        """P of each answer by every model and style, (t, m, s)."""
        said = self.chances[..., np.arange(len(self.observed)), self.observed.answers]
        guesses = self.styles.guess_rates
        by_style = said[self.styles.which].transpose(2, 1, 0)
        return np.asarray(guesses / self.observed.k + (1 - guesses) * by_style)

    def mean(self, weights: FloatArray, chances: FloatArray) -> FloatArray:
        """Σ weight · P, (e, k), for weights (m, s) or (m, s, e) and chances (f, m, e, k)."""
        guesses, total = self.styles.guess_rates, np.zeros(chances.shape[2:])
        weights = weights if weights.ndim == 3 else weights[:, :, None]
        for place, own in enumerate(chances):
            has_it = self.styles.which == place
            share = np.einsum("mse,s->me", weights[:, has_it], 1 - guesses[has_it])
            total += np.einsum("me,mek->ek", np.broadcast_to(share, own.shape[:2]), own)
        return np.asarray(
            total + np.einsum("mse,s->e", weights, guesses)[:, None] / self.observed.k
        )

    def each_alone(self) -> FloatArray:
        """P of all classes before each answer by every single model with its styles mixed, (m, t, k)."""
        prior = np.tile(self.styles.prior, (self.shape[0], 1))
        weights = posterior(prior, self.likelihoods())
        guesses = self.styles.guess_rates[:, None, None, None]
        chances = guesses / self.observed.k + (1 - guesses) * self.chances[self.styles.which]
        return np.asarray(np.einsum("mst,smtk->mtk", weights[..., :-1], chances))


@dataclass(frozen=True)
class Mixture:
    """All members after a history; `weights` (M, t+1) before each answer and now, family by family."""

    observed: Observations
    members: tuple[Member, ...]
    weights: FloatArray

    @classmethod
    def fit(cls, observed: Observations, families: Sequence[Family]) -> Mixture:
        members = (Member(family, family.predict(observed), observed) for family in families)
        return cls.of_members(observed, tuple(members))

    @classmethod
    def of_members(cls, observed: Observations, members: tuple[Member, ...]) -> Mixture:
        prior = np.concatenate(
            [
                np.outer(
                    member.family.weight * member.predictions.prior, member.styles.prior
                ).ravel()
                for member in members
            ]
        )
        likelihoods = np.concatenate(
            [
                member.likelihoods().reshape(len(observed), math.prod(member.shape))
                for member in members
            ],
            axis=1,
        )
        weights = posterior(prior / prior.sum(), likelihoods)
        return cls(observed, members, weights)

    @cached_property
    def parts(self) -> list[FloatArray]:
        """The weights by family, (m, s, t+1) each."""
        ends = accumulate((m * s for m, s in (member.shape for member in self.members)), initial=0)
        return [
            self.weights[first:last].reshape(*member.shape, -1)
            for member, (first, last) in zip(self.members, pairwise(ends), strict=True)
        ]

    def predicted_answers(self) -> FloatArray:
        """P of all classes before each answer, (t, k)."""
        parts = zip(self.members, self.parts, strict=True)
        return np.asarray(
            sum(member.mean(part[:, :, :-1], member.chances) for member, part in parts)
        )

    def only(self, name: str) -> Mixture:
        """The same history with one family."""
        chosen = tuple(member for member in self.members if member.family.name == name)
        return self.of_members(self.observed, chosen)

    @cached_property
    def model_weights(self) -> list[FloatArray]:
        """The posterior of the models now, by family, (m,) each."""
        return [part[:, :, -1].sum(axis=1) for part in self.parts]

    def family_weights(self) -> dict[str, float]:
        """The posterior of the families now."""
        totals = zip(self.members, self.model_weights, strict=True)
        return {member.family.name: float(total.sum()) for member, total in totals}

    # Predictions of examples of the pool

    def predict(self, examples: Examples) -> FloatArray:
        """P of all classes for some examples, (e, k), if each were shown next."""
        places = np.arange(self.observed.pool.n)[examples]
        batches = [places[start : start + BATCH] for start in range(0, places.size, BATCH)]
        return np.concatenate([self._predict(batch) for batch in batches])

    def _predict(self, examples: IntArray) -> FloatArray:
        total = np.zeros((examples.size, self.observed.k))
        for member, part in zip(self.members, self.parts, strict=True):
            total += member.mean(part[:, :, -1], member.chances_at(examples))
        return total

    def interval(self, examples: IntArray) -> tuple[FloatArray, FloatArray]:
        """The 90 % interval of P between the members, (e, k) each."""
        k, mean = self.observed.k, self._predict(examples)
        square = np.zeros(mean.shape)
        for member, part in zip(self.members, self.parts, strict=True):
            chances, styles = member.chances_at(examples), member.styles
            weights = part[:, :, -1].T
            for g, which, own in zip(styles.guess_rates, styles.which, weights, strict=True):
                square += np.tensordot(own, (g / k + (1 - g) * chances[which]) ** 2, 1)
        reach = NINETY_PERCENT * np.sqrt(np.maximum(square - mean**2, 0.0))
        return np.maximum(mean - reach, 0.0), np.minimum(mean + reach, 1.0)

    # The choice of the next example

    def expected_gains(self) -> FloatArray:
        """The expected rise of the agreement with the labels for each example, if it is shown next, (n,)."""
        total, counted = np.zeros(self.observed.pool.n), 0.0
        for place, models in self.leading():
            member, weights = self.members[place], self.parts[place][:, :, -1]
            share = float(weights.sum()) * member.family.choice_weight
            counted += share
            gains = member.predictions.gains(models)
            if gains is not None:
                own = weights[models]
                total += share / own.sum() * (own @ (1 - member.styles.guess_rates)) @ gains
        return total / counted

    def leading(self) -> list[tuple[int, IntArray]]:
        """The families that count in gains, by index, with the models that stand for each."""
        held = np.array([total.sum() for total in self.model_weights])
        ascending = np.argsort(held, kind="stable")
        kept = np.sort(ascending[np.cumsum(held[ascending]) > MAX_LEFT_OUT]).tolist()
        return list(zip(kept, likeliest([self.model_weights[i] for i in kept]), strict=True))


def likeliest(weights: Sequence[FloatArray], count: int = MAX_MODELS) -> list[IntArray]:
    """The likeliest model of each family, and then of all; the first of models that are equal but for rounding."""
    ends = [*accumulate(own.size for own in weights)]
    ranks = np.concatenate(weights).round(EQUAL_DIGITS)
    for own, end in zip(weights, ends, strict=True):
        family = ranks[end - own.size : end]
        # Above every weight, so the best of each family comes first.
        family[family.argmax()] += 1
    is_chosen = np.zeros(ranks.size, dtype=bool)
    is_chosen[np.argsort(-ranks, kind="stable")[: max(count, len(weights))]] = True
    return [
        is_chosen[end - own.size : end].nonzero()[0] for own, end in zip(weights, ends, strict=True)
    ]


def posterior(prior: FloatArray, likelihoods: FloatArray) -> FloatArray:
    """Weights before each answer and after the last, (…, M, t+1), for a prior (…, M) and likelihoods (t, …, M)."""
    weights = np.empty((len(likelihoods) + 1, *prior.shape))
    weights[0] = prior
    for step, likelihood in enumerate(likelihoods):
        now = weights[step] * likelihood
        now /= now.sum(axis=-1, keepdims=True)
        weights[step + 1] = (1 - CHANGE) * now + CHANGE * prior
    return weights.transpose(*range(1, weights.ndim), 0)
