"""Shrinking a memory span towards the mean of other people: pure functions over numbers.

A span n̄ from two or three trials is uncertain. If a person's trial lengths are normal about the person's own mean, n̄
errs with the variance V = c·W, where W is the variance of one trial's length and c follows from the number of trials.
If the spans of people are normal with mean μ and variance B, the best guess at the person's span is

    n̂ = μ + B/(B + V) · (n̄ − μ)

μ, W and B are estimated from people who took the same test before, and from a prior that counts as much as ten of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .scoring import memory_span

# The prior: spans as in a rehearsal, and the reliability of a short test.
PRIOR_MEAN = 5.5
PRIOR_BETWEEN = 1.5**2
PRIOR_WITHIN = 1.5**2
# The weight of the prior: participants in the mean, degrees of freedom in each variance.
PRIOR_PEOPLE = 10

# The variance of the smallest of k independent standard normal numbers.
VARIANCE_OF_SMALLEST = {
    2: 0.681690113816, 3: 0.559467203797, 4: 0.491715236875, 5: 0.447534069021, 6: 0.415927108983,
    7: 0.391917776127, 8: 0.372897143287, 9: 0.357353326358, 10: 0.344343823261,
}  # fmt: skip

# How many people had which lengths in their trials.
Lengths = tuple[int, ...]
PeopleByLengths = Mapping[Lengths, int]


@dataclass(frozen=True)
class Shrinkage:
    """The numbers by which the span of one participant is shrunk, for a number of trials."""

    trials: int
    people: int
    """how many others it was estimated from"""
    mean: float
    within: float
    """W, the variance of a trial's length about its person's mean"""
    between: float
    """B, the variance of spans between people, without the uncertainty of each"""

    @property
    def weight(self) -> float:
        """The share of a person's distance from the mean that is kept, from 0 to 1."""
        uncertainty = span_variance(self.trials) * self.within
        return self.between / (self.between + uncertainty) if self.between else 0.0

    def shrunken(self, span: float) -> float:
        return self.mean + self.weight * (span - self.mean)


def span_variance(trials: int) -> float:
    """c: the variance of the mean of all of k independent standard normal numbers but the smallest.

    With the mean m of all and the smallest s it is the mean (k·m − s)/(k − 1). As m and s − m are independent, the
    covariance of m and s is the variance of m, 1/k, and c = (k − 2 + var s)/(k − 1)².
    """
    return (trials - 2 + VARIANCE_OF_SMALLEST[trials]) / (trials - 1) ** 2


def estimate_shrinkage(others: PeopleByLengths, trials: int) -> Shrinkage:
    """From the lengths of other people, all with this number of trials; from the prior alone if there are none."""
    people = sum(others.values())
    total = sum(count * memory_span(lengths) for lengths, count in others.items())
    within = _within(others, people * (trials - 1))
    spread = _spread(others, total / people if people else 0.0, people, trials)
    return Shrinkage(
        trials=trials,
        people=people,
        mean=(PRIOR_PEOPLE * PRIOR_MEAN + total) / (PRIOR_PEOPLE + people),
        within=within,
        between=max(0.0, spread - span_variance(trials) * within),
    )


def _within(others: PeopleByLengths, freedom: int) -> float:
    """The variance of trial lengths about the mean of their person, pooled over people and prior."""
    squares = sum(count * _squares(lengths) for lengths, count in others.items())
    return (PRIOR_PEOPLE * PRIOR_WITHIN + squares) / (PRIOR_PEOPLE + freedom)


def _spread(others: PeopleByLengths, mean: float, people: int, trials: int) -> float:
    """The variance of measured spans about their mean, pooled over people and prior."""
    expected = PRIOR_BETWEEN + span_variance(trials) * PRIOR_WITHIN
    squares = sum(count * (memory_span(lengths) - mean) ** 2 for lengths, count in others.items())
    return (PRIOR_PEOPLE * expected + squares) / (PRIOR_PEOPLE + max(people - 1, 0))


def _squares(lengths: Sequence[int]) -> float:
    mean = sum(lengths) / len(lengths)
    return sum((length - mean) ** 2 for length in lengths)
