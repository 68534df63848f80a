"""How the memory decay distributes among people, from the likelihoods of all of them together.

A single fit leans towards the middle of the grid, because thirty answers say little: the mean or the median of single
fits would say more about the grid than about people. And a fast learner of small β answers much like a slow one of
large β, so what is assumed about learning rates moves β. Both are settled by the group: β has a beta distribution
among its people, and the logarithms of their learning rates a normal one. How probable the answers of all people are
is worked out for a grid of such distributions, each as probable as any other at first; whatever they leave
undecided is in the interval of the mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
from scipy.special import betainc

from analysis.stats import Interval

from .decay import BETAS, ENDS, RATES, likelihoods
from .engine.arrays import FloatArray

# κ of the beta distribution with the mean μ, of parameters μκ and (1 − μ)κ: from about everywhere to about alike.
CONCENTRATIONS = (2.0, 8.0, 40.0)
# Standard deviations of log η₀ among people: about alike, within a factor of e, and by orders of magnitude.
SPREADS = (0.4, 1.0, 2.0)
# People whose answers are worked out at once, so that any number of them fits into memory.
AT_ONCE = 200


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
    order = np.argsort(means)
    places = np.minimum(np.searchsorted(np.cumsum(likely[order]), ENDS), order.size - 1)
    low, high = means[order][places].tolist()
    shares = tuple((likely @ shapes).tolist())
    return Population(len(people), float(likely @ means), Interval(low, high), shares)


def _of_distributions(people: Sequence[Iterable[Sequence[int]]]) -> FloatArray:
    """How probable each distribution of β is together with each of the rates, (h, q)."""
    total = np.zeros((len(shapes_of_beta()), len(shapes_of_rate())))
    for start in range(0, len(people), AT_ONCE):
        total += _log_likelihoods(people[start : start + AT_ONCE])
    likely = np.exp(total - total.max())
    return np.asarray(likely / likely.sum())


def _log_likelihoods(people: Sequence[Iterable[Sequence[int]]]) -> FloatArray:
    """Σ log P(answers of a person) under each pair of distributions, (h, q)."""
    tasks = [list(surfaces) for surfaces in people]
    whose = np.repeat(np.arange(len(tasks)), [len(own) for own in tasks])
    by_task = likelihoods(one for own in tasks for one in own) @ shapes_of_rate().T
    if len(by_task) == len(tasks):
        return np.asarray(np.log(shapes_of_beta() @ by_task).sum(axis=0))
    # The tasks of a person have one β, and each a rate of its own.
    by_person = np.zeros((len(tasks), *by_task.shape[1:]))
    np.add.at(by_person, whose, np.log(by_task))
    best = by_person.max(axis=(1, 2), keepdims=True)
    mixed = shapes_of_beta() @ np.exp(by_person - best)
    return np.asarray((np.log(mixed) + best).sum(axis=0))


@cache
def shapes_of_beta() -> FloatArray:
    """Beta distributions over the grid, (h, b): each value stands for those up to the next."""
    width = 1 / BETAS.size
    means = np.arange(BETAS.size) * width + width / 2
    edges = np.linspace(0, 1, BETAS.size + 1)
    rows = [
        np.diff(betainc(mean * all_, (1 - mean) * all_, edges))
        for mean, all_ in product(means, CONCENTRATIONS)
    ]
    return np.array(rows)


@cache
def shapes_of_rate() -> FloatArray:
    """Normal distributions of log η₀ over the grid, (q, r), about each of its values."""
    logs = np.log(RATES)
    rows = np.array([-((logs - mid) ** 2) / (2 * sd**2) for mid, sd in product(logs, SPREADS)])
    shares = np.exp(rows)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))
