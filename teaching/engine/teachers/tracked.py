"""Tracked: JEDI's objective, expected over what the learner may believe."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from .. import tracking
from ..arrays import FloatArray
from ..classes import folded, of_class
from ..exemplar import ExemplarModels, exemplar_models, exemplar_probability
from ..history import Past, Shown
from ..pool import Pool
from .base import Explanation, Fact, Interval, Judgement, Teacher

# A Gaussian lies within this many standard deviations nine times out of ten.
NINE_IN_TEN = 1.6449
# How many examples are judged at a time: what they need beside their features stays in the cache.
BLOCK = 1_000
# Said where the learner seems to have no concept.
FOR_EXEMPLARS = (
    "The answers so far suggest that the worker compares images with those seen before instead of following a rule. "
    "Tracked then looks for an image that such a worker would get wrong and that resembles many images of its own "
    "class. The score is minus the product of the two."
)


@dataclass(frozen=True, kw_only=True)
class TrackedExplanation(Explanation):
    """Which learner the teacher thinks it has, beside the one that the study assumes.

    Nine times out of ten P lies between `p_low` and `p_high` (n, k). `learner_rate` (η₀) and `learner_beta`
    are what the answers point to, and `exemplar_probability` is how probably the learner has no concept
    but compares with what it remembers; above ½ that decides the choice.
    """

    p_low: FloatArray
    p_high: FloatArray
    learner_rate: float
    assumed_rate: float
    learner_beta: float
    assumed_beta: float
    exemplar_probability: float

    def facts(self) -> list[Fact]:
        """What the answers point to."""
        return [
            ("learning rate η₀ inferred from the answers", f"{self.learner_rate:.3f}"),
            ("learning rate of the study", f"{self.assumed_rate:.3f}"),
            ("memory decay β inferred from the answers", f"{self.learner_beta:.3f}"),
            ("memory decay from the memory test", f"{self.assumed_beta:.3f}"),
            (
                "probability that the worker compares images instead of following a rule",
                f"{100 * self.exemplar_probability:.1f}\N{NO-BREAK SPACE}%",
            ),
        ]

    def interval(self, example: int, of: int = 1) -> Interval:
        """Between which limits P(class `of`) of an example lies nine times out of ten."""
        return float(self.p_low[example, of]), float(self.p_high[example, of])


@dataclass(frozen=True, kw_only=True)
class Tracked(Teacher):
    """Follows the learner's concept through its answers, and brings it as close to the target as possible.

    The learner's own update, run from a wide prior and corrected by each answer, gives a Gaussian
    for concept and momentum in each model (η, β, firmness) of a bank. With a = y f x, the score is
    E‖w_t − w*‖² over the bank and its Gaussians, less what all candidates share:

        E[η² (‖a‖² − 2β aᵀv)] − E[2η aᵀ(w* − w)]
        ── diversity (T₁) ───   ── usefulness (T₂)

    Of more than two classes, each is followed against the rest, and the scores add up to
    E[2‖W_t − W*‖²]. Where the answers speak for an exemplar learner, who has no concept, it shows what
    that learner gets wrong and what is typical of its class.
    """

    name: ClassVar[str] = "tracked"
    title: ClassVar[str] = "Tracked"
    description: ClassVar[str] = (
        "Tracks what the worker has learned from answer to answer, and shows the image that should bring it closest "
        "to the target concept."
    )

    assumptions: tracking.Assumptions = field(default_factory=tracking.Assumptions)

    def default_window(self) -> int:
        """JEDI's: twice the number of examples that the learner remembers."""
        return int(2 / (1 - self.beta) + 0.5)

    def posterior(self, pool: Pool, history: Sequence[Shown], of: int = 1) -> tracking.Posterior:
        """What a history tells about the learner, as far as class `of` against the rest goes."""
        contest = tracking.AgainstRest(of, pool.class_count)
        return self._follow(pool, Past.read(history, pool), contest)

    def predicted_answers(self, pool: Pool, history: Sequence[Shown]) -> FloatArray:
        """P(class 1) before each answer of a history (t−1,), whichever teacher chose its examples.

        With more than two classes, the probabilities of all of them, shape (t−1, k).
        """
        past = Past.read(history, pool)
        by_concept = tracking.expected_answers(self._posteriors(pool, past), past)
        models = exemplar_models(pool, past, self.assumptions.guess, self.assumptions.exemplars)
        weight = self._exemplar_probability(models, by_concept, past)[:-1, None]
        return folded((1 - weight) * by_concept + weight * models.expected)

    def probabilities(self, pool: Pool, past: Past) -> FloatArray:
        """P over all models, guesses included."""
        return self.judge(pool, past).probabilities

    def judge(self, pool: Pool, past: Past) -> Judgement:
        """Believe both hypotheses by their weights, and score every example by the likelier one."""
        posteriors = self._posteriors(pool, past)
        models = exemplar_models(pool, past, self.assumptions.guess, self.assumptions.exemplars)
        expected = tracking.expected_answers(posteriors, past)
        weight = float(self._exemplar_probability(models, expected, past)[-1])
        belief, diversity, usefulness = self._by_concept(pool, past, posteriors)
        scores = diversity - usefulness
        parts: tuple[FloatArray | None, FloatArray | None] = diversity, usefulness
        if weight >= tracking.RULED_OUT:
            p = models.predict(pool)
            belief = (1 - weight) * belief + weight * self._with_guesses(p)
            if weight > 0.5:
                scores, parts = _typical_errors(pool, p), (None, None)
        return Judgement(
            belief[0], scores, *parts, explanation=self._explain(posteriors, belief, weight)
        )

    def _exemplar_probability(
        self, models: ExemplarModels, expected: FloatArray, past: Past
    ) -> FloatArray:
        """P(the learner is an exemplar learner) before each step, the one to come included, shape (t,)."""
        by_concept = tracking.evidence_of(expected, past)
        return exemplar_probability(self.assumptions.exemplars.prior, models.evidence, by_concept)

    def _explain(
        self, posteriors: Sequence[tracking.Posterior], belief: FloatArray, weight: float
    ) -> TrackedExplanation:
        """What the teacher found out, from P with its interval (3, n, k) and the weight of exemplar learners."""
        factors = [posterior.rate_factor for posterior in posteriors]
        return TrackedExplanation(
            text=FOR_EXEMPLARS if weight > 0.5 else "",
            p_low=belief[1],
            p_high=belief[2],
            learner_rate=self.learning_rate.initial * float(np.exp(np.mean(np.log(factors)))),
            assumed_rate=self.learning_rate.initial,
            learner_beta=float(np.mean([posterior.beta for posterior in posteriors])),
            assumed_beta=self.beta,
            exemplar_probability=weight,
        )

    def _by_concept(
        self, pool: Pool, past: Past, posteriors: Sequence[tracking.Posterior]
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """P with its interval (3, n, k), diversity and usefulness (n,) for a learner with a concept."""
        eta = self.learning_rate(len(past) + 1)
        judged = np.concatenate([*_blocks(pool, posteriors, eta)], axis=2)
        k = pool.class_count
        # From Σ ‖w_c − w*_c‖² over the trackers to 2‖W − W*‖².
        share = 2 * ((k - 1) / k) ** 2 * (k / len(posteriors))
        diversity, usefulness = share * judged[:, 3:].sum(axis=0)
        belief = _of_all_classes((1 + judged[:, :3]) / 2)
        return self._with_guesses(belief), diversity, usefulness

    def _with_guesses(self, p: FloatArray) -> FloatArray:
        guess = self.assumptions.guess
        return np.asarray(guess / p.shape[-1] + (1 - guess) * p)

    def judge_cold(self, pool: Pool, past: Past) -> Judgement:
        """The same belief, without a rule."""
        judgement = self.judge(pool, past)
        return replace(judgement, scores=np.zeros(pool.n), diversity=None, usefulness=None)

    def _posteriors(self, pool: Pool, past: Past) -> list[tracking.Posterior]:
        contests = tracking.against_rest(pool.class_count)
        return [self._follow(pool, past, contest) for contest in contests]

    def _follow(self, pool: Pool, past: Past, contest: tracking.AgainstRest) -> tracking.Posterior:
        return tracking.follow(pool, past, self.beta, self.learning_rate, self.assumptions, contest)


def _of_all_classes(judged: FloatArray) -> FloatArray:
    """P with its interval, (3, n, k), from what each tracker has for its class, (c, 3, n)."""
    if len(judged) == 1:
        p, low, high = judged[0]
        return np.stack([[1 - p, 1 - high, 1 - low], [p, low, high]], axis=-1)
    probabilities = np.moveaxis(judged, 0, -1).copy()
    probabilities[0] = tracking.together([*judged[:, 0]])
    return probabilities


def _typical_errors(pool: Pool, p: FloatArray) -> FloatArray:
    """What an exemplar learner gets wrong, weighed by how many of its class are like it."""
    wrong = 1 - of_class(p, pool.labels)
    return np.asarray(-wrong * np.maximum(pool.agreement, 0.0))


def _blocks(
    pool: Pool, posteriors: Sequence[tracking.Posterior], eta: float
) -> Iterator[FloatArray]:
    """What `_Block.judge` gives for each tracker, (c, 5, b), block after block of the pool."""
    targets = [posterior.contest.target(pool) for posterior in posteriors]
    against = np.vstack([posteriors[0].shown, *targets]).T
    steps = len(posteriors[0].shown)
    for first in range(0, pool.n, BLOCK):
        rows = slice(first, first + BLOCK)
        products = pool.features[rows] @ against
        yield np.stack(
            [
                _Block(pool, posterior, rows, products[:, :steps], wanted).judge(eta)
                for posterior, wanted in zip(posteriors, products[:, steps:].T, strict=True)
            ]
        )


class _Block:
    """The posterior of a tracker seen from b examples of the pool.

    Per model (b, m): `means` of the margin u, `along` of xᵀv, `pulls` y E[f], `slopes` E[f(1−f)].
    Averaged (b,): `variances` of u, `ties` Cov(u, xᵀv). `wanted` (b,) is the margin of the target.
    """

    def __init__(
        self,
        pool: Pool,
        posterior: tracking.Posterior,
        rows: slice,
        shown: FloatArray,
        wanted: FloatArray,
    ) -> None:
        self.posterior, contest = posterior, posterior.contest
        self.labels, self.squared_norms = contest.signs(pool.labels[rows]), pool.squared_norms[rows]
        self.wanted = contest.offset + wanted
        self.means = contest.offset + shown @ posterior.concepts.T
        self.along = shown @ posterior.momenta.T
        beyond = posterior.remainder * self.squared_norms
        self.variances = np.maximum(beyond + _squares(shown, posterior.spread), 0.0)
        self.ties = _squares(shown, posterior.tie)
        leans = tracking.expected_answer(self.means, self.variances[:, None])
        self.slopes = tracking.expected_slope(leans, self.variances[:, None])
        self.pulls = (self.labels[:, None] - leans) / 2

    def judge(self, learning_rate: float) -> FloatArray:
        """2p − 1, its interval, diversity and usefulness, shape (5, b), at a learning rate of two classes."""
        eta = learning_rate * self.posterior.contest.scale * self.posterior.bank.factors
        return np.stack([self.lean(), *self.interval(), self.diversity(eta), self.usefulness(eta)])

    def lean(self) -> FloatArray:
        """2E[p] − 1 over all models, for answers as firm as theirs, shape (b,)."""
        firmness = self.posterior.bank.firmness
        leans = tracking.expected_answer(self.means, self.variances[:, None], firmness)
        return np.asarray(leans @ self.posterior.weights)

    def interval(self) -> tuple[FloatArray, FloatArray]:
        """2p − 1 as low and as high as it may be nine times out of ten, (b,) each.

        Margins are spread within the models and between them.
        """
        weights, firmness = self.posterior.weights, self.posterior.bank.firmness
        margins = self.means * firmness
        mean = margins @ weights
        within = self.variances * (weights @ firmness**2)
        spread = np.sqrt(within + (margins - mean[:, None]) ** 2 @ weights)
        low, high = mean - NINE_IN_TEN * spread, mean + NINE_IN_TEN * spread
        return np.tanh(low / 2), np.tanh(high / 2)

    def diversity(self, eta: FloatArray) -> FloatArray:
        """E[η² (f²‖x‖² − 2β y f xᵀv)], shape (b,).

        f² = f − f(1−f), and by Stein's lemma E[y f xᵀv] = y E[f] E[xᵀv] − E[f(1−f)] Cov(xᵀw, xᵀv).
        """
        weights = self.posterior.weights * eta**2
        remembered = weights * self.posterior.bank.betas
        squares = self.labels * (self.pulls @ weights) - self.slopes @ weights
        crossed = (self.pulls * self.along) @ remembered - self.ties * (self.slopes @ remembered)
        return np.asarray(squares * self.squared_norms - 2 * crossed)

    def usefulness(self, eta: FloatArray) -> FloatArray:
        """E[2η y f xᵀ(w* − w)], shape (b,), by the same lemma."""
        weights = self.posterior.weights * eta
        missing = self.wanted[:, None] - self.means
        way = (self.pulls * missing) @ weights + self.variances * (self.slopes @ weights)
        return np.asarray(2 * way)


def _squares(rows: FloatArray, matrix: FloatArray) -> FloatArray:
    """rᵀAr for each row r, one number each."""
    return np.asarray(np.vecdot(rows @ matrix, rows))
