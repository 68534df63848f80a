"""How well ways to predict did on people: losses by person, calibration, and ways that know no person at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import takewhile

import numpy as np

from analysis.modelcheck.beliefs import BINS, SUREST, Bin, calibration
from analysis.stats import CONFIDENCE, TOO_FEW, Interval, SampleSummary, summarise
from teaching.decay import Decay, likelihoods, together
from teaching.engine.arrays import BoolArray, FloatArray, IntArray
from teaching.engine.classes import unfolded
from teaching.population import Population, population, shapes_of_rate, shapes_of_style

from .experiment import ResultRow
from .people_files import PeopleSet

CURVE, CONSTANT = "curve", "constant"
# Answers of one window of a curve.
STRIDE = 5
# A curve goes on as long as so many of the people got that far, and two of them if there are more.
FAIR_SHARE = 0.5
# How often people are drawn again for an interval.
RESAMPLES = 1000
TAILS = ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2)
# Answers of others are counted with one right and one wrong to begin with.
FIRST = 1.0


def said_losses(chances: FloatArray, answers: IntArray) -> FloatArray:
    """−log P of what was said, (t,), from chances (t, k) kept within 1 and 99 %."""
    said = chances[np.arange(len(answers)), answers]
    return np.asarray(-np.log(np.clip(said, 1 - SUREST, SUREST)))


def by_person(rows: Sequence[ResultRow], values: Iterable[float]) -> dict[str, float]:
    """The mean of one number per session over the sessions of each person."""
    people: dict[str, list[float]] = {}
    for row, value in zip(rows, values, strict=True):
        people.setdefault(row["person"], []).append(value)
    return {person: float(np.mean(own)) for person, own in people.items()}


def difference(first: Mapping[str, float], second: Mapping[str, float]) -> SampleSummary:
    """By how much the second is larger, person by person."""
    return summarise([second[person] - value for person, value in first.items()])


def without_person(rows: Sequence[ResultRow]) -> dict[str, list[FloatArray]]:
    """What those expect who know everybody but the person: a learning curve, and the best constant.

    For each session the chances (t, k) of all classes, from how often the others were right, answer by answer and
    altogether.
    """
    right, seen = _counted(rows)
    curves, constants = [], []
    totals = {person: _own(rows, person, right, seen) for person in {r["person"] for r in rows}}
    for row in rows:
        own_right, own_seen = totals[row["person"]]
        others, among = right.sum(axis=0) - own_right, seen.sum(axis=0) - own_seen
        t, k = len(row["answers"]), row["classes"]
        curve = (others[:t] + FIRST) / (among[:t] + 2 * FIRST)
        constant = (others.sum() + FIRST) / (among.sum() + 2 * FIRST)
        curves.append(shared(curve, row["labels"], k))
        constants.append(shared(np.full(t, constant), row["labels"], k))
    return {CURVE: curves, CONSTANT: constants}


def of_tests(tested: Sequence[ResultRow], rows: Sequence[ResultRow]) -> dict[str, list[FloatArray]]:
    """The same for tests: how often the others were right in what they were taught just before, and in the tests."""
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
    """For everybody how often all others were right in a part of each row, its answers and labels."""
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
    """The true class with so much probability, and the others alike, (t, k)."""
    chances = np.repeat(((1 - right) / (k - 1))[:, None], k, axis=1)
    chances[np.arange(len(labels)), labels] = right
    return chances


def _counted(rows: Sequence[ResultRow]) -> tuple[FloatArray, FloatArray]:
    """Right answers and answers by session and number, (s, t) each."""
    longest = max(len(row["answers"]) for row in rows)
    right, seen = np.zeros((2, len(rows), longest))
    for place, row in enumerate(rows):
        t = len(row["answers"])
        right[place, :t] = np.equal(row["answers"], row["labels"])
        seen[place, :t] = 1
    return right, seen


def _own(
    rows: Sequence[ResultRow], person: str, right: FloatArray, seen: FloatArray
) -> tuple[FloatArray, FloatArray]:
    mine = [row["person"] == person for row in rows]
    return right[mine].sum(axis=0), seen[mine].sum(axis=0)


def class_chances(chances: FloatArray, answers: IntArray) -> tuple[FloatArray, FloatArray]:
    """The probabilities of classes and whether each was said, (t, c) each: of class 1 where there are two (c = 1), of
    all otherwise."""
    k = chances.shape[1]
    first = 1 if k == 2 else 0
    return chances[:, first:], (answers[:, None] == np.arange(first, k)).astype(np.float64)


def calibration_error(expected: FloatArray, said: FloatArray) -> float:
    """The expected calibration error over ten equal classes of probability."""
    gaps = binned_gaps(expected.ravel(), said.ravel(), np.zeros(expected.size, dtype=np.intp), 1)
    return float(np.abs(gaps).sum() / expected.size)


def binned_gaps(expected: FloatArray, said: FloatArray, who: IntArray, people: int) -> FloatArray:
    """Σ (expected − said) by person and class of probability, (people, BINS)."""
    place = np.minimum((expected * BINS).astype(np.intp), BINS - 1)
    sums = np.bincount(who * BINS + place, expected - said, people * BINS)
    return np.asarray(sums, dtype=np.float64).reshape(people, BINS)


def calibration_interval(gaps: FloatArray, counts: FloatArray) -> Interval | None:
    """The 95 % interval of the calibration error by drawing people again: gaps (people, BINS), counts (people,).

    Distances have no sign, so chance adds to them: the error of drawn people is larger than that of all, as that of all
    is larger than the true one. From the upper end the mean excess is therefore taken off, the lower end is reflected
    at the estimate, and an error that chance alone may bring about has an interval from 0. The estimate is inside.
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
    """How often each of the people is drawn, (RESAMPLES, people)."""
    rng = np.random.default_rng(0)
    drawn = rng.multinomial(people, np.full(people, 1 / people), RESAMPLES)
    return drawn.astype(np.float64)


