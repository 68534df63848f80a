"""Quality flags: what is unusual about a session, in numbers. A flag explains itself and decides nothing.

A strong flag is something that the participant's page cannot do or that no person can do: a program answered, or a
clock was manipulated. The others happen to honest participants too. docs/researchers.md says how often, according to
published experiments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import pairwise
from math import comb
from statistics import median

from analysis.charts.formatting import NBSP, seconds, share

# Hardly anybody can have seen a picture and chosen a class within this time.
FAST_MS = 300
MIN_FAST_SHARE = 0.1
# A run or a pattern of answers is flagged if random answers show it in a smaller share of tests.
RUN_CHANCE = 0.001
MIN_ABSENCE_S = 300
# The tolerance of display times.
EXPOSURE_MS = 250
# The tolerance of reported times: clocks run at different speeds, and a server's clock is adjusted.
CLOCK_MS = 250
MIN_IMPOSSIBLE = 2
# The share of the estimated time below which no person can look, choose and restore the order of pictures.
MIN_PACE = 0.2
# The level of the one-sided binomial test against guessing.
GUESSING_LEVEL = 0.05
# A test result below chance is flagged if guessing reaches it in a smaller share of tests.
INVERTED_LEVEL = 0.001
# Less teaching or a shorter test says too little about learning.
MIN_ANSWERS = 20


# Behaviour


@dataclass(frozen=True)
class RoundTimes:
    """A memory round, in milliseconds. None is what the device did not report."""

    planned: float
    """The planned display time."""
    took: float
    """From the reply with the order to the answer, by the server's clock."""
    shown: float | None = None
    """The display time that the device reported."""
    is_practice: bool = False

    @property
    def is_early(self) -> bool:
        """Whether it was answered before the display can have ended."""
        return self.took < self.planned


@dataclass(frozen=True)
class ReportedTime:
    """A response time that the device reported, and how long the server waited, in milliseconds.

    The server's interval begins before the task is sent and ends after the answer has arrived. Prefetching, a retry
    after a lost reply, a reload and a second tab only make it longer, so no honest time exceeds it.
    """

    reported: float
    waited: float


@dataclass(frozen=True)
class Pace:
    """The duration of a session so far, in seconds."""

    taken: float
    """From consent to the last answer, by the server's clock."""
    expected: float
    """The study's estimate for the answered tasks, without reading."""


@dataclass(frozen=True)
class Behaviour:
    """The numbers behind the flags of one participant."""

    times_ms: Sequence[float] = ()
    """Response times in teaching and test."""
    keys: int = 2
    """The number of classes to choose from."""
    answers: Sequence[int] = ()
    """The classes chosen in the test, in order, without attention checks."""
    taught: Sequence[bool] = ()
    """Whether each answer in teaching was correct, in order."""
    tested: Sequence[bool] = ()
    """The same for the test, without attention checks."""
    gaps_s: Sequence[float] = ()
    """Between one answer and the next, by the server's clock."""
    hidden_s: Sequence[float] = ()
    """How long the page was out of view, each time."""
    rounds: Sequence[RoundTimes] = ()
    """Memory rounds, including practice."""
    reported: Sequence[ReportedTime] = ()
    """Every answer with a time reported by the device."""
    pace: Pace | None = None
    checks: Sequence[bool] = ()
    """Whether each attention check was passed."""
    elsewhere: Sequence[str] = ()
    """The other sessions of the same platform id."""


def gaps(moments: Sequence[datetime]) -> list[float]:
    """The times between moments, in seconds."""
    return [(after - before).total_seconds() for before, after in pairwise(moments)]


def hidden_times(events: Iterable[tuple[bool, datetime]]) -> list[float]:
    """How long the page was out of view each time, from (is now hidden, moment) in order.

    A page that was left and never seen again does not count, because its duration is unknown.
    """
    times: list[float] = []
    since: datetime | None = None
    for is_hidden, moment in events:
        if is_hidden:
            since = since or moment
        elif since is not None:
            times.append((moment - since).total_seconds())
            since = None
    return times


# Runs, patterns and chance


