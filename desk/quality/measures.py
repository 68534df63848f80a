"""The numbers behind the flags of one person, and the small calculations that several flags need."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, pairwise
from math import comb


@dataclass(frozen=True)
class RoundTimes:
    """A memory round, in milliseconds. What the device did not report is None."""

    planned: float
    """How long the pictures were to be shown."""
    took: float
    """From the reply that carried the order to the answer, by the server's clock."""
    shown: float | None = None
    """How long they were shown, by the worker's device."""
    is_practice: bool = False

    @property
    def is_early(self) -> bool:
        """Whether it was answered before the pictures can have been shown for as long as planned."""
        return self.took < self.planned


@dataclass(frozen=True)
class Claim:
    """What the worker's device says an answer took, and how long the server waited for it: milliseconds.

    The server's interval begins before the task is sent and ends after the answer has arrived. Fetching ahead, sending
    again after a lost reply, a reload and a second tab only make it longer, so no honest time exceeds it.
    """

    claimed: float
    seen: float


@dataclass(frozen=True)
class Pace:
    """All of a session so far, in seconds."""

    taken: float
    """From consent to the last answer, by the server's clock."""
    expected: float
    """What the study's estimate allows for the tasks that were answered, without reading."""


@dataclass(frozen=True)
class Behaviour:
    """The numbers behind the flags of one person."""

    times_ms: Sequence[float] = ()
    """Response times in teaching and test."""
    answers: Sequence[int] = ()
    """The classes chosen in the test, in order, without attention checks."""
    taught: Sequence[bool] = ()
    """Whether each answer in teaching was right, in order."""
    tested: Sequence[bool] = ()
    """The same of the test, without attention checks."""
    gaps_s: Sequence[float] = ()
    """Between one answer and the next, by the server's clock."""
    hidden_s: Sequence[float] = ()
    """How long the page was out of view, each time."""
    rounds: Sequence[RoundTimes] = ()
    """Memory rounds, practice included."""
    claims: Sequence[Claim] = ()
    """Every answer with a time by the worker's device."""
    pace: Pace | None = None
    checks: Sequence[bool] = ()
    """Attention checks: whether each was passed."""
    elsewhere: Sequence[str] = ()
    """Other sessions of the same recruiter's id: where each was."""


def longest_run(answers: Iterable[int]) -> int:
    return max((sum(1 for _ in run) for _, run in groupby(answers)), default=0)


@lru_cache(maxsize=1024)
def chance_of_run(flips: int, run: int) -> float:
    """The probability that fair coin flips have a run of this length or longer, exactly.

    Sequences without one are the ways to write `flips` as an ordered sum of parts smaller than `run`, each twice: once
    for either side of the first coin.
    """
    if run <= 1 or flips == 0:
        return 1.0
    ways = [1]
    for length in range(1, flips + 1):
        ways.append(sum(ways[max(0, length - run + 1) : length]))
    every: int = 2**flips
    return (every - 2 * ways[flips]) / every


@lru_cache(maxsize=4096)
def chance_of_at_least(heads: int, flips: int) -> float:
    """The probability that fair coin flips give this many heads or more: the one-sided binomial test, exactly."""
    every: int = 2**flips
    return sum(comb(flips, count) for count in range(heads, flips + 1)) / every


def gaps(moments: Sequence[float]) -> list[float]:
    """The times between moments, in seconds."""
    return [after - before for before, after in pairwise(moments)]


def hidden_times(events: Iterable[tuple[bool, float]]) -> list[float]:
    """How long the page was out of view, each time, from (is now hidden, moment) in order. A page that was left and
    never seen again is no absence: nobody knows how long it was."""
    times, since = [], None
    for is_hidden, moment in events:
        if is_hidden:
            since = moment if since is None else since
        elif since is not None:
            times.append(moment - since)
            since = None
    return times
