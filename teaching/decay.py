"""The memory decay of a learner, as the answers alone have it.

The learner is the paper's, who starts at W = 0 and now and then guesses. Beside β nobody knows the learning rate, which
differs between people by orders of magnitude, nor how often answers are guesses. The likelihood of the answers is
worked out on a wide grid of all three, and averaged over the guesses: what is left is a surface over β and rates.
With every point of it as probable as any other at first, a surface gives β its mean and its interval. Surfaces of
several tasks speak of one β together, and those of many people of how β distributes among them (`teaching.population`).
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
# Learning rates η₀ where examples have the length 1.
RATES = np.geomspace(0.05, 50, 13)
# How often an answer may be a guess.
GUESSES = np.array([0.02, 0.1, 0.3])
# Where the central 95 % of what is probable begin and end. The statistics of the analysis have such a number, too; they
# take a second to load, and a worker's answer waits for this module.
ENDS = (0.025, 0.975)
# Links between steps that are held at once, so that a session of any length fits into memory.
MOST_LINKS = 250_000
# Of one nat, in the whole numbers of a surface, and how many nats below the best make no difference any more.
STEPS, LOWEST = 100, 30.0

# The log likelihood of a session by β and by learning rate, the rate changing fastest, less that of the likeliest: in
# hundredths, so that it is short in a database and gives the same β wherever it is read.
Surface = tuple[int, ...]


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

    rate: η₀ where examples have the length 1, the geometric mean by how probable each is; rate_factor: the same in
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
    by_both = logsumexp(every, axis=2)
    total = float(logsumexp(by_both))
    surface = _stored(by_both)
    found = together([surface])
    rate = float(np.exp(np.exp(logsumexp(by_both, axis=0) - total) @ np.log(RATES)))
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
    by_beta = np.log(likelihoods(surfaces).mean(axis=2)).sum(axis=0)
    shares = np.exp(by_beta - by_beta.max())
    shares /= shares.sum()
    ends = np.searchsorted(np.cumsum(shares), ENDS)
    low, high = BETAS[np.minimum(ends, BETAS.size - 1)]
    return Decay(float(shares @ BETAS), float(low), float(high))


def likelihoods(surfaces: Iterable[Sequence[int]]) -> FloatArray:
    """Surfaces as likelihoods, each in units of its largest, (s, b, r)."""
    rows = np.array(list(surfaces), dtype=np.float64)
    return np.exp(rows.reshape(-1, BETAS.size, RATES.size) / STEPS)


def log_likelihoods(seen: Seen) -> FloatArray:
    """Σ log P(answer_t) for every β, learning rate and share of guesses, (b, r, g)."""
    at_once = max(1, MOST_LINKS // (RATES.size * max(len(seen), 1) ** 2))
    parts = [BETAS[start : start + at_once] for start in range(0, BETAS.size, at_once)]
    said = np.concatenate([_said(seen, betas) for betas in parts])
    sums = [np.log(guess / seen.k + (1 - guess) * said).sum(axis=2) for guess in GUESSES]
    return np.stack(sums, axis=2)


def _said(seen: Seen, betas: FloatArray) -> FloatArray:
    """How probable learners of some β find what was said at each step, (len(betas), r, t)."""
    decays, rates = (axis.ravel() for axis in np.meshgrid(betas, RATES, indexing="ij"))
    m = rates.size
    grid = Grid(rates, decays, np.full(m, GIVEN), np.full(m, 1 / m))
    chances = softmax(follow_grid(seen, grid).logits)
    said = chances[:, np.arange(len(seen)), seen.answers]
    return np.asarray(said.reshape(betas.size, RATES.size, len(seen)))


def _stored(log_likelihoods: FloatArray) -> Surface:
    below = np.maximum(log_likelihoods - log_likelihoods.max(), -LOWEST)
    return tuple(np.rint(STEPS * below).astype(int).ravel().tolist())
