"""Tracked: weighs models of how the learner learns, and shows what should bring the answers nearest to the labels."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from ..arrays import FloatArray
from ..bank import FAMILIES, TITLES, Family, Observations
from ..bank.concept import ConceptPredictions
from ..bank.mixture import Mixture
from ..classes import folded
from ..history import Past, Shown
from ..pool import Pool
from .base import Explanation, Fact, Interval, Judgement, Teacher


@dataclass(frozen=True, kw_only=True)
class TrackedExplanation(Explanation):
    """Which learner the answers point to, beside the one that the study assumes.

    `families` are the posterior probabilities of the kinds of learners by name; `learner_rate` (η₀) and `learner_beta`
    are the posterior means for a learner of the paper's kind.
    """

    mixture: Mixture = field(repr=False)
    families: dict[str, float]
    learner_rate: float
    assumed_rate: float
    learner_beta: float
    assumed_beta: float

    @cached_property
    def leading(self) -> str:
        """The name of the most probable kind of learner."""
        return max(self.families, key=self.families.__getitem__)

    def advantage(self, score: float) -> str:
        """The best image lowers the disagreement most, or raises it least where none lowers it."""
        change = "largest expected decrease" if score < 0 else "smallest expected increase"
        return f"the {change} of the disagreement with the labels"

    def facts(self) -> list[Fact]:
        """What was inferred from the answers, and what was assumed."""
        # Without β: the mean over the few values in the bank says less than the fit of the whole session, which the
        # participant's page shows.
        inferred = ("learning rate η₀ inferred from the answers", f"{self.learner_rate:.3f}")
        return [
            *_kinds(self.families),
            *([inferred] if len(self.mixture.observed) else []),
            ("learning rate η₀ that was assumed", f"{self.assumed_rate:.3f}"),
            ("memory decay β that was assumed", f"{self.assumed_beta:.3f}"),
        ]

    def interval(self, example: int, of: int = 1) -> Interval:
        """The 90 % interval of P(class `of`) of an example."""
        [low], [high] = self.mixture.interval(np.array([example]))
        return float(low[of]), float(high[of])


@dataclass(frozen=True, kw_only=True)
class Tracked(Teacher):
    """Runs a bank of learner models, and shows what helps most in expectation over them.

    The models are weighed by their likelihood of the answers. The score of an example is minus the expected rise of the
    agreement between the learner and the labels of the pool after it is shown, one step ahead.
    """

    name: ClassVar[str] = "tracked"
    title: ClassVar[str] = "Tracked"
    description: ClassVar[str] = (
        "Finds out from the answers how the worker learns, with models that were tested on people, and shows the image "
        "after which the worker should agree best with the labels."
    )
    # 2: six families of learners instead of ten.
    version: ClassVar[int] = 2

    families: tuple[Family, ...] = FAMILIES

    def default_window(self) -> int:
        """JEDI's: twice the number of examples that the learner remembers."""
        return int(2 / (1 - self.beta) + 0.5)

    def mixture(self, pool: Pool, history: Sequence[Shown]) -> Mixture:
        """The mixture of all models after a history, whichever teacher chose the examples."""
        return self._fit(pool, Past.read(history, pool))

    def predicted_answers(self, pool: Pool, history: Sequence[Shown]) -> FloatArray:
        """P(class 1) before each of the t answers of a history, (t,), or (t, k) of more than two classes."""
        return folded(self.mixture(pool, history).predicted_answers())

    def predict(self, pool: Pool, history: Sequence[Shown]) -> FloatArray:
        """P(class 1) of every example after a history, (n,), or (n, k) of more than two classes."""
        return self.estimate(pool, Past.read(history, pool))

    def probabilities(self, pool: Pool, past: Past) -> FloatArray:
        """P over all models, guesses included, (n, k)."""
        return self._fit(pool, past).predict(slice(None))

    def judge(self, pool: Pool, past: Past) -> Judgement:
        """Score every example by the expected change of the disagreement."""
        mixture = self._fit(pool, past)
        return self._judged(mixture, -mixture.expected_gains())

    def judge_cold(self, pool: Pool, past: Past) -> Judgement:
        return self._judged(self._fit(pool, past), np.zeros(pool.n))

    def _judged(self, mixture: Mixture, scores: FloatArray) -> Judgement:
        # The estimate of the whole pool is not computed before it is asked for: a choice needs one example.
        return Judgement(mixture.predict, scores, explanation=self._explain(mixture))

    def _fit(self, pool: Pool, past: Past) -> Mixture:
        observed = Observations.of(pool, past, self.beta, self.learning_rate)
        return Mixture.fit(observed, self.families)

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
        """The posterior means of η₀ and β for a learner of the paper's kind, whatever the other families say."""
        for member, weights in zip(mixture.members, mixture.model_weights, strict=True):
            if isinstance(member.predictions, ConceptPredictions):
                return member.predictions.inferred(weights)
        return self.learning_rate.initial, self.beta


def _words(probabilities: dict[str, float], families: Sequence[Family]) -> str:
    return (
        f"{_likeliest(probabilities)} {_weighing(families)} Shown is the image after which what the worker believes of "
        "all images should agree best with the labels."
    )


def _likeliest(probabilities: dict[str, float]) -> str:
    """All kinds whose rounded probabilities are the largest."""
    [(kind, share), *others] = _kinds(probabilities)
    equals = [kind, *(other for other, same in others if same == share)]
    if len(equals) == 1:
        return f"By the answers so far it is likeliest that {kind} ({share})."
    return f"By the answers so far it is about equally likely that {' or that '.join(equals)} ({share} each)."


def _weighing(families: Sequence[Family]) -> str:
    """The weight of each kind of learner in a choice."""
    rule = "Each kind of learner counts by how probable it is"
    favoured = [
        f"{family.choice_weight:g} times that for a worker who {family.title}"
        for family in families
        if family.choice_weight != 1
    ]
    return f"{', and '.join([rule, *favoured])}."


def _kinds(probabilities: dict[str, float]) -> list[Fact]:
    """The kinds of learners that do not round to 0 %, the most probable first."""
    ranked = sorted(probabilities.items(), key=lambda item: -item[1])
    kinds = [(f"the worker {TITLES.get(name, name)}", _percent(p)) for name, p in ranked]
    return [(kind, share) for kind, share in kinds if share != _percent(0)]


def _percent(probability: float) -> str:
    return f"{100 * probability:.0f}\N{NO-BREAK SPACE}%"