def streaks(answers: Sequence[int], lag: int) -> Iterator[Sequence[int]]:
    """Every maximal stretch in which each answer repeats the one `lag` before it, with the first `lag` answers."""
    start = 0
    for place in range(lag, len(answers) + 1):
        if place == len(answers) or answers[place] != answers[place - lag]:
            if place - start > lag:
                yield answers[start:place]
            start = place - lag + 1


def longest_run(answers: Sequence[int]) -> int:
    """The length of the longest run of one answer."""
    return max((len(stretch) for stretch in streaks(answers, 1)), default=min(len(answers), 1))


def longest_pattern(answers: Sequence[int], lag: int) -> Sequence[int]:
    """The longest stretch with this period that is not a run of one answer."""
    several = (stretch for stretch in streaks(answers, lag) if len(set(stretch)) > 1)
    return max(several, key=len, default=())


@lru_cache(maxsize=4096)
def chance_of_stretch(length: int, stretch: int, lag: int, keys: int) -> float:
    """The exact probability that random answers among k keys have such a stretch of at least this length.

    Whether an answer repeats an earlier one is then an independent Bernoulli trial with p = 1/k. The recursion counts
    the sequences of trials without so long a streak, weighted by 1 and k − 1.
    """
    trials, streak = length - lag, stretch - lag
    if streak <= 0:
        return 1.0
    without = [keys**count for count in range(min(streak, trials + 1))]
    for count in range(len(without), trials + 1):
        without.append((keys - 1) * sum(without[count - streak : count]))
    total: int = keys ** max(trials, 0)
    chance: float = (total - without[-1]) / total
    return chance


@lru_cache(maxsize=4096)
def chance_of_at_least(correct: int, answers: int, keys: int) -> float:
    """The exact upper tail of the binomial distribution with p = 1/k. SciPy would take a second to load."""
    ways = (
        comb(answers, count) * (keys - 1) ** (answers - count)
        for count in range(correct, answers + 1)
    )
    total: int = keys**answers
    chance: float = sum(ways) / total
    return chance


def chance_of_at_most(correct: int, answers: int, keys: int) -> float:
    return 1 - chance_of_at_least(correct + 1, answers, keys)


# Rules: each returns the numbers behind its flag, or an empty string


@dataclass(frozen=True)
class Rule:
    """One kind of flag."""

    key: str
    title: str
    meaning: str
    numbers: Callable[[Behaviour], str]
    is_strong: bool = False

    @property
    def strength(self) -> str:
        return "strong" if self.is_strong else "look at"


@dataclass(frozen=True)
class Flag:
    rule: Rule
    numbers: str


def flags_of(behaviour: Behaviour) -> tuple[Flag, ...]:
    flags = (Flag(rule, rule.numbers(behaviour)) for rule in RULES)
    return tuple(flag for flag in flags if flag.numbers)


def answered_early(behaviour: Behaviour) -> str:
    """A page that was left or reloaded during the display continues with the recall, and reports the shorter display.

    Once, that is an accident, and only the flag for the display time reports it.
    """
    early = [one for one in behaviour.rounds if one.is_early]
    explained = [one for one in early if one.shown is not None and one.shown <= one.took]
    if not early or len(early) == len(explained) == 1:
        return ""
    worst = min(early, key=lambda one: one.took / one.planned)
    return (
        f"{len(early)} of {len(behaviour.rounds)} rounds; the worst was answered "
        f"{seconds(worst.took)} after a display of {seconds(worst.planned)} began."
    )


def impossible_times(behaviour: Behaviour) -> str:
    beyond = [one for one in behaviour.reported if one.reported > one.waited + CLOCK_MS]
    if len(beyond) < MIN_IMPOSSIBLE:
        return ""
    worst = max(beyond, key=lambda one: one.reported - one.waited)
    return (
        f"{len(beyond)} of {len(behaviour.reported)} answers; the worst reports {seconds(worst.reported)}, "
        f"but the server waited {seconds(worst.waited)}."
    )


def too_short(behaviour: Behaviour) -> str:
    pace = behaviour.pace
    if pace is None or pace.taken >= MIN_PACE * pace.expected:
        return ""
    return (
        f"{pace.taken:.0f}{NBSP}s for tasks that take about {_minutes(pace.expected)} "
        f"({share(pace.taken / pace.expected, 0)})."
    )


