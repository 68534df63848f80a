"""Which learner it is, by the evidence of the answers.

Each member of the mixture is a model of a family with a style of answering. Its weight is multiplied by the chance
that it gave to each answer; and since people change, a small share of all weight goes back to what was
assumed at first after each answer (the fixed share of Herbster and Warmuth), so nobody is ruled out for good.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import FloatArray, IntArray
from .base import Family, Followed, Seen, StyleArrays, softmax

# The share of weight that returns to the prior after each answer.
CHANGE = 0.01
# The least probable families that hold no more than this together are left out of beliefs about the pool, and in each
# family all but its likeliest models, which stand for the others.
RULED_OUT = 0.05
MOST_MODELS = 4


@dataclass(frozen=True)
class Member:
    """What one family believes: its models, each in every style."""

    family: Family
    followed: Followed
    styles: StyleArrays
    chances: FloatArray
    """P of all classes before each answer, at each firmness, guesses left out; (f, m, t, k)"""

    @classmethod
    def follow(cls, family: Family, seen: Seen) -> Member:
        followed, styles = family.follow(seen), family.style_arrays()
        lean = seen.leaning[:-1] if family.leans else 0.0
        scaled = styles.firmness[:, None, None, None] * followed.logits
        return cls(family, followed, styles, softmax(scaled + lean))

    @property
    def shape(self) -> tuple[int, int]:
        """How many models, and how many styles."""
        return self.chances.shape[1], self.styles.guesses.size

    def prior(self) -> FloatArray:
        """The weight of every model and style at first, (m·s,), in proportion to other families'."""
        shares = np.outer(self.followed.first_shares, self.styles.shares)
        return np.asarray(self.family.weight * shares.ravel())

    def likelihoods(self, answers: IntArray, k: int) -> FloatArray:
        """The chance of each answer by model and style, one after the other, (m·s, t)."""
        said = np.zeros(self.chances.shape[:-1])
        for c in range(k):
            said[:, :, answers == c] = self.chances[:, :, answers == c, c]
        guesses = self.styles.guesses[:, None]
        chances = guesses / k + (1 - guesses) * said[self.styles.which].swapaxes(0, 1)
        return np.asarray(chances.reshape(math.prod(self.shape), answers.size))

    def expected(self, weights: FloatArray, k: int) -> FloatArray:
        """Σ weight·P before each answer, (t, k), for weights (m, s, t)."""
        guesses, which = self.styles.guesses, self.styles.which
        total = np.repeat(np.einsum("mst,s->t", weights, guesses)[:, None] / k, k, axis=1)
        for place, chances in enumerate(self.chances):
            share = np.einsum("mst,s->mt", weights[:, which == place], 1 - guesses[which == place])
            total += np.einsum("mt,mtk->tk", share, chances)
        return total


@dataclass(frozen=True)
class Mixture:
    """All members after a history; `weights` (M, t+1) before each answer and now, adding up to one."""

    seen: Seen
    members: tuple[Member, ...]
    weights: FloatArray

    @classmethod
    def follow(cls, seen: Seen, families: Sequence[Family]) -> Mixture:
        return cls.of_members(seen, tuple(Member.follow(family, seen) for family in families))

    @classmethod
    def of_members(cls, seen: Seen, members: tuple[Member, ...]) -> Mixture:
        said = np.concatenate([m.likelihoods(seen.answers, seen.k) for m in members])
        first = np.concatenate([member.prior() for member in members])
        return cls(seen, members, weighed(first / first.sum(), said))

    @cached_property
    def parts(self) -> list[FloatArray]:
        """The weights of each family, (m, s, t+1)."""
        ends = np.cumsum([math.prod(member.shape) for member in self.members])
        rows = np.split(self.weights, ends[:-1])
        return [
            part.reshape(*member.shape, -1) for member, part in zip(self.members, rows, strict=True)
        ]

    def expected(self) -> FloatArray:
        """P of all classes before each answer, (t, k)."""
        k = self.seen.k
        parts = zip(self.members, self.parts, strict=True)
        return np.asarray(sum(m.expected(part[:, :, :-1], k) for m, part in parts))

    def alone(self, name: str) -> Mixture:
        """The same history with one family only."""
        chosen = tuple(member for member in self.members if member.family.name == name)
        return self.of_members(self.seen, chosen)

    def family_weights(self) -> dict[str, float]:
        """How probable each family is now."""
        return {
            m.family.name: float(part[:, :, -1].sum())
            for m, part in zip(self.members, self.parts, strict=True)
        }

    def leading(self) -> list[tuple[int, IntArray]]:
        """The places of the families that are not ruled out, with the likeliest models of each."""
        totals = [part[:, :, -1].sum(axis=1) for part in self.parts]
        held = np.array([total.sum() for total in totals])
        rising = np.argsort(held, kind="stable")
        kept = np.sort(rising[np.cumsum(held[rising]) > RULED_OUT])
        return [
            (int(place), np.sort(np.argsort(-totals[place], kind="stable")[:MOST_MODELS]))
            for place in kept
        ]


def weighed(first: FloatArray, likelihoods: FloatArray) -> FloatArray:
    """Weights before each answer and after the last, (M, t+1), from the first (M,) and likelihoods (M, t)."""
    t = likelihoods.shape[1]
    weights = np.empty((t + 1, first.size))
    weights[0] = now = first
    for step, chances in enumerate(np.ascontiguousarray(likelihoods.T)):
        now = now * chances
        now = now * ((1 - CHANGE) / now.sum()) + CHANGE * first
        weights[step + 1] = now
    return weights.T
