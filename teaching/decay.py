"""The memory decay β by the answers of the teaching: the likelihood of a session, and the estimates it gives.

The learner is the paper's, with occasional guesses. Besides β, three things are unknown: the learning rate, which
differs between people by orders of magnitude; how often an answer is a guess; and the answer style, because some people
draw their answers as in the paper, others always choose what they find more likely, and some begin with beliefs of
their own. Taking deterministic answers for drawn ones gives a β near 1 whatever it is. So the likelihood is computed on
a grid of all that and averaged over guess rates. What is left, a surface over styles, β and learning rates, is stored
with the participant.

With a uniform prior a surface gives the posterior mean of one person's β and its interval (`estimate_beta`). It leans
towards the middle of the range, because thirty answers say little, so means of single estimates say more about the grid
than about people. `estimate_group` therefore fits the distribution of β in a group to all surfaces together: β has a
beta distribution, log η₀ a normal one, and people answer either all in one style or each in any. The likelihood is
averaged over a grid of such distributions; what they leave open is in the interval of the mean. (The shortcut of one
common β for everybody finds 0.65 to 0.7 for simulated learners of 0.25 who answer deterministically from beliefs of
their own.)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
from scipy.special import betainc, logsumexp

from .engine import LearningRate, Pool, Shown
from .engine.arrays import FloatArray
from .engine.bank import Observations
from .engine.bank.base import GIVEN
from .engine.bank.concept import Grid, run_learners
from .engine.classes import softmax
from .engine.history import Past

BETAS = np.round(np.arange(0, 0.9501, 0.05), 2)
# Learning rates η₀ for examples of length 1, with so many per factor of ten. For sharpened answers these are the rates
# at which answers become deterministic.
RATES = np.geomspace(0.05, 50, 13)
RATES_PER_DECADE = 4
GUESS_RATES = np.array([0.02, 0.1, 0.3])
# p(1 − p) of a typical answer.
ANSWER_VARIANCE = 0.2
# The ends of a central 95 % interval. Not those of `analysis.stats`, which takes a second to load while a worker waits.
QUANTILES = (0.025, 0.975)
# Limits the memory for the links between the steps of long sessions.
MAX_LINKS = 250_000
# A surface is stored in whole hundredths of a nat, cut off 30 nats below its maximum.
RESOLUTION, FLOOR = 100, 30.0

# The log likelihood by style, β and learning rate, the last varying fastest, minus its maximum. Rounded, so that it is
# short in a database and gives the same β on every machine. Surfaces of early releases have the first style only, which
# then stands for all.
Surface = tuple[int, ...]

# The grid of a group: means of β; concentrations κ of beta distributions with parameters μκ and (1 − μ)κ; and standard
# deviations of log η₀.
GROUP_MEANS = np.arange(0.01, 1, 0.02)
CONCENTRATIONS = (2.0, 8.0, 40.0)
RATE_DEVIATIONS = (0.4, 1.0, 2.0)
# Limits the memory for large groups.
PEOPLE_AT_ONCE = 40


@dataclass(frozen=True)
class AnswerStyle:
    """The logits of answers are 10^decades times those of the beliefs.

    initial_spread: the standard deviation of the log odds of answers between two classes before the first lesson.
    """

    decades: int = 0
    initial_spread: float = 0.0


STYLES = (
    AnswerStyle(),
    AnswerStyle(decades=1),
    AnswerStyle(decades=2),
    AnswerStyle(decades=2, initial_spread=10.0),
)


@dataclass(frozen=True)
class BetaEstimate:
    """The posterior mean of β under a uniform prior, and its central 95 % interval."""

    beta: float
    low: float
    high: float

    @property
    def is_uninformative(self) -> bool:
        return spans_grid(self.low, self.high)


@dataclass(frozen=True)
class SessionFit(BetaEstimate):
    """The estimate of one session with its surface and learning rate.

    rate: the posterior mean of log η₀, as a rate for examples of length 1. rate_factor: the same in units of the rate
    that the study assumes. gain: the log likelihood, averaged over the grid, minus that of guessing, in nats.
    """

    surface: Surface
    rate: float
    rate_factor: float
    gain: float


@dataclass(frozen=True)
class GroupEstimate:
    """The mean of β in a group with its 95 % interval, and the expected share of people at each β of the grid."""

    people: int
    mean: float
    low: float
    high: float
    shares: tuple[float, ...]

    @property
    def sd(self) -> float:
        squares = (BETAS - np.dot(self.shares, BETAS)) ** 2
        return float(np.sqrt(np.dot(self.shares, squares)))


def spans_grid(low: float, high: float) -> bool:
    """Whether the interval spans the whole grid, so that the answers do not constrain β."""
    return (low, high) == (float(BETAS[0]), float(BETAS[-1]))


def fit_session(pool: Pool, history: Sequence[Shown], rate: LearningRate) -> SessionFit:
    """The fit to the answers of a session; only the schedule of `rate` affects β."""
    return fit_decay(Observations.of(pool, Past.read(history, pool), 0.0, rate))


def fit_decay(observed: Observations) -> SessionFit:
    every = log_likelihoods(observed)
    by_style = logsumexp(every, axis=3)
    total = float(logsumexp(by_style))
    below = np.maximum(by_style - by_style.max(), -FLOOR)
    surface = tuple(np.rint(RESOLUTION * below).astype(int).ravel().tolist())
    estimate = estimate_beta([surface])
    rate = float(np.exp(np.exp(logsumexp(by_style, axis=(0, 1)) - total) @ np.log(RATES)))
    return SessionFit(
        estimate.beta,
        estimate.low,
        estimate.high,
        surface=surface,
        rate=rate,
        rate_factor=rate / (observed.learning_rate.initial * observed.spaces.given.mean_square),
        gain=total - float(np.log(every.size)) + len(observed) * float(np.log(observed.k)),
    )


def estimate_beta(surfaces: Iterable[Sequence[int]]) -> BetaEstimate:
    """The β of a person from one or more tasks, each with a learning rate and a style of its own."""
    by_beta = np.log(likelihoods(surfaces).mean(axis=(1, 3))).sum(axis=0)
    shares = np.exp(by_beta - by_beta.max())
    shares /= shares.sum()
    ends = np.searchsorted(np.cumsum(shares), QUANTILES)
    low, high = BETAS[np.minimum(ends, BETAS.size - 1)]
    return BetaEstimate(float(shares @ BETAS), float(low), float(high))


def likelihoods(surfaces: Iterable[Sequence[int]]) -> FloatArray:
    """Surfaces as likelihoods relative to the maximum of each, (n, s, b, r)."""
    shape = (len(STYLES), BETAS.size, RATES.size)
    rows = [np.reshape(one, (-1, *shape[1:])) for one in surfaces]
    return np.exp(np.array([np.broadcast_to(row, shape) for row in rows]) / RESOLUTION)


# The likelihood of a session


def log_likelihoods(observed: Observations) -> FloatArray:
    """Σ log P(answer_t) for every style, β, learning rate and guess rate, (s, b, r, g)."""
    at_once = max(1, MAX_LINKS // (RATES.size * max(len(observed), 1) ** 2))
    parts = [BETAS[start : start + at_once] for start in range(0, BETAS.size, at_once)]
    logits = np.concatenate([_logits(observed, betas) for betas in parts], axis=2)
    steps, k = np.arange(len(observed)), observed.k
    sums = []
    for style in STYLES:
        sharpened = _sharpened(logits, style.decades)
        if style.initial_spread:
            chances = _with_initial_beliefs(observed, sharpened, style.initial_spread)
        else:
            chances = softmax(sharpened, axis=1)
        said = chances[steps, observed.answers]
        sums.append([np.log(g / k + (1 - g) * said).sum(axis=0) for g in GUESS_RATES])
    return np.moveaxis(np.array(sums), 1, -1)


def _logits(observed: Observations, betas: FloatArray) -> FloatArray:
    """The beliefs of learners with these β before each step, (t, k, len(betas), r)."""
    decays, rates = (axis.ravel() for axis in np.meshgrid(betas, RATES, indexing="ij"))
    m = rates.size
    grid = Grid(rates, decays, np.full(m, GIVEN), np.full(m, 1 / m))
    logits = run_learners(observed, grid).logits.transpose(1, 2, 0)
    return np.ascontiguousarray(logits).reshape(len(observed), observed.k, betas.size, RATES.size)


def _sharpened(logits: FloatArray, decades: int) -> FloatArray:
    """The logits of answers that become deterministic at each rate, because beliefs follow at a slower one.

    Beliefs at rates below the grid are proportional to those at its slowest rate.
    """
    slower = np.maximum(np.arange(RATES.size) - RATES_PER_DECADE * decades, 0)
    return np.asarray(logits[..., slower] * (RATES / RATES[slower]))


def _with_initial_beliefs(
    observed: Observations, logits: FloatArray, initial_spread: float
) -> FloatArray:
    """P of each class, (t, k, b, r), for learners whose first concept is unknown.

    The answers before a step inform about it through their differences from what was expected. Lessons are those of a
    learner without initial beliefs.
    """
    t = len(observed)
    chances, surprises = np.empty(logits.shape), np.zeros((t, logits[:1].size))
    gains, damping = _kalman_gains(initial_spread**2 * observed.products[GIVEN])
    # Each of two classes takes half of the difference between them.
    gains /= 2
    for step, answer in enumerate(observed.answers.tolist()):
        shift = (gains[step, :step] @ surprises[:step]).reshape(logits[step].shape)
        chances[step] = softmax(damping[step] * (logits[step] + shift), axis=0)
        surprise = -chances[step]
        surprise[answer] += 1
        surprises[step] = surprise.ravel()
    return chances


def _kalman_gains(covariance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The gains (t, t) by which a surprise moves all initial log odds, and the damping of uncertain logits (t,).

    The initial log odds are normal with covariance C (t, t). The mean of a logistic function over them is close to one
    with its logits multiplied by c = 1/√(1 + πC_ss/8), and an answer moves the others' means by C_rs c per unit of
    surprise. C shrinks alike for all learners, so one matrix of gains serves the grid.
    """
    left, gains, damping = covariance.copy(), np.zeros(covariance.shape), np.empty(len(covariance))
    for step in range(len(covariance)):
        damping[step] = 1 / np.sqrt(1 + np.pi * left[step, step] / 8)
        gains[:, step] = left[:, step] * damping[step]
        left -= ANSWER_VARIANCE * np.outer(gains[:, step], gains[:, step])
    return gains, damping


