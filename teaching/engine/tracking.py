"""What a learner believes, followed answer by answer.

The teacher runs the learner's own update forward and corrects it by each answer. What it does not
know is where the learner began and how noise has moved it since: ω_s, the first concept plus the
noise of s steps. Unrolled, the learner's update is

    w_s = ω_s + Σ_{r≤s} Γ_sr λ_r x_r,   Γ_sr = Σ_{j=r…s} η_j β^{j−r},
    v_s = −Σ_{r≤s} β^{s−r} λ_r x_r,

where λ_r = y_r f_r is what step r taught. Made linear in the margin u_r = x_rᵀw_{r−1}, it leaves a
linear system in t numbers, so a Gaussian over 2d numbers is kept, exactly, in matrices with one row
for each step. docs/algorithm.md derives it in the same letters.

All of this is said of two classes. Of more, each class is followed against the rest, by a tracker
of its own, and what the trackers expect is brought to a sum of one.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from scipy.special import logsumexp, ndtr

from .arrays import FloatArray, IntArray
from .classes import completed, of_class
from .errors import BadSetting
from .exemplar import ExemplarAssumptions
from .history import Past
from .learners.paper import LearningRate
from .pool import Pool

# A logistic curve is nearly the distribution function of a Gaussian with this variance.
LOGISTIC_VARIANCE = 8 / np.pi
SQRT_2PI = float(np.sqrt(2 * np.pi))
# How many models' covariances are added up at a time: the matrices of 30 steps stay in the cache.
GROUP = 15
# A model with less than this share of the greatest weight is ruled out: it would decide nothing, and cost as much.
RULED_OUT = 1e-4


@dataclass(frozen=True, kw_only=True)
class Assumptions:
    """What is assumed of a learner before the first answer.

    conviction: the standard deviation of the margins wᵀx that a learner may begin with; at ¼, p
    lies between 0.44 and 0.56 for two examples in three.
    drift: the variance that each step adds to the concept, as a share of the first.
    guess: the chance that an answer is the toss of a coin.
    rates, spans: the learners of the bank, as factors of the study's η₀ and of the participant's
    n̄ = 1/(1−β). rate_doubt, span_doubt: within these factors the truth lies two times out of three.
    firmness: how many times firmer than p the learners of the bank answer: 1 as the paper's
    learner, 4 with hardly a doubt.
    exemplars: learners who form no concept and compare with what they remember instead.
    """

    conviction: float = 0.25
    drift: float = 0.01
    guess: float = 0.1
    rates: tuple[float, ...] = (0.4, 0.4**0.5, 1.0, 2.5**0.5, 2.5)
    spans: tuple[float, ...] = (1 / 1.5, 1.0, 1.5)
    rate_doubt: float = 2.0
    span_doubt: float = 1.5
    firmness: tuple[float, ...] = (1.0, 4.0)
    exemplars: ExemplarAssumptions = field(default_factory=ExemplarAssumptions)

    def __post_init__(self) -> None:
        if not (self.conviction >= 0 and self.drift >= 0 and 0 < self.guess < 1):
            raise BadSetting(
                "Conviction and drift are 0 or above; the chance to guess is in (0, 1)."
            )
        for factors in (self.rates, self.spans, self.firmness):
            if not factors or min(factors) <= 0:
                raise BadSetting("A bank has rates, spans and firmness, all of them above 0.")
        if not (self.rate_doubt > 1 and self.span_doubt > 1):
            raise BadSetting("A doubt is a factor above 1.")


@dataclass(frozen=True)
class AgainstRest:
    """Class `of` of k against all others, as a learner of two classes sees it.

    The learner says the class with the probability σ(u), where u = s_c − log Σ_{c'≠c} exp(s_c') and
    s = Wx. As far as the others are alike, u = wᵀx − log(k−1) with w = W_c k/(k−1): so w moves by
    k/(2(k−1)) of the η that a learner of two classes has, and so does the variance of its margins.
    """

    of: int
    k: int

    @property
    def offset(self) -> float:
        """The margin of a learner without a concept."""
        return -math.log(self.k - 1)

    @property
    def scale(self) -> float:
        """By what the learning rate and the first variance differ from those of two classes."""
        return self.k / (2 * (self.k - 1))

    def signs(self, numbers: IntArray) -> FloatArray:
        """+1 for the class, −1 for the others."""
        return np.where(numbers == self.of, 1.0, -1.0)

    def target(self, pool: Pool) -> FloatArray:
        """w*, shape (d,)."""
        return np.asarray(pool.target[self.of] * (self.k / (self.k - 1)))

    def by_guess(self, answer: float) -> float:
        """The probability of this answer if it is a guess."""
        return 1 / self.k if answer > 0 else 1 - 1 / self.k


def against_rest(k: int) -> list[AgainstRest]:
    """The trackers that k classes need: of two, one is the mirror image of the other."""
    return [AgainstRest(of, k) for of in (range(k) if k > 2 else (1,))]


def together(expected: Sequence[FloatArray]) -> FloatArray:
    """Probabilities (n, k) from what the trackers expect of their classes, (n,) each."""
    columns = np.stack(expected, axis=1)
    if len(expected) == 1:
        return completed(columns)
    return np.asarray(columns / columns.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class Bank:
    """Models of the learner, shape (m,): factors of η₀, β, firmness, and the logs of weights."""

    factors: FloatArray
    betas: FloatArray
    firmness: FloatArray
    log_weights: FloatArray

    @classmethod
    def around(cls, beta: float, assumed: Assumptions) -> Self:
        """The models around a study's learning rate and a participant's β."""
        grid = np.meshgrid(assumed.rates, assumed.spans, assumed.firmness, indexing="ij")
        factors, spans, firmness = (axis.ravel() for axis in grid)
        doubts = np.log([assumed.rate_doubt, assumed.span_doubt])
        off = np.log([factors, spans]) / doubts[:, None]
        # A memory of less than one example is none.
        betas = np.maximum(1 - (1 - beta) / spans, 0.0)
        return cls(factors, betas, firmness, -(off**2).sum(axis=0) / 2)

    def only(self, models: IntArray) -> Self:
        return type(self)(
            self.factors[models],
            self.betas[models],
            self.firmness[models],
            self.log_weights[models],
        )


@dataclass(frozen=True)
class Posterior:
    """Concept and momentum before step t, as far as t−1 answers tell.

    `bank` has the m models that the answers have not ruled out, `weights` (m,) their posterior
    weights. In each model, mean concept and momentum are combinations of the shown examples
    X = `shown` (t−1, d), with the coefficients `concepts` and `momenta` (m, t−1). The covariances are
    those of the models, averaged by weight:
    Cov(w, w) = remainder·I + XᵀAX and Cov(w, v) = XᵀBX, where A is `spread` and B is `tie`.
    """

    bank: Bank
    weights: FloatArray
    shown: FloatArray
    concepts: FloatArray
    momenta: FloatArray
    spread: FloatArray
    tie: FloatArray
    remainder: float
    evidences: FloatArray
    """the log probability of all answers before each step, whichever model of the bank it is, shape (t,)"""

    contest: AgainstRest

    @property
    def evidence(self) -> float:
        """The log probability of all answers."""
        return float(self.evidences[-1])

    @property
    def rate_factor(self) -> float:
        """How many times the study's learning rate the learner's seems to be."""
        return float(np.exp(self.weights @ np.log(self.bank.factors)))

    @property
    def beta(self) -> float:
        """The β that the learner seems to have."""
        return float(self.weights @ self.bank.betas)


def follow(
    pool: Pool,
    past: Past,
    beta: float,
    learning_rate: LearningRate,
    assumed: Assumptions,
    contest: AgainstRest,
) -> Posterior:
    """The posterior to which a history leads, for one class against the rest."""
    bank = Bank.around(beta, assumed)
    follower = _Follower(pool, past, bank, learning_rate, assumed, contest)
    answers, labels = contest.signs(past.answers), contest.signs(pool.labels[past.examples])
    for step, (answer, label) in enumerate(zip(answers, labels, strict=True)):
        follower.take(step, float(answer), float(label))
    return follower.posterior()


def expected_answers(posteriors: Sequence[Posterior], past: Past) -> FloatArray:
    """P(the learner says each class) before each answer of a history, shape (t−1, k)."""
    contests = [posterior.contest for posterior in posteriors]
    happened = [np.exp(np.diff(posterior.evidences)) for posterior in posteriors]
    return together(
        [
            np.where(past.answers == contest.of, chance, 1 - chance)
            for contest, chance in zip(contests, happened, strict=True)
        ]
    )


def evidence_of(expected: FloatArray, past: Past) -> FloatArray:
    """The log probability of all answers before each step, shape (t,), from what was expected (t−1, k)."""
    return np.append(0.0, np.cumsum(np.log(of_class(expected, past.answers))))


def answer_update(
    answer: float,
    mean: FloatArray,
    variance: FloatArray,
    doubt: FloatArray,
    guess: float,
    by_guess: float = 0.5,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The chance of an answer where the margin is N(u, V), its pull and its curvature, shape (m,).

    The margin given the answer has mean u + pull·V and variance V − curvature·V², exactly, with the
    distribution function of a Gaussian in place of the logistic curve; `doubt` is its variance. A
    guess, which comes with probability `guess`, is this answer with probability `by_guess`.
    """
    towards = answer / np.sqrt(doubt + variance)
    agreement = towards * mean
    chance = guess * by_guess + (1 - guess) * ndtr(agreement)
    push = (1 - guess) / SQRT_2PI * np.exp(-0.5 * agreement**2) / chance
    return chance, towards * push, push * (push + agreement) * towards**2


