"""Scores of the predictions: losses by person, calibration, and the baselines that do not know the person."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import takewhile

import numpy as np

from analysis.stats import CONFIDENCE, TOO_FEW, Interval, SampleSummary, summarise
from analysis.stats.predictions import BINS, MAX_PROBABILITY, CalibrationBin, calibration
from teaching.decay import BetaEstimate, GroupEstimate, estimate_beta, estimate_group
from teaching.engine.arrays import BoolArray, FloatArray, IntArray
from teaching.engine.bank import FAMILIES
from teaching.engine.classes import unfolded

from .experiment import ResultRow
from .people_data import PeopleSet

# The ways to predict, with their titles in tables and figures: estimates that a teacher could use, ways that know
# everybody except the person, and the single families of the bank.
CURVE, CONSTANT = "curve", "constant"
TEACHERS = {
    "harmonic": "harmonic",
    "regularised": "regularised harmonic",
    "tracked": "tracked",
    "running": "running accuracy",
}
WAYS = TEACHERS | {CURVE: "learning curve of others", CONSTANT: "best constant"}
FAMILY_NAMES = [family.name for family in FAMILIES]
SINGLES = {family.name: f"{family.name}: {family.title}" for family in FAMILIES}
EVERY = WAYS | SINGLES

# Answers in one window of a curve.
STRIDE = 5
# A curve ends when fewer than this share of the people, or fewer than two, gave that many answers.
FAIR_SHARE = 0.5
# Bootstrap resamples of people.
RESAMPLES = 1000
TAILS = ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2)
# Pseudocount of right and of wrong answers of the others.
FIRST = 1.0


def said_losses(chances: FloatArray, answers: IntArray) -> FloatArray:
    """−log P of the answers, (t,), from probabilities (t, k) clipped to 1 to 99 %."""
    said = chances[np.arange(len(answers)), answers]
    return np.asarray(-np.log(np.clip(said, 1 - MAX_PROBABILITY, MAX_PROBABILITY)))


def without_person(rows: Sequence[ResultRow]) -> dict[str, list[FloatArray]]:
    """Baselines that know everybody except the person: a learning curve, and the best constant.

    For each session the chances (t, k) of all classes, from how often the others were right, answer by answer and
    altogether.
    """
    # Whether each answer was right, and whether there is one, by session and position, (s, t).
    right, seen = np.zeros((2, len(rows), max(len(row["answers"]) for row in rows)))
    for place, row in enumerate(rows):
        t = len(row["answers"])
        right[place, :t] = np.equal(row["answers"], row["labels"])
        seen[place, :t] = 1
    whose = np.array([row["person"] for row in rows])
    curves, constants = [], []
    for row in rows:
        own = whose == row["person"]
        others = right.sum(axis=0) - right[own].sum(axis=0)
        among = seen.sum(axis=0) - seen[own].sum(axis=0)
        t, k = len(row["answers"]), row["classes"]
        curve = (others[:t] + FIRST) / (among[:t] + 2 * FIRST)
        constant = (others.sum() + FIRST) / (among.sum() + 2 * FIRST)
        curves.append(shared(curve, row["labels"], k))
        constants.append(shared(np.full(t, constant), row["labels"], k))
    return {CURVE: curves, CONSTANT: constants}


def of_tests(tested: Sequence[ResultRow], rows: Sequence[ResultRow]) -> dict[str, list[FloatArray]]:
    """The same for tests: the accuracy of the others just before the test, and in their tests."""
    moments = sorted({after for row in tested for after in row["tests_after"]})
    curve = {after: shares_of_others(rows, partial(just_before, after=after)) for after in moments}
    constant = shares_of_others(tested, lambda row: (row["test_answers"], row["test_labels"]))
    curves, constants = [], []
    for row in tested:
        person, labels, k = row["person"], row["test_labels"], row["classes"]
        right = np.array([curve[after][person] for after in row["tests_after"]])
        curves.append(shared(right, labels, k))
        constants.append(shared(np.full(len(labels), constant[person]), labels, k))
    return {CURVE: curves, CONSTANT: constants}


def just_before(row: ResultRow, after: int) -> tuple[list[int], list[int]]:
    """The last STRIDE of the first `after` answers and their labels; the first answer, if none came before."""
    part = slice(max(0, min(after, len(row["answers"])) - STRIDE), max(after, 1))
    return row["answers"][part], row["labels"][part]


def shares_of_others(
    rows: Sequence[ResultRow], part: Callable[[ResultRow], tuple[Sequence[int], Sequence[int]]]
) -> dict[str, float]:
    """For every person the accuracy of all others on `part` of each row: its answers and labels."""
    people: dict[str, FloatArray] = {}
    for row in rows:
        answers, labels = part(row)
        counted = np.array([np.equal(answers, labels).sum(), len(answers)], dtype=np.float64)
        people[row["person"]] = people.get(row["person"], 0.0) + counted
    total = np.sum(list(people.values()), axis=0)
    return {
        person: float((right + FIRST) / (seen + 2 * FIRST))
        for person, (right, seen) in ((one, total - own) for one, own in people.items())
    }


def shared(right: FloatArray, labels: Sequence[int], k: int) -> FloatArray:
    """P with this probability of the true class, and the rest shared equally, (t, k)."""
    chances = np.repeat(((1 - right) / (k - 1))[:, None], k, axis=1)
    chances[np.arange(len(labels)), labels] = right
    return chances


def class_chances(chances: FloatArray, answers: IntArray) -> tuple[FloatArray, FloatArray]:
    """The probabilities of classes and whether each was the answer, (t, c) each: only class 1 of two (c = 1), all
    classes otherwise."""
    k = chances.shape[1]
    first = 1 if k == 2 else 0
    return chances[:, first:], (answers[:, None] == np.arange(first, k)).astype(np.float64)


def calibration_error(expected: FloatArray, said: FloatArray) -> float:
    """The expected calibration error over ten equal bins."""
    gaps = binned_gaps(expected.ravel(), said.ravel(), np.zeros(expected.size, dtype=np.intp), 1)
    return float(np.abs(gaps).sum() / expected.size)


def binned_gaps(expected: FloatArray, said: FloatArray, who: IntArray, people: int) -> FloatArray:
    """Σ (expected − said) by person and bin, (people, BINS)."""
    place = np.minimum((expected * BINS).astype(np.intp), BINS - 1)
    sums = np.bincount(who * BINS + place, expected - said, people * BINS)
    return np.asarray(sums, dtype=np.float64).reshape(people, BINS)


def calibration_interval(gaps: FloatArray, counts: FloatArray) -> Interval | None:
    """The 95 % bootstrap interval of the calibration error over people: gaps (people, BINS), counts (people,).

    The error is a sum of absolute values, so it is biased upwards: that of a resample exceeds the estimate, as the
    estimate exceeds the true error. Therefore the mean excess is subtracted from the upper end, the lower end is
    reflected at the estimate, and it is 0 if chance can explain the error. The estimate is inside the interval.
    """
    if len(counts) < TOO_FEW:
        return None
    drawn = _drawn_again(len(counts))
    sums, sizes = drawn @ gaps, drawn @ counts
    errors = np.abs(sums).sum(axis=1) / sizes
    by_chance = np.abs(sums - gaps.sum(axis=0)).sum(axis=1) / sizes
    error, highest = total_error(gaps, counts), float(np.quantile(errors, TAILS[1]))
    is_chance = error <= np.quantile(by_chance, TAILS[1])
    low = 0.0 if is_chance else min(error, max(0.0, 2 * error - highest))
    return Interval(low, max(error, highest - (float(errors.mean()) - error)))


def total_error(gaps: FloatArray, counts: FloatArray) -> float:
    """The expected calibration error of all people together."""
    return float(np.abs(gaps.sum(axis=0)).sum() / counts.sum())


@cache
def _drawn_again(people: int) -> FloatArray:
    """How often each person is drawn in each resample, (RESAMPLES, people)."""
    rng = np.random.default_rng(0)
    drawn = rng.multinomial(people, np.full(people, 1 / people), RESAMPLES)
    return drawn.astype(np.float64)


# eq=False makes objects hashable by identity, so that expensive summaries can be cached.
@dataclass(frozen=True, eq=False)
class Answered:
    """Answers of people, and the prediction of every method before each.

    `rows` has the person, the labels and answers of every session; `told` the chances (t, k) of each of them by way.
    """

    rows: Sequence[ResultRow]
    told: Mapping[str, Sequence[FloatArray]]

    @cached_property
    def lengths(self) -> IntArray:
        """The number of answers of each session, (s,)."""
        return np.array([len(row["answers"]) for row in self.rows])

    @cached_property
    def persons(self) -> list[str]:
        return list(dict.fromkeys(row["person"] for row in self.rows))

    @cached_property
    def whose(self) -> IntArray:
        """The index of each session's person, (s,)."""
        places = {person: place for place, person in enumerate(self.persons)}
        return np.array([places[row["person"]] for row in self.rows])

    # All sessions concatenated, which is much faster than a loop.

    @cached_property
    def answers(self) -> IntArray:
        return np.concatenate([np.asarray(row["answers"], dtype=np.intp) for row in self.rows])

    @cached_property
    def session(self) -> IntArray:
        """The session of each answer, (a,)."""
        return np.repeat(np.arange(len(self.rows)), self.lengths)

    @cached_property
    def number(self) -> IntArray:
        """The index of each answer in its session, (a,)."""
        return np.concatenate([np.arange(length) for length in self.lengths])

    @cached_property
    def chances(self) -> dict[str, FloatArray]:
        """The probabilities of all classes before each answer by method, (a, k)."""
        return {name: np.concatenate(list(sessions)) for name, sessions in self.told.items()}

    @cached_property
    def losses(self) -> dict[str, FloatArray]:
        """The loss of each answer by method, (a,)."""
        return {name: said_losses(p, self.answers) for name, p in self.chances.items()}

    def means(self, name: str, part: BoolArray) -> FloatArray:
        """The mean loss of every person over some answers (a,): over answers, then tasks; NaN if there are none."""
        sessions = self._mean(self.losses[name][part], self.session[part], len(self.rows))
        has_any = np.isfinite(sessions)
        return self._mean(sessions[has_any], self.whose[has_any], len(self.persons))

    @staticmethod
    def _mean(values: FloatArray, of: IntArray, size: int) -> FloatArray:
        counts = np.bincount(of, minlength=size)
        sums = np.bincount(of, values, size)
        return np.asarray(np.divide(sums, counts, out=np.full(size, np.nan), where=counts > 0))

    @cached_property
    def everything(self) -> BoolArray:
        return np.ones(self.answers.size, dtype=bool)

    @cached_property
    def people(self) -> dict[str, dict[str, float]]:
        """The mean loss of every person by method."""
        return {
            name: dict(zip(self.persons, self.means(name, self.everything).tolist(), strict=True))
            for name in self.told
        }

    @cache  # noqa: B019 - an object lives as long as the report is made
    def loss(self, name: str) -> SampleSummary:
        return summarise(list(self.people[name].values()))

    @cache  # noqa: B019
    def less_running(self, name: str) -> SampleSummary:
        """How much better a method is than the running accuracy, person by person."""
        own, running = self.people[name], self.people["running"]
        return summarise([running[person] - loss for person, loss in own.items()])

    @cache  # noqa: B019
    def error(self, name: str) -> SampleSummary:
        """The expected calibration error of all answers, with its interval over people."""
        return self.error_within(name, self.everything)

    def error_within(self, name: str, part: BoolArray) -> SampleSummary:
        """The same of some answers (a,)."""
        expected, said = self.class_chances(name, part)
        people, whose = np.unique(self.whose[self.session[part]], return_inverse=True)
        who = np.repeat(whose, expected.shape[1])
        gaps = binned_gaps(expected.ravel(), said.ravel(), who, people.size)
        counts = np.bincount(who).astype(np.float64)
        interval = calibration_interval(gaps, counts)
        return SampleSummary(people.size, total_error(gaps, counts), interval=interval)

    def class_chances(self, name: str, part: BoolArray) -> tuple[FloatArray, FloatArray]:
        """The probabilities of classes and whether each was the answer, for some answers."""
        return class_chances(self.chances[name][part], self.answers[part])

    def bins(self, name: str) -> list[CalibrationBin]:
        """Predicted and observed shares, in tenths."""
        expected, said = self.class_chances(name, self.everything)
        return calibration(expected.ravel(), said.ravel())

    @cached_property
    def windows(self) -> list[Window]:
        """Windows of STRIDE answers: the first, and further ones while enough people reach their end."""
        longest = int(self.lengths.max())
        starts = range(0, max(longest - longest % STRIDE, 1), STRIDE)
        first, *others = [self._window(start, min(start + STRIDE, longest)) for start in starts]
        enough = max(len(self.persons) * FAIR_SHARE, min(2, len(self.persons)))
        return [first, *takewhile(lambda window: window.people >= enough, others)]

    def _window(self, start: int, stop: int) -> Window:
        reaches = self.lengths >= stop
        inside = (self.number >= start) & (self.number < stop) & reaches[self.session]
        return Window(start, inside, len(set(self.whose[reaches].tolist())))

    def by_answers(self, name: str) -> FloatArray:
        """The mean loss of every person in every window, (people, windows); NaN if not reached."""
        return np.array([self.means(name, window.inside) for window in self.windows]).T


