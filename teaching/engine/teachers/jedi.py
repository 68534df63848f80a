"""JEDI with the harmonic estimate (Algorithm 2 of the paper)."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from ..arrays import FloatArray
from ..classes import of_class
from ..errors import BadSetting
from ..harmonic import harmonic
from ..history import Past
from ..learners.paper import loss_slopes
from ..pool import Pool
from ..regularised import guess_rate, regularised_harmonic
from .base import Explanation, Fact, Judgement, Teacher

Estimator = Literal["paper", "regularised"]
ESTIMATORS: dict[Estimator, Callable[[Pool, Past], FloatArray]] = {
    "paper": harmonic,
    "regularised": regularised_harmonic,
}


@dataclass(frozen=True, kw_only=True)
class RegularisedExplanation(Explanation):
    """The name of the estimate, and the inferred guess rate."""

    text: str = (
        "What the worker believes comes from the regularised harmonic estimate, not from the paper’s: it accounts for "
        "guesses, for all answers and for the labels that the worker was told."
    )

    guess_rate: float

    def facts(self) -> list[Fact]:
        """What was inferred from the answers."""
        return [
            ("estimate of what the worker believes", "regularised harmonic"),
            (
                "share of guesses inferred from the answers",
                f"{100 * self.guess_rate:.0f}\N{NO-BREAK SPACE}%",
            ),
        ]


@dataclass(frozen=True, kw_only=True)
class JEDI(Teacher):
    """Weighs the diversity of the teaching sequence against the usefulness of the next example.

    For a candidate (x, y) with estimated P and δ = P − e_y, smaller is better:

        η² (½‖δ‖²‖x‖² + β δᵀV̂x) − 2η (log 1/P_y − log 1/P*_y)
        ── diversity (T₁) ──────   ── usefulness (T₂), bounded by convexity ──

    With two classes δ = ∓f and V̂ = (−v̂, v̂): η² (f²‖x‖² − 2β y f xᵀv̂) − 2η (…), as in the paper.
    """

    name: ClassVar[str] = "jedi"
    title: ClassVar[str] = "JEDI"
    description: ClassVar[str] = (
        "Weighs how varied the images are against how useful the next one is, given how fast the worker forgets "
        "(the memory decay β)."
    )
    is_reference: ClassVar[bool] = True
    length_follows_memory: ClassVar[bool] = True

    estimator: Estimator = "paper"
    """the estimate of P: `harmonic.py`, as in the paper, or `regularised.py`"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.estimator not in ESTIMATORS:
            raise BadSetting(
                f"There is no estimator {self.estimator!r}; choose from {', '.join(ESTIMATORS)}."
            )

    def memory(self) -> float:
        """The β that the rule uses."""
        return self.beta

    def probabilities(self, pool: Pool, past: Past) -> FloatArray:
        """P by the chosen estimator, (n, k)."""
        return ESTIMATORS[self.estimator](pool, past)

    def default_window(self) -> int:
        """W = ⌊2/(1−β) + ½⌋: twice the number of examples that the learner remembers."""
        return int(2 / (1 - self.memory()) + 0.5)

    def judge(self, pool: Pool, past: Past) -> Judgement:
        """Score every example by the relaxed objective of Algorithm 2."""
        eta, beta = self.learning_rate(len(past) + 1), self.memory()
        probabilities = self.probabilities(pool, past)
        slopes = loss_slopes(probabilities, pool.labels)
        diversity = eta**2 / 2 * np.vecdot(slopes, slopes) * pool.squared_norms
        if beta:
            momentum = estimated_momentum(pool, past, beta)
            diversity += eta**2 * beta * weighted_products(pool, slopes, momentum)
        learner_losses = -np.log1p(of_class(slopes, pool.labels))
        usefulness = 2 * eta * (learner_losses - pool.target_losses)
        return Judgement(
            probabilities,
            diversity - usefulness,
            diversity,
            usefulness,
            explanation=self._explain(past),
        )

    def judge_cold(self, pool: Pool, past: Past) -> Judgement:
        """The same estimate, without a rule."""
        return replace(super().judge_cold(pool, past), explanation=self._explain(past))

    def _explain(self, past: Past) -> Explanation:
        if self.estimator == "paper":
            return Explanation()
        return RegularisedExplanation(guess_rate=guess_rate(past))


def estimated_momentum(pool: Pool, past: Past, beta: float) -> FloatArray:
    """V̂ = Σ_s β^(t−1−s) δ_s x_sᵀ, shape (k, d), in the sign of the gradient.

    δ_s comes from the P that was estimated when s was shown, before its answer.
    """
    age = np.arange(len(past))[::-1]
    slopes = loss_slopes(past.probabilities, pool.labels[past.examples])
    return np.asarray((slopes * beta ** age[:, None]).T @ pool.features[past.examples])


def weighted_products(pool: Pool, slopes: FloatArray, matrix: FloatArray) -> FloatArray:
    """δᵀMx of every example, shape (n,), for slopes δ (n, k) that add up to 0 and M (k, d)."""
    # So the rows of M count by their differences only, of which there are k−1.
    products = pool.features @ (matrix[1:] - matrix[0]).T
    return np.asarray(np.vecdot(slopes[:, 1:], products))
