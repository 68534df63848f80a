"""Tracked: shows what should bring answers nearest to the labels, whichever kind of learner it is."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import ClassVar

import numpy as np

from ..arrays import FloatArray
from ..bank import FAMILIES, Family, Seen
from ..bank.concept import FollowedConcepts
from ..bank.expected import Expected, expected_answers
from ..bank.lessons import expected_gains
from ..bank.mixture import Mixture
from ..classes import folded
from ..history import Past, Shown
from ..pool import Pool
from .base import Explanation, Fact, Interval, Judgement, Teacher

TITLES = {family.name: family.title for family in FAMILIES}


@dataclass(frozen=True, kw_only=True)
class TrackedExplanation(Explanation):
    """Which learner the teacher thinks it has, beside the one that the study assumes.

    `mixture` is all that the answers say. `families` are the probabilities of the kinds of learners by name;
    `learner_rate` (η₀) and `learner_beta` are what the answers point to if
    the learner is of the paper's kind.
    """

    mixture: Mixture = field(repr=False)
    families: dict[str, float]
    learner_rate: float
    assumed_rate: float
    learner_beta: float
    assumed_beta: float

    @cached_property
    def leading(self) -> str:
        """The name of the likeliest kind of learner."""
        return max(self.families, key=self.families.__getitem__)

    def advantage(self, score: float) -> str:
        """The best image lowers the disagreement most, or raises it least where none lowers it."""
        change = "largest expected decrease" if score < 0 else "smallest expected increase"
        return f"the {change} of the disagreement with the labels"

    def facts(self) -> list[Fact]:
        """What the answers point to, and what was assumed."""
        # No β of the answers: the mean of the few β that the models have says less than the fit of the whole session,
        # which the participant's page shows.
        inferred = ("learning rate η₀ inferred from the answers", f"{self.learner_rate:.3f}")
        return [
            *_kinds(self.families),
            *([inferred] if len(self.mixture.seen) else []),
            ("learning rate η₀ that was assumed", f"{self.assumed_rate:.3f}"),
            ("memory decay β that was assumed", f"{self.assumed_beta:.3f}"),
        ]

    def interval(self, example: int, of: int = 1) -> Interval:
        """Between which limits P(class `of`) of an example lies nine times out of ten."""
        [low], [high] = Expected.of(self.mixture, np.array([example])).interval
        return float(low[of]), float(high[of])


@dataclass(frozen=True, kw_only=True)
class Tracked(Teacher):
    """Follows a bank of learner models through the answers, and shows what helps most over all of them.

    The models are weighed by how well each predicted the answers. The score of an example is minus the expected
    rise of the agreement between the learner and the labels of the pool after it is shown, one step ahead.
    """

    name: ClassVar[str] = "tracked"
    title: ClassVar[str] = "Tracked"
    description: ClassVar[str] = (
        "Finds out from the answers how the worker learns, with models that were tested on people, and shows the image "
        "after which the worker should agree best with the labels."
    )

    families: tuple[Family, ...] = FAMILIES

    def default_window(self) -> int:
        """JEDI's: twice the number of examples that the learner remembers."""
        return int(2 / (1 - self.beta) + 0.5)

    def mixture(self, pool: Pool, history: Sequence[Shown]) -> Mixture:
        """Everything that a history tells about the learner."""
        return self._follow(pool, Past.read(history, pool))

    def predicted_answers(self, pool: Pool, history: Sequence[Shown]) -> FloatArray:
        """P(class 1) before each of the t answers of a history, (t,), or (t, k) of more than two classes.

        It does not matter which teacher chose the examples.
        """
        return folded(self.mixture(pool, history).expected())

    def predict(self, pool: Pool, history: Sequence[Shown]) -> FloatArray:
        """P(class 1) of every example after a history, (n,), or (n, k) of more than two classes."""
        return self.estimate(pool, Past.read(history, pool))

    def probabilities(self, pool: Pool, past: Past) -> FloatArray:
        """P over all models, guesses included, (n, k)."""
        return expected_answers(self._follow(pool, past), slice(None))

    def judge(self, pool: Pool, past: Past) -> Judgement:
        """Score every example by what it is expected to change."""
        mixture = self._follow(pool, past)
        return self._judged(mixture, -expected_gains(mixture))

    def judge_cold(self, pool: Pool, past: Past) -> Judgement:
        """The same belief, without a rule."""
        return self._judged(self._follow(pool, past), np.zeros(pool.n))

    def _judged(self, mixture: Mixture, scores: FloatArray) -> Judgement:
        estimate = partial(expected_answers, mixture)
        return Judgement(estimate, scores, explanation=self._explain(mixture))

    def _follow(self, pool: Pool, past: Past) -> Mixture:
        seen = Seen.of(pool, past, self.beta, self.learning_rate)
        return Mixture.follow(seen, self.families)

    def _explain(self, mixture: Mixture) -> TrackedExplanation:
        rate, beta = self.inferred(mixture)
        families = mixture.family_weights()
        return TrackedExplanation(
            text=_words(families, self.families),
            score_name="expected change of the disagreement with the labels",
            mixture=mixture,
            families=families,
            learner_rate=rate,
            assumed_rate=self.learning_rate.initial,
            learner_beta=beta,
            assumed_beta=self.beta,
        )

    def inferred(self, mixture: Mixture) -> tuple[float, float]:
        """η₀ and β by the models of the paper's learner, whatever the others say."""
        for member, totals in zip(mixture.members, mixture.totals, strict=True):
            if isinstance(member.followed, FollowedConcepts):
                return member.followed.inferred(totals)
        return self.learning_rate.initial, self.beta


def _words(probabilities: dict[str, float], families: Sequence[Family]) -> str:
    return (
        f"{_likeliest(probabilities)} {_weighing(families)} Shown is the image after which what the worker believes of "
        "all images should agree best with the labels."
    )


def _likeliest(probabilities: dict[str, float]) -> str:
    """Of kinds that are equally probable as far as the page writes it, all."""
    [(kind, share), *others] = _kinds(probabilities)
    equals = [kind, *(other for other, same in others if same == share)]
    if len(equals) == 1:
        return f"By the answers so far it is likeliest that {kind} ({share})."
    return f"By the answers so far it is about equally likely that {' or that '.join(equals)} ({share} each)."


def _weighing(families: Sequence[Family]) -> str:
    """How much each kind of learner counts in a choice."""
    rule = "Each kind of learner counts by how probable it is"
    favoured = [
        f"{family.assumed:g} times that for a worker who {family.title}"
        for family in families
        if family.assumed != 1
    ]
    return f"{', and '.join([rule, *favoured])}."


def _kinds(probabilities: dict[str, float]) -> list[Fact]:
    """The kinds of learners that are not ruled out so far, the likeliest first."""
    ranked = sorted(probabilities.items(), key=lambda item: -item[1])
    kinds = [(f"the worker {TITLES.get(name, name)}", _percent(p)) for name, p in ranked]
    return [(kind, share) for kind, share in kinds if share != _percent(0)]


def _percent(probability: float) -> str:
    return f"{100 * probability:.0f}\N{NO-BREAK SPACE}%"