@dataclass(frozen=True)
class Window:
    """The answers (a,) from position `start` on, and the number of people who reached the end."""

    start: int
    inside: BoolArray
    people: int


@dataclass(frozen=True)
class Scored:
    """The rows of one set with their scores and fits."""

    data: PeopleSet
    rows: Sequence[ResultRow]

    @cached_property
    def next(self) -> Answered:
        """The answers while people were taught."""
        told = _told(self.rows, "chances", "models")
        return Answered(self.rows, told | without_person(self.rows))

    @cached_property
    def tests(self) -> Answered | None:
        """The answers without feedback, if there were any."""
        tested = [row for row in self.rows if "tests" in row]
        if not tested:
            return None
        rows = [
            row | {"answers": row["test_answers"], "labels": row["test_labels"]} for row in tested
        ]
        told = _told(rows, "tests", "test_models")
        return Answered(rows, told | of_tests(tested, self.rows))

    @property
    def models(self) -> list[str]:
        """The single models of the bank, by name."""
        return list(self.rows[0]["models"])

    @cached_property
    def surfaces(self) -> dict[str, list[list[int]]]:
        """The log-likelihood surfaces of every person's answers, task by task."""
        people: dict[str, list[list[int]]] = {}
        for row in self.rows:
            people.setdefault(row["person"], []).append(row["surface"])
        return people

    @cached_property
    def betas(self) -> dict[str, BetaEstimate]:
        """The β of every person, from all tasks together."""
        return {person: estimate_beta(own) for person, own in self.surfaces.items()}

    @cached_property
    def log_rates(self) -> dict[str, float]:
        """log η₀ of every person, as the mean over the tasks."""
        people: dict[str, list[float]] = {}
        for row in self.rows:
            people.setdefault(row["person"], []).append(float(np.log(row["rate"])))
        return {person: float(np.mean(own)) for person, own in people.items()}

    @cached_property
    def group(self) -> GroupEstimate:
        """The distribution of β among the people."""
        return estimate_group(list(self.surfaces.values()))


def _told(rows: Sequence[ResultRow], ways: str, models: str) -> dict[str, list[FloatArray]]:
    """The probabilities (t, k) of every session, by the methods and single models under these keys of the rows."""
    told = {name: [np.asarray(row[ways][name]) for row in rows] for name in rows[0][ways]}
    singles = {
        name: [unfolded(np.asarray(row[models][name]), row["classes"]) for row in rows]
        for name in rows[0][models]
    }
    return told | singles
