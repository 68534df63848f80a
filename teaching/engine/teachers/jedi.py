"""JEDI with the harmonic estimate (Algorithm 2 of the paper)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..arrays import FloatArray
from ..history import Past
from ..learners.paper import error_probability
from ..pool import Pool
from .base import Judgement, Teacher


@dataclass(frozen=True, kw_only=True)
class JEDI(Teacher):
    """Weighs the diversity of the teaching sequence against the usefulness of the next example.

    For a candidate (x, y) with estimated error probability f, smaller is better:

        η² (f²‖x‖² − 2β y f xᵀv̂) − 2η (log 1/(1−f) − log(1 + exp(−y w*ᵀx)))
        ── diversity (T₁) ──────   ── usefulness (T₂), bounded by convexity ──
    """

    name: ClassVar[str] = "jedi"
    title: ClassVar[str] = "JEDI"
    description: ClassVar[str] = (
        "Weighs how varied the images are against how useful the next one is, given how fast the worker forgets "
        "(β of the memory test)."
    )
    is_reference: ClassVar[bool] = True
    length_follows_memory: ClassVar[bool] = True

    def memory(self) -> float:
        """The β that the rule uses."""
        return self.beta

    def default_window(self) -> int:
        """W = ⌊2/(1−β) + ½⌋: twice the number of examples that the learner remembers."""
        return int(2 / (1 - self.memory()) + 0.5)

    def judge(self, pool: Pool, past: Past) -> Judgement:
        """Score every example by the relaxed objective of Algorithm 2."""
        eta, beta = self.learning_rate(len(past) + 1), self.memory()
        p = self.estimate(pool, past)
        f = error_probability(p, pool.labels)
        diversity = eta**2 * f**2 * pool.squared_norms
        if beta:
            along = pool.features @ estimated_momentum(pool, past, beta)
            diversity -= 2 * eta**2 * beta * pool.labels * f * along
        learner_losses = -np.log1p(-f)
        usefulness = 2 * eta * (learner_losses - pool.target_losses)
        return Judgement(p, diversity - usefulness, diversity, usefulness)


def estimated_momentum(pool: Pool, past: Past, beta: float) -> FloatArray:
    """v̂ = −Σ_s β^(t−1−s) y_s f_s x_s, shape (d,), in the sign of the gradient.

    f_s comes from the p that was estimated when s was shown, before its answer.
    """
    labels = pool.labels[past.examples]
    age = np.arange(len(past))[::-1]
    weights = beta**age * labels * error_probability(past.p, labels)
    return np.asarray(-(weights @ pool.features[past.examples]))
