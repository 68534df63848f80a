"""The other hypothesis about a learner: no concept, but a memory of what was shown.

An exemplar learner remembers every example with its label, fading with its age, and answers by the
class of the most similar ones. docs/algorithm.md says how the hypotheses are weighed.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit, logsumexp

from .arrays import FloatArray, squared_distances
from .classes import one_hot, softmax
from .errors import BadSetting
from .history import Past
from .pool import Pool

# Answers are this many times firmer than the shares of the classes in memory, and the shares are clipped to this.
FIRMNESS = 4.0
SUREST = 0.98


@dataclass(frozen=True, kw_only=True)
class ExemplarAssumptions:
    """What is assumed of exemplar learners.

    prior: the probability that a learner is one of them. widths: how far similarity reaches, as shares of
    the mean squared distance between two examples. decays: what is left of a memory after a step.
    """

    prior: float = 0.1
    widths: tuple[float, ...] = (0.04, 0.08, 0.16)
    decays: tuple[float, ...] = (0.9, 0.97)

    def __post_init__(self) -> None:
        if not 0 <= self.prior < 1:
            raise BadSetting("The prior probability of an exemplar learner lies in [0, 1).")
        if not (self.widths and self.decays and min(self.widths) > 0):
            raise BadSetting("Exemplar learners have widths above 0, and decays.")
        if not all(0 < decay <= 1 for decay in self.decays):
            raise BadSetting("What is left of a memory after a step is a share in (0, 1].")


@dataclass(frozen=True)
class ExemplarModels:
    """The m models of exemplar learners, after a history.

    `widths` and `decays` (m,); `shown` (t−1, d) and `truth` (t−1, k), one-hot, are what they remember;
    `chances` (m, t−1, k): what each model expected before each answer; `log_likelihoods` (m, t): of all
    answers before each step, the one to come included.
    """

    widths: FloatArray
    decays: FloatArray
    shown: FloatArray
    truth: FloatArray
    chances: FloatArray
    log_likelihoods: FloatArray

    @property
    def evidence(self) -> FloatArray:
        """The log probability of all answers before each step, whichever model it is, shape (t,)."""
        return np.asarray(logsumexp(self.log_likelihoods, axis=0) - math.log(self.widths.size))

    @property
    def expected(self) -> FloatArray:
        """What all models together expected before each answer, guesses included, shape (t−1, k)."""
        before = self.log_likelihoods[:, :-1]
        weights = np.exp(before - logsumexp(before, axis=0))
        return np.asarray(np.einsum("mt,mtk->tk", weights, self.chances))

    def predict(self, pool: Pool) -> FloatArray:
        """P of every example by the likeliest model, shape (n, k)."""
        best = int(np.argmax(self.log_likelihoods[:, -1]))
        squared = squared_distances(pool.features, self.shown)
        ages = np.arange(len(self.shown))[::-1]
        strengths = _strengths(squared, ages, self.widths[best], self.decays[best])
        return _answers(strengths, self.truth)


def exemplar_models(
    pool: Pool, past: Past, guess: float, assumed: ExemplarAssumptions
) -> ExemplarModels:
    """Follow a history with the memories of each model; an answer is a guess with probability `guess`."""
    grid = np.meshgrid(assumed.widths, assumed.decays, indexing="ij")
    widths, decays = _distance(pool) * grid[0].ravel(), grid[1].ravel()
    k = pool.class_count
    shown, truth = pool.features[past.examples], one_hot(pool.labels[past.examples], k)
    steps = np.arange(len(past))
    ages = steps[:, None] - 1 - steps
    squared = squared_distances(shown, shown)
    strengths = _strengths(squared, ages, widths[:, None, None], decays[:, None, None])
    chances = guess / k + (1 - guess) * _answers(strengths, truth)
    said = chances[:, steps, past.answers]
    none_yet = np.zeros((widths.size, 1))
    log_likelihoods = np.hstack([none_yet, np.cumsum(np.log(said), axis=1)])
    return ExemplarModels(widths, decays, shown, truth, chances, log_likelihoods)


def exemplar_probability(
    prior: float, for_exemplars: FloatArray, for_concept: FloatArray
) -> FloatArray:
    """P(the learner is an exemplar learner) by Bayes' rule, from the evidence (t,) for either hypothesis."""
    if prior == 0:
        return np.zeros_like(for_concept)
    return np.asarray(expit(logit(prior) + for_exemplars - for_concept))


def _strengths(
    squared: FloatArray, ages: npt.NDArray[np.integer], width: FloatArray, decay: FloatArray
) -> FloatArray:
    """How strongly each memory speaks at each example; those to come (of negative age) do not."""
    similarity = np.exp(-squared / width)
    return np.asarray(np.where(ages >= 0, similarity * decay ** np.maximum(ages, 0), 0.0))


def _answers(strengths: FloatArray, truth: FloatArray) -> FloatArray:
    """P (…, k) from the strengths (…, t) of memories, as firm as answers are; 1/k where nothing speaks."""
    votes = strengths @ truth
    total = votes.sum(axis=-1, keepdims=True)
    alike = np.full_like(votes, 1 / truth.shape[-1])
    shares = np.divide(votes, total, out=alike, where=total > 0)
    return softmax(FIRMNESS * np.log(np.clip(shares, 1 - SUREST, SUREST)))


def _distance(pool: Pool) -> float:
    """The mean squared distance between two examples: of centred features, twice the mean square."""
    apart = 2 * float(pool.squared_norms.mean())
    return apart if apart > 0 else 1.0
