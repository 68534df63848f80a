"""The numbers behind the flags of one person, and the small calculations that several flags need."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
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
    keys: int = 2
    """How many classes there were to choose from."""
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


def streaks(answers: Sequence[int], lag: int) -> Iterator[Sequence[int]]:
    """Every longest stretch in which each answer repeats the one `lag` before it, with the first `lag` answers."""
    start = 0
    for place in range(lag, len(answers) + 1):
        if place == len(answers) or answers[place] != answers[place - lag]:
            if place - start > lag:
                yield answers[start:place]
            start = place - lag + 1


def longest_run(answers: Sequence[int]) -> int:
    """Of the same answer."""
    return max((len(stretch) for stretch in streaks(answers, 1)), default=min(len(answers), 1))


def longest_pattern(answers: Sequence[int], lag: int) -> Sequence[int]:
    """The longest stretch that goes round with this period and is not one answer all the time."""
    several = (stretch for stretch in streaks(answers, lag) if len(set(stretch)) > 1)
    return max(several, key=len, default=())


@lru_cache(maxsize=4096)
def chance_of_stretch(length: int, stretch: int, lag: int, keys: int) -> float:
    """The probability that somebody who presses one of k keys at random repeats the answer `lag` before for as long as
    this, exactly.

    Whether an answer repeats an earlier one is then a coin of its own, with one side in k: of the sequences of those
    coins, weighted by 1 and k − 1, the ones without so long a streak end in fewer repetitions after one that is none.
    """
    coins, streak = length - lag, stretch - lag
    if streak <= 0:
        return 1.0
    without = [keys**count for count in range(min(streak, coins + 1))]
    for count in range(len(without), coins + 1):
        without.append((keys - 1) * sum(without[count - streak : count]))
    every: int = keys ** max(coins, 0)
    chance: float = (every - without[-1]) / every
    return chance


@lru_cache(maxsize=4096)
def chance_of_at_least(right: int, answers: int, keys: int) -> float:
    """The probability that guesses among k keys are right so often or more: the one-sided binomial test, exactly."""
    ways = (
        comb(answers, count) * (keys - 1) ** (answers - count)
        for count in range(right, answers + 1)
    )
    every: int = keys**answers
    chance: float = sum(ways) / every
    return chance


def chance_of_at_most(right: int, answers: int, keys: int) -> float:
    return 1 - chance_of_at_least(right + 1, answers, keys)


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