def too_fast(behaviour: Behaviour) -> str:
    times = behaviour.times_ms
    fast = sum(time < FAST_MS for time in times)
    if not times or fast < MIN_FAST_SHARE * len(times):
        return ""
    return (
        f"{fast} of {len(times)} answers within {FAST_MS}{NBSP}ms ({share(fast / len(times), 0)}); "
        f"median {median(times):.0f}{NBSP}ms."
    )


def long_absence(behaviour: Behaviour) -> str:
    gap, hidden = max(behaviour.gaps_s, default=0.0), max(behaviour.hidden_s, default=0.0)
    if max(gap, hidden) < MIN_ABSENCE_S:
        return ""
    times = len(behaviour.hidden_s)
    often = "once" if times == 1 else f"{times} times"
    left = f"; page left {often}, longest {_minutes(hidden)}" if times else ""
    return f"Longest time between two answers {_minutes(gap)}{left}."


def odd_exposure(behaviour: Behaviour) -> str:
    shown = [
        (one.shown, one.planned)
        for one in behaviour.rounds
        if one.shown is not None and not one.is_practice
    ]
    odd = [(time, planned) for time, planned in shown if abs(time - planned) > EXPOSURE_MS]
    if not odd:
        return ""
    time, planned = max(odd, key=lambda pair: abs(pair[0] - pair[1]))
    return (
        f"{len(odd)} of {len(shown)} rounds; the worst was shown for "
        f"{seconds(time)} instead of {seconds(planned)}."
    )


def same_key(behaviour: Behaviour) -> str:
    run, length = longest_run(behaviour.answers), len(behaviour.answers)
    chance = chance_of_stretch(length, run, 1, behaviour.keys)
    if chance >= RUN_CHANCE:
        return ""
    return (
        f"{run} identical answers in a row, of {length}; chance with {behaviour.keys} keys at random "
        f"{_probability(chance)}."
    )


def key_pattern(behaviour: Behaviour) -> str:
    """A repeating sequence, with a period of at most the number of keys."""
    answers, keys = behaviour.answers, behaviour.keys
    found = {lag: len(longest_pattern(answers, lag)) for lag in range(2, keys + 1)}
    # Bonferroni correction for the periods that are tried.
    chances = {
        lag: min(1.0, len(found) * chance_of_stretch(len(answers), stretch, lag, keys))
        for lag, stretch in found.items()
    }
    lag, chance = min(chances.items(), key=lambda item: item[1])
    if chance >= RUN_CHANCE:
        return ""
    how = "alternating between two answers" if lag == 2 else f"the same {lag} answers in turn"
    return (
        f"{found[lag]} in a row, of {len(answers)}, {how}; chance with {keys} keys at random "
        f"{_probability(chance)}."
    )


def at_chance(behaviour: Behaviour) -> str:
    """Over all answers and over the test alone: a teacher may show what a good learner still gets wrong."""
    everything = [*behaviour.taught, *behaviour.tested]
    if len(behaviour.tested) < MIN_ANSWERS:
        return ""
    chances = [
        chance_of_at_least(sum(part), len(part), behaviour.keys)
        for part in (everything, behaviour.tested)
    ]
    if min(chances) <= GUESSING_LEVEL:
        return ""
    return (
        f"{_correct(everything)}, {_correct(behaviour.tested)} in the test; chance of this with {behaviour.keys} keys "
        f"at random {chances[0]:.2f}."
    )


def odd_curve(behaviour: Behaviour) -> str:
    taught, tested = behaviour.taught, behaviour.tested
    if len(tested) < MIN_ANSWERS:
        return ""
    if len(taught) >= MIN_ANSWERS and all(taught) and all(tested):
        return (
            f"{_correct([*taught, *tested])}, from the first image on: nothing was left to learn."
        )
    inverted = chance_of_at_most(sum(tested), len(tested), behaviour.keys)
    if inverted < INVERTED_LEVEL:
        return (
            f"{_correct(tested)} in the test, far below guessing; chance {_probability(inverted)}."
        )
    return ""