# The distribution of β in a group


def estimate_group(people: Sequence[Iterable[Sequence[int]]]) -> GroupEstimate:
    """The distribution of β among one or more people, each with the surfaces of one or more tasks."""
    shapes = beta_distributions()
    total = np.zeros((len(shapes), len(style_distributions()) * len(rate_distributions())))
    for start in range(0, len(people), PEOPLE_AT_ONCE):
        total += _group_log_likelihoods(people[start : start + PEOPLE_AT_ONCE])
    weights = np.exp(total - total.max()).sum(axis=1)
    weights /= weights.sum()
    means = shapes @ BETAS
    # Quantiles of the mean, with half of every weight on either side of its value.
    order = np.argsort(means)
    below = np.cumsum(weights[order]) - weights[order] / 2
    low, high = np.interp(QUANTILES, below, means[order])
    shares = tuple((weights @ shapes).tolist())
    return GroupEstimate(len(people), float(weights @ means), float(low), float(high), shares)


def _group_log_likelihoods(people: Sequence[Iterable[Sequence[int]]]) -> FloatArray:
    """Σ log P(answers of a person) for each distribution of β and each pair of style and rate, (h, v·q)."""
    tasks = [list(surfaces) for surfaces in people]
    by_rate = likelihoods(one for own in tasks for one in own) @ rate_distributions().T
    by_task = np.einsum("vs,nsbq->nbvq", style_distributions(), by_rate)
    by_task = by_task.reshape(len(by_task), BETAS.size, -1)
    # The tasks of a person share β; each has a rate and a style of its own.
    starts = np.cumsum([0, *(len(own) for own in tasks[:-1])])
    by_person = np.add.reduceat(np.log(by_task), starts, axis=0)
    best = by_person.max(axis=(1, 2), keepdims=True)
    mixed = beta_distributions() @ np.exp(by_person - best)
    return np.asarray((np.log(mixed) + best).sum(axis=0))