def expected_answer(
    mean: FloatArray, variance: FloatArray, firmness: FloatArray | float = 1.0
) -> FloatArray:
    """2E[p] − 1 where the margin is Gaussian, for answers that are so firm; shapes broadcast.

    With κ = 1/√(1 + πV/8), E[p] is the logistic curve at κ times the mean, to within 0.02. The
    hyperbolic tangent is that curve, and takes a quarter of the time.
    """
    scale = np.sqrt(1 / firmness**2 + variance / LOGISTIC_VARIANCE)
    return np.asarray(np.tanh(mean / (2 * scale)))


def expected_slope(lean: FloatArray, variance: FloatArray) -> FloatArray:
    """E[p(1−p)]: the derivative of E[p] by the mean, where it is known as lean = 2E[p] − 1."""
    return np.asarray((1 - lean**2) / (4 * np.sqrt(1 + variance / LOGISTIC_VARIANCE)))


class _Follower:
    """The recursion over the steps, for m models at once; steps count from 0 here.

    What is unknown is ξ_s = x_sᵀω_s, of prior covariance Q. What is learned, λ_s = y_s f_s, is linear in
    it: λ = `learned` − Sξ. What is known from the answers is kept as coefficients of Q: `mean` is E[ξ], and row
    s of D is Cov(ξ, u_s) before answer s. `learned` lies before the columns of S in `lessons`, and
    `mean` above the rows of D in `known`, so that one product serves both.
    """

    def __init__(
        self,
        pool: Pool,
        past: Past,
        bank: Bank,
        learning_rate: LearningRate,
        assumed: Assumptions,
        contest: AgainstRest,
    ) -> None:
        m, t = bank.factors.size, len(past)
        self.bank, self.guess, self.contest = bank, assumed.guess, contest
        self.doubts = LOGISTIC_VARIANCE / bank.firmness**2
        self.shown = pool.features[past.examples]
        gram = self.shown @ self.shown.T
        # Of each entry of ω before each step, the one to come included.
        first = contest.scale * _first_variance(pool, assumed)
        self.variances = first * (1 + assumed.drift * np.arange(t + 1))
        self.Q = np.minimum.outer(self.variances[:-1], self.variances[:-1]) * gram
        self.decay, self.reach = _unrolled(bank, learning_rate, t)
        self.reach *= contest.scale
        self.links = self.reach[:, :-1] * gram
        self.lessons, self.known = np.zeros((m, t, 1 + t)), np.zeros((m, 1 + t, t))
        self.learned, self.S = self.lessons[:, :, 0], self.lessons[:, :, 1:]
        self.mean, self.D = self.known[:, 0], self.known[:, 1:]
        self.S[:] = self.D[:] = np.eye(t)
        self.curvatures, self.chances = np.zeros((2, m, t))

    def take(self, s: int, answer: float, label: float) -> None:
        """Weigh answer s, then let the models learn the label."""
        so_far = slice(s + 1)
        expected, mean, variance = self._margin(s)
        by_guess = self.contest.by_guess(answer)
        chance, pull, curvature = answer_update(
            answer, mean, variance, self.doubts, self.guess, by_guess
        )
        self.chances[:, s], self.curvatures[:, s] = chance, curvature
        self.mean[:, so_far] += pull[:, None] * self.D[:, s, so_far]
        mean, variance = mean + pull * variance, variance * (1 - curvature * variance)
        lean = expected_answer(mean, variance)
        slope = expected_slope(lean, variance)
        self.learned[:, s] = (label - lean) / 2 + slope * (mean - expected)
        self.S[:, s, so_far] *= slope[:, None]

    def _margin(self, s: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The margin u_s if ξ were 0, its mean and its variance before the answer, (m,) each.

        Leaves the dependence of u_s on ξ in row s of S, and its covariance with ξ in row s of D.
        """
        before, so_far = slice(s), slice(s + 1)
        passed_on = np.vecmat(self.links[:, s, before], self.lessons[:, before, so_far])
        expected = self.contest.offset + passed_on[:, 0]
        row, dual = self.S[:, s, so_far], self.D[:, s, so_far]
        np.negative(passed_on[:, 1:], out=row[:, before])
        along = row @ self.Q[so_far, so_far]
        moments = np.matvec(self.known[:, so_far, before], along[:, before])
        reduced = self.curvatures[:, before] * moments[:, 1:]
        explained = np.vecmat(reduced, self.D[:, before, before])
        np.subtract(row[:, before], explained, out=dual[:, before])
        return expected, expected + moments[:, 0], np.maximum(np.vecdot(along, dual), 0.0)

    def log_weights(self) -> FloatArray:
        """Of the models before each answer and after the last, not yet normalised; (m, t+1)."""
        before = self.bank.log_weights[:, None]
        return np.hstack([before, before + np.cumsum(np.log(self.chances), axis=1)])

    def evidence(self) -> FloatArray:
        """The log probability of all answers before each step, the one to come included, shape (t+1,)."""
        total = logsumexp(self.log_weights(), axis=0)
        return np.asarray(total - total[0])

    def posterior(self) -> Posterior:
        """What is believed after the last step taken."""
        models, weights = self._left()
        learned = self.learned[models] - np.matvec(self.S[models], self.mean[models] @ self.Q)
        concepts = self.variances[:-1] * self.mean[models] + self.reach[models, -1] * learned
        spread, tie = self._covariances(models, weights)
        return Posterior(
            bank=self.bank.only(models),
            weights=weights,
            shown=self.shown,
            concepts=concepts,
            momenta=-self.decay[models] * learned,
            spread=spread,
            tie=tie,
            remainder=float(self.variances[-1]),
            evidences=self.evidence(),
            contest=self.contest,
        )

    def _left(self) -> tuple[IntArray, FloatArray]:
        """The models that are not ruled out, and their weights, which add up to one."""
        log_weights = self.log_weights()[:, -1]
        weights = np.exp(log_weights - log_weights.max())
        models = np.flatnonzero(weights >= RULED_OUT)
        return models, weights[models] / weights[models].sum()

    def _covariances(self, models: IntArray, weights: FloatArray) -> FloatArray:
        """A and B of `Posterior`, stacked."""
        groups = [slice(first, first + GROUP) for first in range(0, models.size, GROUP)]
        parts = [self._covariances_of(models[group], weights[group]) for group in groups]
        return np.asarray(np.sum(parts, axis=0))

    def _covariances_of(self, models: IntArray, weights: FloatArray) -> FloatArray:
        """The part of some models in A and B.

        Less their means, w = ω − Xᵀ diag(Γ) Sξ and v = Xᵀ diag(decay) Sξ. `w_with` are the
        coefficients of the prior covariance of w with ξ, `w_answered` and `v_answered` of those of w and v with
        the answered margins, which the answers reduce by their curvatures.
        """
        reach, decay = self.reach[models, -1, :, None], self.decay[models, :, None]
        S, duals = self.S[models], self.D[models].mT
        variances, shares = self.variances[:-1], weights[:, None, None]
        learned = S @ self.Q
        answered = learned @ duals
        w_with = np.diag(variances) - reach * learned
        w_answered, v_answered = variances[:, None] * duals - reach * answered, decay * answered
        known = shares * w_answered * self.curvatures[models, None]
        of_w, of_v = shares * reach * S, shares * decay * S
        spread = -of_w.sum(axis=0) * variances - _summed(w_with, of_w) - _summed(known, w_answered)
        return np.stack([spread, _summed(w_with, of_v) - _summed(known, v_answered)])


def _summed(first: FloatArray, second: FloatArray) -> FloatArray:
    """The sum of ABᵀ over the models, shapes (m, t, t)."""
    return np.tensordot(first, second, axes=([0, 2], [0, 2]))


def _first_variance(pool: Pool, assumed: Assumptions) -> float:
    """The variance of an entry of w_0 that gives margins over the pool their standard deviation."""
    length = float(pool.squared_norms.mean())
    return assumed.conviction**2 / length if length > 0 else 0.0


def _unrolled(bank: Bank, learning_rate: LearningRate, t: int) -> tuple[FloatArray, FloatArray]:
    """β^{t−1−r} (m, t), and Γ (m, t+1, t): how far y_r f_r x_r reaches into w before each step."""
    steps = np.arange(t)
    ages = steps[:, None] - steps
    rates = np.array([learning_rate(s + 1) for s in range(t)])
    betas, which = np.unique(bank.betas, return_inverse=True)
    powers = np.where(ages >= 0, betas[:, None, None] ** np.maximum(ages, 0), 0.0)
    reach = np.zeros((betas.size, t + 1, t))
    np.cumsum(powers * rates[:, None], axis=1, out=reach[:, 1:])
    decay = powers[:, -1] if t else np.zeros((betas.size, 0))
    return decay[which], reach[which] * bank.factors[:, None, None]
