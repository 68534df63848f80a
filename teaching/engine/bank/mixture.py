"""Which learner it is, by the evidence of the answers.

Each member of the mixture is a model of a family with a style of answering. Its weight is multiplied by the chance
that it gave to each answer; and since people change, a small share of all weight goes back to what was
assumed at first after each answer (the fixed share of Herbster and Warmuth), so nobody is ruled out for good.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate, pairwise

import numpy as np

from ..arrays import FloatArray, IntArray
from .base import Family, Followed, Seen, StyleArrays, softmax

# The share of weight that returns to the prior after each answer.
CHANGE = 0.01
# The least probable families that hold no more than this together are left out of beliefs about the pool. Of the others
# the likeliest models stand for all, one of each family at least and so many together: what a large pool costs then
# does not depend on how many kinds of learners the answers leave possible.
RULED_OUT = 0.1
MOST_MODELS = 8
# Weights are equal if they are so in these digits. None is much below a hundredth of what was assumed at first.
EQUAL_DIGITS = 12


@dataclass(frozen=True)
class Member:
    """What one family believes: its models, each in every style."""

    family: Family
    followed: Followed
    seen: Seen

    @property
    def styles(self) -> StyleArrays:
        return self.family.style_arrays()

    @property
    def shape(self) -> tuple[int, int]:
        """How many models, and how many styles."""
        return len(self.followed.logits), self.styles.guesses.size

    def chances(self) -> FloatArray:
        """P of all classes before each answer, at each firmness, guesses left out; (f, m, t, k)."""
        lean = self.seen.leaning[:-1] if self.family.leans else 0.0
        return softmax(self.styles.firmness[:, None, None, None] * self.followed.logits + lean)

    def expected(self, weights: FloatArray, k: int) -> FloatArray:
        """Σ weight·P before each answer, (t, k), for weights (m, s, t)."""
        guesses, which = self.styles.guesses, self.styles.which
        total = np.repeat(np.einsum("mst,s->t", weights, guesses)[:, None] / k, k, axis=1)
        for place, chances in enumerate(self.chances()):
            share = np.einsum("mst,s->mt", weights[:, which == place], 1 - guesses[which == place])
            total += np.einsum("mt,mtk->tk", share, chances)
        return total

    def each_alone(self) -> FloatArray:
        """P of all classes before each answer by every single model with its styles mixed, (m, t, k)."""
        guesses = self.styles.guesses[:, None, None, None]
        chances = guesses / self.seen.k + (1 - guesses) * self.chances()[self.styles.which]
        said = chances[:, :, np.arange(len(self.seen)), self.seen.answers]
        first = np.tile(self.styles.shares, (self.shape[0], 1))
        weights = weighed(first, said.transpose(2, 1, 0))
        return np.asarray(np.einsum("mst,smtk->mtk", weights[..., :-1], chances))


@dataclass(frozen=True)
class Layout:
    """Where everything stands when all families are one: of r rows, each a model at a firmness, the model, the
    firmness and whether it leans; of M members, each a model in a style, the model, the row, the guessing and the
    first weight, but for the share of the model in its family. `ends` count the models up to the end of each
    family.
    """

    models: IntArray
    firmness: FloatArray
    leans: FloatArray
    owners: IntArray
    rows: IntArray
    guesses: FloatArray
    weights: FloatArray
    ends: IntArray

    @cached_property
    def families(self) -> list[slice]:
        """The models of each family."""
        ends = self.ends.tolist()
        return [slice(first, last) for first, last in pairwise([0, *ends])]

    @cached_property
    def members(self) -> list[slice]:
        """The members of each family."""
        ends = np.searchsorted(self.owners, self.ends).tolist()
        return [slice(first, last) for first, last in pairwise([0, *ends])]

    @cached_property
    def starts(self) -> IntArray:
        """The first model of each family."""
        return np.array([own.start for own in self.families])

    @classmethod
    def of_members(cls, members: Sequence[Member]) -> Layout:
        return cls.of(tuple(m.family for m in members), tuple(m.shape[0] for m in members))

    @classmethod
    @cache
    def of(cls, families: tuple[Family, ...], counts: tuple[int, ...]) -> Layout:
        """For so many models of each family."""
        parts, models, rows = [], 0, 0
        for family, count in zip(families, counts, strict=True):
            parts.append(cls._part(family, models + np.arange(count), rows))
            models, rows = models + count, rows + parts[-1][0].size
        columns = [np.concatenate(each) for each in zip(*parts, strict=True)]
        return cls(*[*columns, np.cumsum(counts)])

    @staticmethod
    def _part(
        family: Family, models: IntArray, first_row: int
    ) -> tuple[FloatArray | IntArray, ...]:
        styles = family.style_arrays()
        rows = first_row + np.arange(models.size * styles.firmness.size)
        at = rows.reshape(models.size, -1)[:, styles.which]
        return (
            np.repeat(models, styles.firmness.size),
            np.tile(styles.firmness, models.size),
            np.full(rows.size, float(family.leans)),
            np.repeat(models, styles.which.size),
            at.ravel(),
            np.tile(styles.guesses, models.size),
            np.tile(family.weight * styles.shares, models.size),
        )


@dataclass(frozen=True)
class Mixture:
    """All members after a history; `weights` (M, t+1) before each answer and now, adding up to one."""

    seen: Seen
    members: tuple[Member, ...]
    weights: FloatArray

    @classmethod
    def follow(cls, seen: Seen, families: Sequence[Family]) -> Mixture:
        members = (Member(family, family.follow(seen), seen) for family in families)
        return cls.of_members(seen, tuple(members))

    @classmethod
    def of_members(cls, seen: Seen, members: tuple[Member, ...]) -> Mixture:
        layout = Layout.of_members(members)
        shares = np.concatenate([member.followed.first_shares for member in members])
        first = layout.weights * shares[layout.owners]
        logits = [member.followed.logits for member in members]
        return cls(seen, members, weighed(first / first.sum(), likelihoods(seen, logits, layout)))

    @cached_property
    def layout(self) -> Layout:
        return Layout.of_members(self.members)

    @cached_property
    def parts(self) -> list[FloatArray]:
        """The weights of each family, (m, s, t+1)."""
        own = zip(self.members, self.layout.members, strict=True)
        return [self.weights[some].reshape(*member.shape, -1) for member, some in own]

    def now(self, place: int) -> FloatArray:
        """The weights of a family now, (m, s)."""
        return self.weights[self.layout.members[place], -1].reshape(self.members[place].shape)

    def expected(self) -> FloatArray:
        """P of all classes before each answer, (t, k)."""
        k = self.seen.k
        parts = zip(self.members, self.parts, strict=True)
        return np.asarray(sum(m.expected(part[:, :, :-1], k) for m, part in parts))

    def alone(self, name: str) -> Mixture:
        """The same history with one family only."""
        chosen = tuple(member for member in self.members if member.family.name == name)
        return self.of_members(self.seen, chosen)

    @cached_property
    def totals(self) -> list[FloatArray]:
        """The weight of each model now, by family, (m,) each."""
        return [self._by_model[own] for own in self.layout.families]

    @cached_property
    def held(self) -> FloatArray:
        """The weight of each family now."""
        return np.add.reduceat(self._by_model, self.layout.starts)

    @cached_property
    def _by_model(self) -> FloatArray:
        """The weight of each model now, those of all families in a row."""
        return np.asarray(np.bincount(self.layout.owners, self.weights[:, -1]), dtype=np.float64)

    def family_weights(self) -> dict[str, float]:
        """How probable each family is now."""
        held = zip(self.members, self.held.tolist(), strict=True)
        return {member.family.name: total for member, total in held}

    def leading(self) -> list[tuple[int, IntArray]]:
        """The places of the families that are not ruled out, with the models that stand for each."""
        held = self.held
        rising = np.argsort(held, kind="stable")
        kept = np.sort(rising[np.cumsum(held[rising]) > RULED_OUT])
        return list(
            zip(kept.tolist(), likeliest([self.totals[place] for place in kept]), strict=True)
        )


def likeliest(totals: Sequence[FloatArray], most: int = MOST_MODELS) -> list[IntArray]:
    """Of models with these weights, by family: the likeliest of each family, and then those of them all.

    Of models that are equally likely but for rounding, which differs between machines, the first.
    """
    ends = [*accumulate(total.size for total in totals)]
    ranks = np.concatenate(totals).round(EQUAL_DIGITS)
    for total, end in zip(totals, ends, strict=True):
        own = ranks[end - total.size : end]
        # No weight is above one, so that the first of each family comes before all others.
        own[own.argmax()] += 1
    is_chosen = np.zeros(ranks.size, dtype=bool)
    is_chosen[np.argsort(-ranks, kind="stable")[: max(most, len(totals))]] = True
    return [
        is_chosen[end - one.size : end].nonzero()[0] for one, end in zip(totals, ends, strict=True)
    ]


def likelihoods(seen: Seen, logits: Sequence[FloatArray], layout: Layout) -> FloatArray:
    """The chance of each answer by every member, (t, M), from the logits of the models of each family, (m, t, k)."""
    steps, answers, k = np.arange(len(seen)), seen.answers, seen.k
    others = (answers + np.arange(1, k)[:, None]) % k
    # P(said) = 1/(1 + Σ_c exp(z_c − z_said)): where exp is infinite, nothing but a guess explains the answer.
    now = np.concatenate([*logits, seen.leaning[None, :-1]]).transpose(1, 2, 0)
    short = now[steps, others] - now[steps, answers]
    # No model or row is outside; to look at that takes longer than to take what is there.
    ratios = np.take(short, layout.models, axis=2, mode="clip")
    ratios *= layout.firmness
    ratios += short[:, :, -1:] * layout.leans
    with np.errstate(over="ignore"):
        said = np.exp(ratios, out=ratios).sum(axis=0)
    said += 1
    np.divide(1.0, said, out=said)
    chances = np.take(said, layout.rows, axis=1, mode="clip")
    chances *= 1 - layout.guesses
    chances += layout.guesses / k
    return chances


def weighed(first: FloatArray, likelihoods: FloatArray) -> FloatArray:
    """Weights before each answer and after the last, (…, M, t+1), from the first (…, M) and likelihoods (t, …, M)."""
    weights = np.empty((len(likelihoods) + 1, *first.shape))
    weights[0] = first
    kept, back = (1 - CHANGE) * likelihoods, CHANGE * first
    total = np.empty(first.shape[:-1])
    by = total[..., None]
    for before, chances, stay, now in zip(weights, likelihoods, kept, weights[1:], strict=False):
        np.multiply(before, stay, out=now)
        np.vecdot(before, chances, out=total)
        now /= by
        now += back
    return weights.transpose(*range(1, weights.ndim), 0)