@cache
def style_distributions() -> FloatArray:
    """Everybody in one of the styles, or in any, (v, s)."""
    s = len(STYLES)
    return np.vstack([np.eye(s), np.full(s, 1 / s)])


@cache
def rate_distributions() -> FloatArray:
    """Normal distributions of log η₀ on the grid, around each of its values, (q, r)."""
    logs = np.log(RATES)
    rows = [-((logs - mean) ** 2) / (2 * sd**2) for mean, sd in product(logs, RATE_DEVIATIONS)]
    return softmax(np.array(rows))


@cache
def beta_distributions() -> FloatArray:
    """The weights of the grid's β in the mean of a likelihood over each beta distribution, (h, b)."""
    return np.array([_on_grid(mean, kappa) for mean, kappa in product(GROUP_MEANS, CONCENTRATIONS)])


def _on_grid(mean: float, concentration: float) -> FloatArray:
    """The weights (b,) of one distribution: a β between two values counts for both, by linear interpolation.

    So means of distributions can be as close as needed, and the interval of a large group does not end at its mean.
    Beyond the last value the likelihood is constant.
    """
    first, second, edges = mean * concentration, (1 - mean) * concentration, np.append(BETAS, 1.0)
    inside = np.diff(betainc(first, second, edges))
    # ∫ β over each part of the range: β times a beta density is another one.
    moments = np.diff(mean * betainc(first + 1, second, edges))
    upward = (moments - BETAS * inside)[:-1] / np.diff(BETAS)
    weights = inside.copy()
    weights[:-1] -= upward
    weights[1:] += upward
    # Rounding may leave differences below 0.
    return np.maximum(weights, 0.0)