def failed_checks(behaviour: Behaviour) -> str:
    failed = sum(not passed for passed in behaviour.checks)
    return f"{failed} of {len(behaviour.checks)} failed." if failed else ""


def repeated(behaviour: Behaviour) -> str:
    return f"Also in {', '.join(behaviour.elsewhere)}." if behaviour.elsewhere else ""


def _correct(answers: Sequence[bool]) -> str:
    return f"{sum(answers)} of {len(answers)} correct"


def _probability(chance: float) -> str:
    return f"{chance:.1g}" if chance >= 1e-6 else "below one in a million"


def _minutes(duration_s: float) -> str:
    return f"{duration_s / 60:.1f}{NBSP}min"


RULES = (
    Rule(
        "early",
        "Answered before the display ended",
        "By the server’s clock, rounds of the memory test were answered before the display can have ended. The page "
        "does not allow that: a program answered. One round that the page reports as cut short, by a reload, does not "
        "count here.",
        answered_early,
        is_strong=True,
    ),
    Rule(
        "clock",
        "Impossible response times",
        f"For at least {MIN_IMPOSSIBLE} answers, the participant’s device reports more time than passed on the server "
        f"between sending the task and receiving the answer, by more than {CLOCK_MS} ms. The times were made up.",
        impossible_times,
        is_strong=True,
    ),
    Rule(
        "pace",
        "Implausibly fast overall",
        f"From consent to the last answer took less than {share(MIN_PACE, 0)} of the study’s estimate for these tasks, "
        "not counting reading. Even the fastest participants of published experiments take longer.",
        too_short,
        is_strong=True,
    ),
    Rule(
        "fast",
        "Too fast",
        f"At least {share(MIN_FAST_SHARE, 0)} of the answers in teaching and test came within {FAST_MS} ms of the "
        "picture, sooner than most people can look and choose.",
        too_fast,
    ),
    Rule(
        "run",
        "Straight-lining",
        "Random answers would reach the longest run of identical answers in the test in fewer than 1 of 1,000 tests of "
        "this length. About 1 of 1,000 honest participants is flagged.",
        same_key,
    ),
    Rule(
        "pattern",
        "Alternating responses",
        "In part of the test the same answers were given in turn, for example alternating between two, for longer than "
        "random answers would in 1 of 1,000 tests of this length. The images come in a random order.",
        key_pattern,
    ),
    Rule(
        "chance",
        "No better than guessing",
        "Neither all answers of teaching and test together nor those of the test alone are better than guessing: "
        f"one-sided binomial tests at the level of {share(GUESSING_LEVEL, 0)}, with at least {MIN_ANSWERS} answers in "
        "the test. Participants who only guess are nearly always flagged; so are a few of 100 honest ones.",
        at_chance,
    ),
    Rule(
        "curve",
        "Unusual learning curve",
        "Not one wrong answer from the first image of teaching to the last of the test, with at least "
        f"{MIN_ANSWERS} of each: about 1 of 100 people learn without an error, unless they knew the classes before. "
        "Or a test so far below chance that guessing reaches it in fewer than 1 of 1,000 tests: the classes were "
        "confused, or answered wrong on purpose.",
        odd_curve,
    ),
    Rule(
        "absence",
        "Long absence",
        f"At least {MIN_ABSENCE_S // 60} minutes passed between two answers, or the page was out of view for that "
        "long. What was taught before may have been forgotten.",
        long_absence,
    ),
    Rule(
        "exposure",
        "Display time not as planned",
        f"Pictures of the memory test were visible for more than {EXPOSURE_MS} ms less or more than planned, according "
        "to the participant’s device: a slow device, a page that was left, or a manipulated one.",
        odd_exposure,
    ),
    Rule(
        "checks",
        "Failed attention check",
        "An attention check asked for one class, and another was chosen. Anybody can slip once.",
        failed_checks,
    ),
    Rule(
        "repeated",
        "Took part before",
        "The same platform id also took part in another study on this server, or in the pilot or a preview of this "
        "one, and gave consent there.",
        repeated,
    ),
)
