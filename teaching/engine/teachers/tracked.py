"""Tracked: shows what should bring answers nearest to the labels, whichever kind of learner it is."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from ..arrays import FloatArray
from ..bank import FAMILIES, Family, Seen
from ..bank.concept import FollowedConcepts
from ..bank.mixture import Mixture
from ..bank.outlook import Outlook
from ..classes import folded
from ..history import Past, Shown
from ..pool import Pool
from .base import Explanation, Fact, Interval, Judgement, Teacher

TITLES = {family.name: family.title for family in FAMILIES}


@dataclass(frozen=True, kw_only=True)
class TrackedExplanation(Explanation):
    """Which learner the teacher thinks it has, beside the one that the study assumes.

    `outlook` says between which limits P lies nine times out of ten. `families` are the probabilities of the
    kinds of learners by name; `learner_rate` (η₀) and `learner_beta` are what the answers point to if
    the learner is of the paper's kind.
    """

    outlook: Outlook = field(repr=False)
    families: dict[str, float]
    learner_rate: float
    assumed_rate: float
    learner_beta: float
    assumed_beta: float

    @cached_property
    def leading(self) -> str:
        """The name of the likeliest kind of learner."""
        return max(self.families, key=self.families.__getitem__)

    def facts(self) -> list[Fact]:
        """What the answers point to."""
        ranked = sorted(self.families.items(), key=lambda item: -item[1])
        kinds = [(f"the worker {TITLES.get(name, name)}", _percent(p)) for name, p in ranked[:3]]
        return [
            *kinds,
            ("learning rate η₀ inferred from the answers", f"{self.learner_rate:.3f}"),
            ("learning rate of the study", f"{self.assumed_rate:.3f}"),
            ("memory decay β inferred from the answers", f"{self.learner_beta:.3f}"),
            ("memory decay β that was assumed", f"{self.assumed_beta:.3f}"),
        ]

    def interval(self, example: int, of: int = 1) -> Interval:
        """Between which limits P(class `of`) of an example lies nine times out of ten."""
        low, high = self.outlook.interval
        return float(low[example, of]), float(high[example, of])


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
        "that should lower the worker's errors most."
    )

    families: tuple[Family, ...] = FAMILIES

    def default_window(self) -> int:
        """JEDI's: twice the number of examples that the learner remembers."""
        return int(2 / (1 - self.beta) + 0.5)

    def mixture(self, pool: Pool, history: Sequence[Shown]) -> Mixture:
        """Everything that a history tells about the learner."""
        return self._follow(pool, Past.read(history, pool))

    def predicted_answers(self, pool: Pool, history: Sequence[Shown]) -> FloatArray:
        """P(class 1) before each answer of a history (t−1,), (t−1, k) of more than two classes.

        It does not matter which teacher chose the examples.
        """
        return folded(self.mixture(pool, history).expected())

    def predict(self, pool: Pool, history: Sequence[Shown]) -> FloatArray:
        """P(class 1) of every example after a history, (n,), or (n, k) of more than two classes."""
        return self.estimate(pool, Past.read(history, pool))

    def probabilities(self, pool: Pool, past: Past) -> FloatArray:
        """P over all models, guesses included, (n, k)."""
        return Outlook.of(self._follow(pool, past)).probabilities

    def judge(self, pool: Pool, past: Past) -> Judgement:
        """Score every example by what it is expected to change."""
        mixture = self._follow(pool, past)
        outlook = Outlook.of(mixture)
        explanation = self._explain(mixture, outlook)
        return Judgement(outlook.probabilities, -outlook.gains, explanation=explanation)

    def judge_cold(self, pool: Pool, past: Past) -> Judgement:
        """The same belief, without a rule."""
        return replace(self.judge(pool, past), scores=np.zeros(pool.n))

    def _follow(self, pool: Pool, past: Past) -> Mixture:
        seen = Seen.of(pool, past, self.beta, self.learning_rate)
        return Mixture.follow(seen, self.families)

    def _explain(self, mixture: Mixture, outlook: Outlook) -> TrackedExplanation:
        rate, beta = self.inferred(mixture)
        families = mixture.family_weights()
        leading = max(families, key=families.__getitem__)
        return TrackedExplanation(
            text=_words(leading, families[leading]),
            score_name="expected change of the disagreement with the labels",
            outlook=outlook,
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


def _words(leading: str, probability: float) -> str:
    return (
        f"The answers so far fit best a worker who {TITLES.get(leading, leading)} ({_percent(probability)}). "
        "Each kind of learner counts by how probable it is: shown is the image after which what the worker believes of "
        "all images should agree best with the labels."
    )


def _percent(probability: float) -> str:
    return f"{100 * probability:.0f}\N{NO-BREAK SPACE}%"
