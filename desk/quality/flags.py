"""Quality flags: what is odd about a session, in numbers. A flag explains itself and decides nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, pairwise
from statistics import median

from analysis.charts.words import NBSP, seconds, share

# Within this time of the picture, hardly anybody can have seen it and chosen.
FAST_MS = 300
FAST_SHARE = 0.1
# A run of identical answers that fair coins show in fewer than this share of all tests.
RUN_CHANCE = 0.001
ABSENCE_S = 300
EXPOSURE_MS = 250


@dataclass(frozen=True)
class Behaviour:
    """The numbers behind the flags of one person."""

    times_ms: Sequence[float] = ()
    """Response times in teaching and test."""
    answers: Sequence[int] = ()
    """The classes chosen in the test, in order, without attention checks."""
    gaps_s: Sequence[float] = ()
    """Between one answer and the next, by the server's clock."""
    hidden_s: Sequence[float] = ()
    """How long the page was out of view, each time."""
    exposures: Sequence[tuple[float, float]] = ()
    """Memory rounds that count: (shown, planned) in milliseconds."""
    checks: Sequence[bool] = ()
    """Attention checks: whether each was passed."""
    elsewhere: Sequence[str] = ()
    """Other sessions of the same recruiter's id: where each was."""


@dataclass(frozen=True)
class Rule:
    """One kind of flag. `numbers` gives the numbers behind it in words, or nothing if there is no flag."""

    key: str
    title: str
    meaning: str
    numbers: Callable[[Behaviour], str]


@dataclass(frozen=True)
class Flag:
    rule: Rule
    numbers: str


def flags_of(behaviour: Behaviour) -> tuple[Flag, ...]:
    found = ((rule, rule.numbers(behaviour)) for rule in RULES)
    return tuple(Flag(rule, numbers) for rule, numbers in found if numbers)


# Too fast


def too_fast(behaviour: Behaviour) -> str:
    times = behaviour.times_ms
    fast = sum(time < FAST_MS for time in times)
    if not times or fast < FAST_SHARE * len(times):
        return ""
    return (
        f"{fast} of {len(times)} answers within {FAST_MS}{NBSP}ms ({share(fast / len(times), 0)}); "
        f"median {median(times):.0f}{NBSP}ms."
    )


# The same key


def same_key(behaviour: Behaviour) -> str:
    run, length = longest_run(behaviour.answers), len(behaviour.answers)
    chance = chance_of_run(length, run)
    if chance >= RUN_CHANCE:
        return ""
    return (
        f"{run} identical answers in a row, of {length}; chance with a fair coin {_small(chance)}."
    )


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


# Long absences


def long_absence(behaviour: Behaviour) -> str:
    gap, hidden = max(behaviour.gaps_s, default=0.0), max(behaviour.hidden_s, default=0.0)
    if max(gap, hidden) < ABSENCE_S:
        return ""
    times = len(behaviour.hidden_s)
    left = f"; page left {_times(times)}, longest {_minutes(hidden)}" if times else ""
    return f"Longest time between two answers {_minutes(gap)}{left}."


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


# Exposure


def odd_exposure(behaviour: Behaviour) -> str:
    odd = [
        (shown, planned)
        for shown, planned in behaviour.exposures
        if abs(shown - planned) > EXPOSURE_MS
    ]
    if not odd:
        return ""
    shown, planned = max(odd, key=lambda round_: abs(round_[0] - round_[1]))
    return (
        f"{len(odd)} of {len(behaviour.exposures)} rounds; the worst was shown for "
        f"{seconds(shown)} instead of {seconds(planned)}."
    )


# Attention checks and repetition


def failed_checks(behaviour: Behaviour) -> str:
    failed = sum(not passed for passed in behaviour.checks)
    return f"{failed} of {len(behaviour.checks)} failed." if failed else ""


def repeated(behaviour: Behaviour) -> str:
    return f"Also in {', '.join(behaviour.elsewhere)}." if behaviour.elsewhere else ""


# Words


def _small(chance: float) -> str:
    return f"{chance:.1g}" if chance >= 1e-6 else "below one in a million"


def _minutes(duration_s: float) -> str:
    return f"{duration_s / 60:.1f}{NBSP}min"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


RULES = (
    Rule(
        "fast",
        "Too fast",
        f"At least {share(FAST_SHARE, 0)} of the answers in teaching and test came within {FAST_MS} ms of the picture, "
        "sooner than most people can look and choose.",
        too_fast,
    ),
    Rule(
        "run",
        "Same key in a row",
        "The longest run of identical answers in the test is one that fair coin flips would reach in fewer than 1 of "
        "1,000 tests of this length. About 1 of 1,000 honest people is flagged.",
        same_key,
    ),
    Rule(
        "absence",
        "Long absence",
        f"At least {ABSENCE_S // 60} minutes passed between two answers, or the page was out of view for that long. "
        "What was taught before may have been forgotten.",
        long_absence,
    ),
    Rule(
        "exposure",
        "Exposure not as planned",
        f"Pictures of the memory test were visible more than {EXPOSURE_MS} ms shorter or longer than planned, as "
        "measured by the worker’s device: a slow device, a page that was left, or a manipulated one.",
        odd_exposure,
    ),
    Rule(
        "checks",
        "Failed attention check",
        "An attention check asked for one class, and the other was chosen. Anybody can slip once.",
        failed_checks,
    ),
    Rule(
        "repeated",
        "Took part before",
        "The same recruiter’s id also took part in another study on this server, or in the pilot or a preview of this "
        "one, and gave consent there.",
        repeated,
    ),
)
