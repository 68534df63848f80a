"""How the memory decay distributes among people, from the likelihoods of all of them together.

A single fit leans towards the middle of the grid, because thirty answers say little: the mean or the median of single
fits would say more about the grid than about people. And a fast learner of small β answers much like a slow one of
large β, so what is assumed about learning rates moves β. So does how firm answers are, and whether people begin with
opinions. All that is settled by the group: β has a beta distribution among its people, the logarithms of their learning
rates a normal one, and they answer all in one style, or each in any. How probable the answers of all people are
is worked out for a grid of such distributions, each as probable as any other at first; whatever they leave
undecided is in the interval of the mean.

Surfaces know the likelihood at few values of β. Between two of them it is taken to be a straight line, so that means of
distributions can lie as near to each other as they like, and the interval of a large group does not end at its mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
from scipy.special import betainc

from analysis.stats import Interval

from .decay import BETAS, ENDS, RATES, STYLES, likelihoods
from .engine.arrays import FloatArray

# How near to each other the means μ of β are.
FINE = 0.02
# κ of the beta distribution with the mean μ, of parameters μκ and (1 − μ)κ: from about everywhere to about alike.
CONCENTRATIONS = (2.0, 8.0, 40.0)
# Standard deviations of log η₀ among people: about alike, within a factor of e, and by orders of magnitude.
SPREADS = (0.4, 1.0, 2.0)
# People whose answers are worked out at once, so that any number of them fits into memory.
AT_ONCE = 40
# So many likelihoods of at least e⁻³⁰ can be multiplied: to take logarithms of each takes far longer.
MULTIPLIED = 8


@dataclass(frozen=True)
class Population:
    """The mean of β in a group with its 95 % interval, and the share of people expected at each β of the grid."""

    people: int
    mean: float
    interval: Interval
    shares: tuple[float, ...]

    @property
    def sd(self) -> float:
        beyond = (BETAS - np.dot(self.shares, BETAS)) ** 2
        return float(np.sqrt(np.dot(self.shares, beyond)))


def population(people: Sequence[Iterable[Sequence[int]]]) -> Population:
    """The distribution of β among one or more people, each with the surfaces of one task or more."""
    likely = _of_distributions(people).sum(axis=1)
    shapes = shapes_of_beta()
    means = shapes @ BETAS
    low, high = quantiles(means, likely, ENDS)
    shares = tuple((likely @ shapes).tolist())
    return Population(len(people), float(likely @ means), Interval(low, high), shares)


def quantiles(values: FloatArray, shares: FloatArray, at: Sequence[float]) -> list[float]:
    """Where shares of all reach each of some sums, half of every share on either side of its value."""
    order = np.argsort(values)
    below = np.cumsum(shares[order]) - shares[order] / 2
    ends: list[float] = np.interp(at, below, values[order]).tolist()
    return ends


def _of_distributions(people: Sequence[Iterable[Sequence[int]]]) -> FloatArray:
    """How probable each distribution of β is together with each of styles and rates, (h, v·q)."""
    total = np.zeros((len(shapes_of_beta()), len(shapes_of_style()) * len(shapes_of_rate())))
    for start in range(0, len(people), AT_ONCE):
        total += _log_likelihoods(people[start : start + AT_ONCE])
    likely = np.exp(total - total.max())
    return np.asarray(likely / likely.sum())


def _log_likelihoods(people: Sequence[Iterable[Sequence[int]]]) -> FloatArray:
    """Σ log P(answers of a person) under each of the distributions, (h, v·q)."""
    tasks = [list(surfaces) for surfaces in people]
    whose = np.repeat(np.arange(len(tasks)), [len(own) for own in tasks])
    by_task = _by_task(likelihoods(one for own in tasks for one in own))
    if len(by_task) == len(tasks):
        starts = range(0, len(tasks), MULTIPLIED)
        products = np.multiply.reduceat(shapes_of_beta() @ by_task, starts, axis=0)
        return np.asarray(np.log(products).sum(axis=0))
    # The tasks of a person have one β, and each a rate and a style of its own.
    by_person = np.zeros((len(tasks), *by_task.shape[1:]))
    np.add.at(by_person, whose, np.log(by_task))
    best = by_person.max(axis=(1, 2), keepdims=True)
    mixed = shapes_of_beta() @ np.exp(by_person - best)
    return np.asarray((np.log(mixed) + best).sum(axis=0))


def _by_task(likelihoods: FloatArray) -> FloatArray:
    """Likelihoods (n, s, b, r) as those of each β under the distributions of styles and rates, (n, b, v·q)."""
    by_rate = likelihoods @ shapes_of_rate().T
    by_both = np.einsum("vs,nsbq->nbvq", shapes_of_style(), by_rate)
    return np.asarray(by_both.reshape(*by_both.shape[:2], -1))


@cache
def shapes_of_style() -> FloatArray:
    """Everybody in one of the styles, or in any, (v, s)."""
    s = len(STYLES)
    return np.vstack([np.eye(s), np.full(s, 1 / s)])


@cache
def shapes_of_beta() -> FloatArray:
    """The weights of the values of the grid, (h, b), in the mean of a likelihood over beta distributions."""
    means = np.arange(FINE / 2, 1, FINE)
    return np.array([_on_grid(mean, all_) for mean, all_ in product(means, CONCENTRATIONS)])


def _on_grid(mean: float, concentration: float) -> FloatArray:
    """The weights (b,) of one distribution: a β between two values counts for both, for the nearer one more.

    That is exact for likelihoods that are straight between the values, β itself included; beyond the last value they
    stay as they are there.
    """
    first, second, edges = mean * concentration, (1 - mean) * concentration, np.append(BETAS, 1.0)
    inside = np.diff(betainc(first, second, edges))
    # ∫ β over each part of the range: β times a beta density is another one.
    moments = np.diff(mean * betainc(first + 1, second, edges))
    upward = (moments - BETAS * inside)[:-1] / np.diff(BETAS)
    weights = inside.copy()
    weights[:-1] -= upward
    weights[1:] += upward
    # Differences of what is all but 0 may be below it.
    return np.maximum(weights, 0.0)


@cache
def shapes_of_rate() -> FloatArray:
    """Normal distributions of log η₀ over the grid, (q, r), about each of its values."""
    logs = np.log(RATES)
    rows = np.array([-((logs - mid) ** 2) / (2 * sd**2) for mid, sd in product(logs, SPREADS)])
    shares = np.exp(rows)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))
