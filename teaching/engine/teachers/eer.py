"""EER: expected error reduction (Johns et al. 2015)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import linalg

from ..arrays import FloatArray, IntArray
from ..classes import completed, of_class, one_hot
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
    """`probabilities` (n, k): the belief in each class, one-hot where taught. `influence` (n, k−1).

    K is the inverse of the unseen block of L. A label at j moves the belief in class c at i by the
    surprise at j times K_ij / K_jj. `influence` sums that motion over the pool in the direction of
    truth: Σ_i (Y_ic − Y_i0) K_ij / K_jj in column c−1, with Y the one-hot labels.
    """

    probabilities: FloatArray
    influence: FloatArray


@dataclass(frozen=True, kw_only=True)
class EER(Teacher):
    """Shows the unseen example whose true label, once believed, leaves the least total risk.

    Taught examples carry the learner's newest label, the others the harmonic belief F. If j is
    believed as it is, F⁺_ic = F_ic + (Y_jc − F_jc) K_ij/K_jj, so the risk Σ_i (1 − F⁺_{i,y_i}) over
    the unseen is its present value less Σ_c (Y_jc − F_jc)(KY)_jc/K_jj: no loop over pairs. The Y − F
    of an example add up to 0, so k−1 differences of the KY are enough.
    """

    name: ClassVar[str] = "eer"
    title: ClassVar[str] = "EER"
    description: ClassVar[str] = (
        "Expected error reduction: shows the image whose true label, once the worker believes it, should leave "
        "the fewest wrong answers. It never shows an image twice."
    )
    never_repeats: ClassVar[bool] = True
    largest_pool: ClassVar[int | None] = INVERSE_LIMIT

    def probabilities(self, pool: Pool, past: Past) -> FloatArray:
        """The belief in each class: one-hot on taught examples, harmonic on the others."""
        return propagate(pool, past).probabilities

    def judge(self, pool: Pool, past: Past) -> Judgement:
        """Score every example by the total risk that showing it would leave."""
        believed = propagate(pool, past)
        risks = 1 - of_class(believed.probabilities, pool.labels)
        risks[past.taught] = 0.0
        risk = float(risks.sum())
        surprise = one_hot(pool.labels, pool.class_count) - believed.probabilities
        gain = np.vecdot(surprise[:, 1:], believed.influence)
        why = Explanation(text=TEXT, score_name="risk left", baseline=("risk now", risk))
        return Judgement(believed.probabilities, risk - gain, explanation=why)


def propagate(pool: Pool, past: Past) -> Propagated:
    """Belief and influence after a checked history, from the shared inverse in O(n·l²)."""
    if pool.n > INVERSE_LIMIT:
        raise PoolTooLarge(
            f"EER serves pools of up to {INVERSE_LIMIT} examples, and this one has {pool.n}; "
            "use another teacher or a smaller pool."
        )
    k = pool.class_count
    probabilities = np.full((pool.n, k), 1 / k)
    # Where nothing is labelled yet, one label would be believed throughout the component.
    influence = per_component(pool, pool.label_contrasts.T).T
    answers = one_hot(past.newest, k)
    component = pool.components[past.taught]
    for number in np.unique(component):
        here = component == number
        members = _members(pool, int(number))
        probabilities[members], influence[members] = _conditioned(
            pool, members, past.taught[here], answers[here]
        )
    probabilities[past.taught] = answers
    influence[past.taught] = 0.0
    return Propagated(probabilities, influence)


def _members(pool: Pool, component: int) -> IntArray | slice:
    # A slice copies nothing, and nearly every graph is connected.
    if pool.component_count == 1:
        return slice(None)
    return np.flatnonzero(pool.components == component)


def _conditioned(
    pool: Pool, members: IntArray | slice, taught: IntArray, answers: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Belief (m, k) and influence (m, k−1) on one component, given its taught examples (l,).

    Grounding L at one taught example g turns the shared inverse H into the inverse of L without
    g: K_ij = H_ij − H_ig − H_gj + H_gg. Conditioning on the other taught examples o takes away
    K_·o (K_oo)⁻¹ K_o·, through the Cholesky factor of K_oo. `answers` are one-hot, (l, k).
    """
    inverse = pool.inverse
    # The best tied taught example: a weakly tied one would lift all of K far above what is left
    # after conditioning.
    first = int(np.argmin(inverse.diagonal[taught]))
    ground, others = taught[first], np.delete(taught, first)
    base = inverse.matrix[ground]
    lift = base[ground]
    label_sum = pool.label_contrasts[members].sum(axis=0)
    sums = inverse.label_sums - inverse.label_sums[ground] + np.outer(lift - base, label_sum)
    spread = (inverse.diagonal - 2 * base + lift)[members]
    others_said = answers[:, 1:]
    belief = np.tile(others_said[first], (spread.size, 1))
    influence = sums[members]
    if others.size:
        rows = inverse.matrix[others]
        rows -= rows[:, [ground]]
        rows += lift - base
        factor = linalg.cholesky(rows[:, others], lower=True, check_finite=False)
        news = np.hstack([sums[others], np.delete(others_said, first, axis=0) - others_said[first]])
        scaled_rows = _solve_lower(factor, rows[:, members])
        corrections = (_solve_lower(factor, news).T @ scaled_rows).T
        contrasts = influence.shape[1]
        influence -= corrections[:, :contrasts]
        belief += corrections[:, contrasts:]
        spread -= np.einsum("ij,ij->j", scaled_rows, scaled_rows)
    # No K_jj is below 1/d_j; rounding may say otherwise next to a taught example.
    degrees = pool.degrees[members]
    floor = np.divide(1.0, degrees, out=np.ones(degrees.size), where=degrees > 0)
    return completed(belief), influence / np.maximum(spread, floor)[:, None]


def _solve_lower(factor: FloatArray, sides: FloatArray) -> FloatArray:
    return linalg.solve_triangular(factor, sides, lower=True, check_finite=False)
