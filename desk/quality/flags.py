"""Quality flags: what is odd about a session, in numbers. A flag explains itself and decides nothing.

A strong flag is what the worker's page cannot do or no person can: somebody else's program answered, or a clock was
manipulated. The others happen to honest people too. How often, among people of published experiments, is in
docs/researchers.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from analysis.charts.formatting import NBSP, seconds, share

from .measures import (
    Behaviour,
    chance_of_at_least,
    chance_of_at_most,
    chance_of_stretch,
    longest_pattern,
    longest_run,
)

# Within this time of the picture, hardly anybody can have seen it and chosen.
FAST_MS = 300
FAST_SHARE = 0.1
# A run of identical answers, or a pattern of keys, that chance shows in fewer than this share of all tests.
RUN_CHANCE = 0.001
ABSENCE_S = 300
EXPOSURE_MS = 250
# How much longer than the server waited a device's time may be: clocks tick differently, and a server's is set.
CLOCK_MS = 250
FEWEST_CLAIMS = 2
# The share of the estimated time below which no person can look, choose and put pictures back.
PACE_SHARE = 0.2
# The level of the one-sided binomial test against guessing.
GUESSING = 0.05
# A test result below chance that guessing reaches in fewer than this share of all tests.
INVERTED = 0.001
# Shorter teaching or tests tell too little about learning.
FEWEST_ANSWERS = 20


@dataclass(frozen=True)
class Rule:
    """One kind of flag. `numbers` gives the numbers behind it in words, or nothing if there is no flag."""

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
    found = ((rule, rule.numbers(behaviour)) for rule in RULES)
    return tuple(Flag(rule, numbers) for rule, numbers in found if numbers)


# By the server's clock


def answered_early(behaviour: Behaviour) -> str:
    """A page that was left or reloaded during the display leads straight to the recall, and reports the shorter
    display: once, that is an accident, and the flag for exposure tells it."""
    early = [one for one in behaviour.rounds if one.is_early]
    reported = [one for one in early if one.shown is not None and one.shown <= one.took]
    if not early or len(early) == len(reported) == 1:
        return ""
    worst = min(early, key=lambda one: one.took / one.planned)
    return (
        f"{len(early)} of {len(behaviour.rounds)} rounds; the worst was answered "
        f"{seconds(worst.took)} after a display of {seconds(worst.planned)} began."
    )


def impossible_times(behaviour: Behaviour) -> str:
    beyond = [one for one in behaviour.claims if one.claimed > one.seen + CLOCK_MS]
    if len(beyond) < FEWEST_CLAIMS:
        return ""
    worst = max(beyond, key=lambda one: one.claimed - one.seen)
    return (
        f"{len(beyond)} of {len(behaviour.claims)} answers; the worst claims {seconds(worst.claimed)}, "
        f"and the server waited {seconds(worst.seen)}."
    )


def too_short(behaviour: Behaviour) -> str:
    pace = behaviour.pace
    if pace is None or pace.taken >= PACE_SHARE * pace.expected:
        return ""
    return (
        f"{pace.taken:.0f}{NBSP}s for tasks that take about {_minutes(pace.expected)} "
        f"({share(pace.taken / pace.expected, 0)})."
    )


# By the worker's device


def too_fast(behaviour: Behaviour) -> str:
    times = behaviour.times_ms
    fast = sum(time < FAST_MS for time in times)
    if not times or fast < FAST_SHARE * len(times):
        return ""
    return (
        f"{fast} of {len(times)} answers within {FAST_MS}{NBSP}ms ({share(fast / len(times), 0)}); "
        f"median {median(times):.0f}{NBSP}ms."
    )


def long_absence(behaviour: Behaviour) -> str:
    gap, hidden = max(behaviour.gaps_s, default=0.0), max(behaviour.hidden_s, default=0.0)
    if max(gap, hidden) < ABSENCE_S:
        return ""
    times = len(behaviour.hidden_s)
    left = f"; page left {_times(times)}, longest {_minutes(hidden)}" if times else ""
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


# By the answers


def same_key(behaviour: Behaviour) -> str:
    run, length = longest_run(behaviour.answers), len(behaviour.answers)
    chance = chance_of_stretch(length, run, 1, behaviour.keys)
    if chance >= RUN_CHANCE:
        return ""
    keys = _keys(behaviour.keys)
    return f"{run} identical answers in a row, of {length}; chance with {keys} at random {_small(chance)}."


def key_pattern(behaviour: Behaviour) -> str:
    """Keys in turn, with a period of at most their number: alternating, if there are two."""
    answers, keys = behaviour.answers, behaviour.keys
    found = {lag: len(longest_pattern(answers, lag)) for lag in range(2, keys + 1)}
    # Several periods are tried: the chance of any of them is at most the sum of their chances.
    chances = {
        lag: min(1.0, len(found) * chance_of_stretch(len(answers), stretch, lag, keys))
        for lag, stretch in found.items()
    }
    lag, chance = min(chances.items(), key=lambda item: item[1])
    if chance >= RUN_CHANCE:
        return ""
    how = "alternating between two answers" if lag == 2 else f"the same {lag} answers in turn"
    return f"{found[lag]} in a row, of {len(answers)}, {how}; chance with {_keys(keys)} at random {_small(chance)}."


def at_chance(behaviour: Behaviour) -> str:
    """Over everything and over the test alone: a teacher may choose what a good learner still gets wrong."""
    everything = [*behaviour.taught, *behaviour.tested]
    if len(behaviour.tested) < FEWEST_ANSWERS:
        return ""
    keys = behaviour.keys
    chances = [
        chance_of_at_least(sum(part), len(part), keys) for part in (everything, behaviour.tested)
    ]
    if min(chances) <= GUESSING:
        return ""
    return (
        f"{_right(everything)}, {_right(behaviour.tested)} in the test; chance of this with {_keys(keys)} at random "
        f"{chances[0]:.2f}."
    )


def odd_curve(behaviour: Behaviour) -> str:
    taught, tested = behaviour.taught, behaviour.tested
    if len(tested) < FEWEST_ANSWERS:
        return ""
    if len(taught) >= FEWEST_ANSWERS and all(taught) and all(tested):
        return f"{_right([*taught, *tested])}, from the first image on: nothing was left to learn."
    inverted = chance_of_at_most(sum(tested), len(tested), behaviour.keys)
    if inverted < INVERTED:
        return f"{_right(tested)} in the test, far below guessing; chance {_small(inverted)}."
    return ""


# Attention checks and repetition


def failed_checks(behaviour: Behaviour) -> str:
    failed = sum(not passed for passed in behaviour.checks)
    return f"{failed} of {len(behaviour.checks)} failed." if failed else ""


def repeated(behaviour: Behaviour) -> str:
    return f"Also in {', '.join(behaviour.elsewhere)}." if behaviour.elsewhere else ""


# Words


def _right(answers: Sequence[bool]) -> str:
    return f"{sum(answers)} of {len(answers)} right"


def _keys(count: int) -> str:
    return f"{count} keys"


def _small(chance: float) -> str:
    return f"{chance:.1g}" if chance >= 1e-6 else "below one in a million"


def _minutes(duration_s: float) -> str:
    return f"{duration_s / 60:.1f}{NBSP}min"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


RULES = (
    Rule(
        "early",
        "Answered during the display",
        "By the server’s clock, rounds of the memory test were answered before their pictures can have been shown for "
        "as long as planned. The page does not allow that: a program answered. One round that the page reports as "
        "cut short, by a reload, does not count here.",
        answered_early,
        is_strong=True,
    ),
    Rule(
        "clock",
        "Times that cannot be true",
        f"At least {FEWEST_CLAIMS} answers claim more time on the worker’s device than passed on the server between "
        f"handing out the task and receiving the answer, by more than {CLOCK_MS} ms. The times were made up.",
        impossible_times,
        is_strong=True,
    ),
    Rule(
        "pace",
        "Too short in total",
        f"From consent to the last answer, less than {share(PACE_SHARE, 0)} of the time passed that the study’s "
        "estimate allows for these tasks, reading not counted. Even the quickest people of published experiments take "
        "longer.",
        too_short,
        is_strong=True,
    ),
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
        "The longest run of identical answers in the test is one that keys pressed at random would reach in fewer than "
        "1 of 1,000 tests of this length. About 1 of 1,000 honest people is flagged.",
        same_key,
    ),
    Rule(
        "pattern",
        "Keys in turn",
        "In a stretch of the test the same keys were pressed in turn, for example alternating between two, for longer "
        "than keys pressed at random would show in 1 of 1,000 tests of this length. The images come in a random order.",
        key_pattern,
    ),
    Rule(
        "chance",
        "No better than guessing",
        "Neither all answers of teaching and test together nor those of the test alone are better than guessing: "
        f"one-sided binomial tests at the level of {share(GUESSING, 0)}, with at least {FEWEST_ANSWERS} answers in the "
        "test. Somebody who guesses all the time is nearly always flagged; a few of 100 honest people do not learn "
        "either.",
        at_chance,
    ),
    Rule(
        "curve",
        "Unusual learning curve",
        "Not one wrong answer from the first image of teaching to the last of the test, with at least "
        f"{FEWEST_ANSWERS} of each: about 1 of 100 people learn without an error, unless they knew the classes before. "
        "Or a test so far below chance that guessing reaches it in fewer than 1 of 1,000 tests: the classes were "
        "confused, or answered wrong on purpose.",
        odd_curve,
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
        "An attention check asked for one class, and another was chosen. Anybody can slip once.",
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