# Without eq, so that summaries, of which each takes thousands of resamples, are kept by the object that they are of.
@dataclass(frozen=True, eq=False)
class Answered:
    """Answers of people, and what every way to predict expected before each.

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
        """The place of each session's person, (s,)."""
        places = {person: place for place, person in enumerate(self.persons)}
        return np.array([places[row["person"]] for row in self.rows])

    # All sessions in a row, which is much faster than one after the other.

    @cached_property
    def answers(self) -> IntArray:
        return np.concatenate([np.asarray(row["answers"], dtype=np.intp) for row in self.rows])

    @cached_property
    def session(self) -> IntArray:
        """Which session each answer is of, (a,)."""
        return np.repeat(np.arange(len(self.rows)), self.lengths)

    @cached_property
    def number(self) -> IntArray:
        """How many answers of its session came before each, (a,)."""
        return np.concatenate([np.arange(length) for length in self.lengths])

    @cached_property
    def chances(self) -> dict[str, FloatArray]:
        """The chances of all classes before each answer by way, (a, k)."""
        return {name: np.concatenate(list(sessions)) for name, sessions in self.told.items()}

    @cached_property
    def losses(self) -> dict[str, FloatArray]:
        """The loss of each answer by way, (a,)."""
        return {name: said_losses(p, self.answers) for name, p in self.chances.items()}

    def means(self, name: str, part: BoolArray) -> FloatArray:
        """The mean loss of every person over some answers (a,): over answers, then tasks; NaN of people without."""
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
        """The mean loss of every person by way."""
        return {
            name: dict(zip(self.persons, self.means(name, self.everything).tolist(), strict=True))
            for name in self.told
        }

    @cache  # noqa: B019 - an object lives as long as the report is made
    def loss(self, name: str) -> SampleSummary:
        return summarise(list(self.people[name].values()))

    @cache  # noqa: B019
    def less_running(self, name: str) -> SampleSummary:
        """By how much a way is better than the running accuracy, person by person."""
        return difference(self.people[name], self.people["running"])

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
        """What was expected of the classes and whether each was said, of some answers."""
        return class_chances(self.chances[name][part], self.answers[part])

    def bins(self, name: str) -> list[Bin]:
        """Predicted beside observed shares, in tenths."""
        expected, said = self.class_chances(name, self.everything)
        return calibration(expected.ravel(), said.ravel())

    @cached_property
    def windows(self) -> list[Window]:
        """Every STRIDE answers, the first of them and as long as enough people got to the end."""
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
        """The mean loss of every person in every window, (people, windows); NaN of those who did not get so far."""
        return np.array([self.means(name, window.inside) for window in self.windows]).T


@dataclass(frozen=True)
class Window:
    """Some answers (a,) by how many their people had given before, and how many people got to the end of them."""

    start: int
    inside: BoolArray
    people: int


@dataclass(frozen=True)
class Scored:
    """The rows of one set: how the next answer was predicted, how answers without feedback were, and what fits."""

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
        """What the answers of every person say about β, task by task."""
        people: dict[str, list[list[int]]] = {}
        for row in self.rows:
            people.setdefault(row["person"], []).append(row["surface"])
        return people

    @cached_property
    def betas(self) -> dict[str, Decay]:
        """The β of every person, from all tasks together."""
        return {person: together(own) for person, own in self.surfaces.items()}

    @cached_property
    def log_rates(self) -> dict[str, float]:
        """log η₀ of every person, as the mean over the tasks."""
        return by_person(self.rows, [float(np.log(row["rate"])) for row in self.rows])

    @cached_property
    def group(self) -> Population:
        """How β distributes among the people."""
        return population(list(self.surfaces.values()))

    @cached_property
    def rate_shares(self) -> FloatArray:
        """The share of tasks expected at each of the learning rates of the grid, from all answers together.

        As in `population`, log η₀ is normal in the group, whose people answer all in one style or each in any;
        every such distribution is weighed by how probable it makes the answers. β has the one that was found for it.
        """
        by_task = likelihoods(row["surface"] for row in self.rows)
        by_rate = np.einsum("b,nsbr->nsr", np.array(self.group.shares), by_task)
        shapes = shapes_of_rate()
        likely = np.log(shapes_of_style() @ by_rate @ shapes.T).sum(axis=0)
        weights = np.exp(likely - likely.max()).sum(axis=0)
        return np.asarray(weights @ shapes / weights.sum())


def _told(rows: Sequence[ResultRow], ways: str, models: str) -> dict[str, list[FloatArray]]:
    """The chances (t, k) of every session, by the ways and single models that rows have under these names."""
    told = {name: [np.asarray(row[ways][name]) for row in rows] for name in rows[0][ways]}
    singles = {
        name: [unfolded(np.asarray(row[models][name]), row["classes"]) for row in rows]
        for name in rows[0][models]
    }
    return told | singles
