"""EER: expected error reduction (Johns et al. 2015)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import linalg

from ..arrays import FloatArray, IntArray
from ..errors import PoolTooLarge
from ..harmonic import per_component
from ..history import Past
from ..pool import INVERSE_LIMIT, Pool
from .base import Explanation, Judgement, Teacher

TEXT = (
    "Risk is the number of wrong answers expected over the images not yet shown. EER assumes that the worker will "
    "believe the true label of the image it shows, and that the answers to similar images improve with it."
)


@dataclass(frozen=True)
class Propagated:
    """`p` (n,): the belief in +1, one-hot where taught. `influence` (n,): Σ_i y_i K_ik / K_kk.

    K is the inverse of the unseen block of L. A label at k moves the belief at i by the surprise
    at k times K_ik / K_kk, so `influence` sums that motion over the pool, in the direction of truth.
    """

    p: FloatArray
    influence: FloatArray


@dataclass(frozen=True, kw_only=True)
class EER(Teacher):
    """Shows the unseen example whose true label, once believed, leaves the least total risk.

    Taught examples carry the learner's newest label, the others the harmonic belief f. If k is
    believed as it is, f⁺_i = f_i + (Y_k − f_k) K_ik/K_kk, so the risk Σ_i (1 − f⁺_{i,y_i}) over
    the unseen is its present value less (Y_k − f_k)·influence_k: no loop over pairs.
    """

    name: ClassVar[str] = "eer"
    title: ClassVar[str] = "EER"
    description: ClassVar[str] = (
        "Expected error reduction: shows the image whose true label, once the worker believes it, should leave "
        "the fewest wrong answers. It never shows an image twice."
    )
    never_repeats: ClassVar[bool] = True
    largest_pool: ClassVar[int | None] = INVERSE_LIMIT

    def estimate(self, pool: Pool, past: Past) -> FloatArray:
        """The belief in +1: one-hot on taught examples, harmonic on the others."""
        return propagate(pool, past).p

    def judge(self, pool: Pool, past: Past) -> Judgement:
        """Score every example by the total risk that showing it would leave."""
        believed = propagate(pool, past)
        surprise = (pool.labels > 0) - believed.p
        risks = np.abs(surprise)
        risks[past.taught] = 0.0
        risk = float(risks.sum())
        why = Explanation(text=TEXT, score_name="risk left", baseline=("risk now", risk))
        return Judgement(believed.p, risk - surprise * believed.influence, explanation=why)


def propagate(pool: Pool, past: Past) -> Propagated:
    """Belief and influence after a checked history, from the shared inverse in O(n·l²)."""
    if pool.n > INVERSE_LIMIT:
        raise PoolTooLarge(
            f"EER serves pools of up to {INVERSE_LIMIT} examples, and this one has {pool.n}; "
            "use another teacher or a smaller pool."
        )
    p = np.full(pool.n, 0.5)
    # Where nothing is labelled yet, one label would be believed throughout the component.
    influence = per_component(pool, pool.labels)
    answers = (past.newest > 0).astype(np.float64)
    component = pool.components[past.taught]
    for number in np.unique(component):
        here = component == number
        members = _members(pool, int(number))
        p[members], influence[members] = _conditioned(
            pool, members, past.taught[here], answers[here]
        )
    p[past.taught] = answers
    influence[past.taught] = 0.0
    return Propagated(p, influence)


def _members(pool: Pool, component: int) -> IntArray | slice:
    # A slice copies nothing, and nearly every graph is connected.
    if pool.component_count == 1:
        return slice(None)
    return np.flatnonzero(pool.components == component)


def _conditioned(
    pool: Pool, members: IntArray | slice, taught: IntArray, answers: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Belief and influence on the members (m,) of one component, given its taught examples (l,).

    Grounding L at one taught example g turns the shared inverse H into the inverse of L without
    g: K_ij = H_ij − H_ig − H_gj + H_gg. Conditioning on the other taught examples o takes away
    K_·o (K_oo)⁻¹ K_o·, through the Cholesky factor of K_oo.
    """
    inverse = pool.inverse
    # The best tied taught example: a weakly tied one would lift all of K far above what is left
    # after conditioning.
    first = int(np.argmin(inverse.diagonal[taught]))
    ground, others = taught[first], np.delete(taught, first)
    base = inverse.matrix[ground]
    lift = base[ground]
    label_sum = pool.labels[members].sum()
    sums = inverse.label_sums - inverse.label_sums[ground] + (lift - base) * label_sum
    spread = (inverse.diagonal - 2 * base + lift)[members]
    p = np.full(spread.size, answers[first])
    influence = sums[members]
    if others.size:
        rows = inverse.matrix[others]
        rows -= rows[:, [ground]]
        rows += lift - base
        factor = linalg.cholesky(rows[:, others], lower=True, check_finite=False)
        news = np.stack([sums[others], np.delete(answers, first) - answers[first]], axis=1)
        scaled_rows = _solve_lower(factor, rows[:, members])
        corrections = _solve_lower(factor, news).T @ scaled_rows
        influence -= corrections[0]
        p += corrections[1]
        spread -= np.einsum("ij,ij->j", scaled_rows, scaled_rows)
    # No K_kk is below 1/d_k; rounding may say otherwise next to a taught example.
    degrees = pool.degrees[members]
    floor = np.divide(1.0, degrees, out=np.ones(degrees.size), where=degrees > 0)
    np.clip(p, 0.0, 1.0, out=p)
    return p, influence / np.maximum(spread, floor)


def _solve_lower(factor: FloatArray, sides: FloatArray) -> FloatArray:
    return linalg.solve_triangular(factor, sides, lower=True, check_finite=False)
