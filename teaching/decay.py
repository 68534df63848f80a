"""The memory decay of a learner, as the answers alone have it.

The learner is the paper's, who now and then guesses. Beside β nobody knows the learning rate, which differs between
people by orders of magnitude, how often answers are guesses, nor how firm they are: some people draw their answers as
the paper has it, others always say what they find likelier, and some begin with opinions of their own. Whoever takes
firm answers for drawn ones finds a β near 1, whatever it is. The likelihood of the answers is worked out on a wide grid
of all that, and averaged over guesses: what is left is a surface over styles of answering, β and rates. With every
point of it as probable as any other at first, a surface gives β its mean and its interval. Surfaces of several tasks
speak of one β together, and those of many people of how β distributes among them (`teaching.population`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from .engine import LearningRate, Pool, Shown
from .engine.arrays import FloatArray
from .engine.bank import Seen
from .engine.bank.base import GIVEN, softmax
from .engine.bank.concept import Grid, follow_grid
from .engine.history import Past

BETAS = np.round(np.arange(0, 0.9501, 0.05), 2)
# Learning rates η₀ where examples have the length 1, and how many of them make a factor of ten. Where answers are
# firmer than beliefs, these are rates at which answers become firm: while little is known, answers tell nothing else.
RATES = np.geomspace(0.05, 50, 13)
PER_TENFOLD = 4
# How often an answer may be a guess.
GUESSES = np.array([0.02, 0.1, 0.3])
# p(1 − p) of a typical answer.
VARIANCE = 0.2
# Where the central 95 % of what is probable begin and end. The statistics of the analysis have such a number, too; they
# take a second to load, and a worker's answer waits for this module.
ENDS = (0.025, 0.975)
# Links between steps that are held at once, so that a session of any length fits into memory.
MOST_LINKS = 250_000
# Of one nat, in the whole numbers of a surface, and how many nats below the best make no difference any more.
STEPS, LOWEST = 100, 30.0

# The log likelihood of a session by style, β and learning rate, the rate changing fastest, less that of the likeliest:
# in hundredths, so that it is short in a database and gives the same β wherever it is read. Sessions that were fitted
# before styles were told apart have that of drawn answers alone, which then stands for every style.
Surface = tuple[int, ...]


@dataclass(frozen=True)
class Style:
    """How a learner answers.

    tenfold: how many times answers are firmer than beliefs by a factor of ten; opinions: how far the learner leans to
    one of two classes before the first lesson, as a standard deviation of the log odds of answers.
    """

    tenfold: int = 0
    opinions: float = 0.0


# As the paper has it, and firmer up to nearly always the likelier class; opinions matter most to firm answers.
STYLES = (Style(), Style(tenfold=1), Style(tenfold=2), Style(tenfold=2, opinions=10.0))


@dataclass(frozen=True)
class Decay:
    """What answers say about β: its mean if all values were as probable at first, and its central 95 % interval."""

    beta: float
    low: float
    high: float

    @property
    def tells_nothing(self) -> bool:
        return says_nothing(self.low, self.high)


@dataclass(frozen=True)
class Fit(Decay):
    """The decay of one session, with its learning rate and how far the answers prefer this learner to a coin.

    rate: η₀ where examples have the length 1, if answers are as firm as beliefs, and else the rate at which answers
    become firm: the geometric mean by how probable each is; rate_factor: the same in
    units of the rate that the study assumes; gain: the log likelihood, averaged over the grid, less that of guessing,
    in nats.
    """

    surface: Surface
    rate: float
    rate_factor: float
    gain: float


def says_nothing(low: float, high: float) -> bool:
    """Whether the answers leave every β about as plausible, so that the interval holds the whole grid."""
    return (low, high) == (float(BETAS[0]), float(BETAS[-1]))


def fit_session(pool: Pool, history: Sequence[Shown], rate: LearningRate) -> Fit:
    """The fit to what was shown and answered in a session; of `rate` the schedule alone has a part in β."""
    return fit_decay(Seen.of(pool, Past.read(history, pool), 0.0, rate))


def fit_decay(seen: Seen) -> Fit:
    """The fit to a history as the models of the bank see it; which β it assumes has no part in it."""
    every = log_likelihoods(seen)
    by_style = logsumexp(every, axis=3)
    total = float(logsumexp(by_style))
    surface = _stored(by_style)
    found = together([surface])
    rate = float(np.exp(np.exp(logsumexp(by_style, axis=(0, 1)) - total) @ np.log(RATES)))
    return Fit(
        found.beta,
        found.low,
        found.high,
        surface=surface,
        rate=rate,
        rate_factor=rate / (seen.learning_rate.initial * seen.spaces.given.square),
        gain=total - float(np.log(every.size)) + len(seen) * float(np.log(seen.k)),
    )


def together(surfaces: Iterable[Sequence[int]]) -> Decay:
    """One β for the tasks of a person, each of which may have a learning rate of its own."""
    by_beta = np.log(likelihoods(surfaces).mean(axis=(1, 3))).sum(axis=0)
    shares = np.exp(by_beta - by_beta.max())
    shares /= shares.sum()
    ends = np.searchsorted(np.cumsum(shares), ENDS)
    low, high = BETAS[np.minimum(ends, BETAS.size - 1)]
    return Decay(float(shares @ BETAS), float(low), float(high))


def likelihoods(surfaces: Iterable[Sequence[int]]) -> FloatArray:
    """Surfaces as likelihoods, each in units of its largest, (n, s, b, r)."""
    shape = (len(STYLES), BETAS.size, RATES.size)
    rows = [np.reshape(one, (-1, *shape[1:])) for one in surfaces]
    return np.exp(np.array([np.broadcast_to(row, shape) for row in rows]) / STEPS)


def log_likelihoods(seen: Seen) -> FloatArray:
    """Σ log P(answer_t) for every style, β, learning rate and share of guesses, (s, b, r, g)."""
    at_once = max(1, MOST_LINKS // (RATES.size * max(len(seen), 1) ** 2))
    parts = [BETAS[start : start + at_once] for start in range(0, BETAS.size, at_once)]
    logits = np.concatenate([_logits(seen, betas) for betas in parts], axis=2)
    every = [_said(seen, logits, style) for style in STYLES]
    sums = [
        [np.log(guess / seen.k + (1 - guess) * said).sum(axis=0) for guess in GUESSES]
        for said in every
    ]
    return np.moveaxis(np.array(sums), 1, -1)


def _logits(seen: Seen, betas: FloatArray) -> FloatArray:
    """What learners of some β without opinions believed before each step, (t, k, len(betas), r)."""
    decays, rates = (axis.ravel() for axis in np.meshgrid(betas, RATES, indexing="ij"))
    m = rates.size
    grid = Grid(rates, decays, np.full(m, GIVEN), np.full(m, 1 / m))
    logits = follow_grid(seen, grid).logits.transpose(1, 2, 0)
    return np.ascontiguousarray(logits).reshape(len(seen), seen.k, betas.size, RATES.size)


def _said(seen: Seen, logits: FloatArray, style: Style) -> FloatArray:
    """How probable learners of a style find what was said at each step, (t, b, r)."""
    firm = _firmer(logits, style.tenfold)
    chances = (
        _with_opinions(seen, firm, style.opinions) if style.opinions else softmax(firm, axis=1)
    )
    return np.asarray(chances[np.arange(len(seen)), seen.answers])


def _firmer(logits: FloatArray, tenfold: int) -> FloatArray:
    """The logits of answers that become firm at each rate, because beliefs do at a slower one.

    Beliefs that are slower than the slowest of the grid are in proportion to its own.
    """
    slower = np.maximum(np.arange(RATES.size) - PER_TENFOLD * tenfold, 0)
    return np.asarray(logits[..., slower] * (RATES / RATES[slower]))


def _with_opinions(seen: Seen, logits: FloatArray, opinions: float) -> FloatArray:
    """How probable learners find each class, (t, k, b, r), if their first concept is unknown.

    What is known of it before a step comes from how the answers until then differed from what was expected. Lessons are
    taken to be those of a learner without opinions.
    """
    chances, surprises = np.empty(logits.shape), np.zeros((len(seen), logits[:1].size))
    gains, damping = _opinion_gains(opinions**2 * seen.among.plain[GIVEN])
    # Of a difference between two classes, either takes half.
    gains /= 2
    for step, said in enumerate(seen.said):
        leaning = (gains[step, :step] @ surprises[:step]).reshape(logits[step].shape)
        chances[step] = softmax(damping[step] * (logits[step] + leaning), axis=0)
        surprises[step] = (said[:, None, None] - chances[step]).ravel()
    return chances


def _opinion_gains(covariance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """By how much a surprise moves what is expected of all opinions (t, t), and what doubt leaves of logits (t,).

    Opinions have a normal distribution with a covariance C (t, t) of log odds. A mean of logistic functions over it is
    nearly one with logits c = 1/√(1 + πC_ss/8) as large, and an answer moves the mean of the others by C_rs c per unit
    of surprise. C shrinks by the same for all learners, so that one matrix of gains serves the grid.
    """
    left, gains, damping = covariance.copy(), np.zeros(covariance.shape), np.empty(len(covariance))
    for step in range(len(covariance)):
        damping[step] = 1 / np.sqrt(1 + np.pi * left[step, step] / 8)
        gains[:, step] = left[:, step] * damping[step]
        left -= VARIANCE * np.outer(gains[:, step], gains[:, step])
    return gains, damping


def _stored(log_likelihoods: FloatArray) -> Surface:
    below = np.maximum(log_likelihoods - log_likelihoods.max(), -LOWEST)
    return tuple(np.rint(STEPS * below).astype(int).ravel().tolist())
