"""How well ways to predict did on people: losses by person, calibration, and ways that know no person at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from analysis.modelcheck.beliefs import BINS, SUREST
from analysis.stats import CONFIDENCE, Interval, SampleSummary, summarise
from teaching.decay import Decay, together
from teaching.engine.arrays import FloatArray, IntArray
from teaching.engine.classes import unfolded
from teaching.population import Population, population

from .experiment import ResultRow
from .people_files import PeopleSet

CURVE, CONSTANT = "curve", "constant"
# Answers of one window of a curve.
STRIDE = 5
# How often people are drawn again for an interval.
RESAMPLES = 1000
# Answers of others are counted with one right and one wrong to begin with.
FIRST = 1.0


def said_losses(chances: FloatArray, answers: Sequence[int]) -> FloatArray:
    """−log P of what was said, (t,), from chances (t, k) kept within 1 and 99 %."""
    said = np.asarray(chances)[np.arange(len(answers)), answers]
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


def class_chances(
    chances: Sequence[FloatArray], answers: Sequence[Sequence[int]]
) -> tuple[FloatArray, FloatArray]:
    """The probabilities of classes and whether each was said: of class 1 where there are two, of all otherwise."""
    expected, said = [], []
    for one, given in zip(chances, answers, strict=True):
        table = np.asarray(one)
        first = 1 if table.shape[1] == 2 else 0
        expected.append(table[:, first:].ravel())
        said.append((np.asarray(given)[:, None] == np.arange(first, table.shape[1])).ravel())
    return np.concatenate(expected), np.concatenate(said).astype(np.float64)


def calibration_error(expected: FloatArray, said: FloatArray) -> float:
    """The expected calibration error over ten equal classes of probability."""
    place = np.minimum((expected * BINS).astype(np.intp), BINS - 1)
    gaps = np.bincount(place, expected - said, BINS)
    return float(np.abs(gaps).sum() / expected.size)


def binned_gaps(expected: FloatArray, said: FloatArray, who: IntArray, people: int) -> FloatArray:
    """Σ (expected − said) by person and class of probability, (people, BINS)."""
    place = np.minimum((expected * BINS).astype(np.intp), BINS - 1)
    sums = np.bincount(who * BINS + place, expected - said, people * BINS)
    return np.asarray(sums, dtype=np.float64).reshape(people, BINS)


def calibration_interval(gaps: FloatArray, counts: FloatArray) -> Interval:
    """The 95 % interval of the calibration error by drawing people again: gaps (people, BINS), counts (people,)."""
    rng = np.random.default_rng(0)
    drawn = rng.multinomial(len(counts), np.full(len(counts), 1 / len(counts)), RESAMPLES)
    errors = np.abs(drawn @ gaps).sum(axis=1) / (drawn @ counts)
    low, high = np.quantile(errors, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Interval(float(low), float(high))


@dataclass(frozen=True)
class Scored:
    """The rows of one set, with the losses and chances of every way."""

    data: PeopleSet
    rows: Sequence[ResultRow]

    @cached_property
    def chances(self) -> dict[str, list[FloatArray]]:
        told = {
            name: [np.asarray(row["chances"][name]) for row in self.rows]
            for name in self.rows[0]["chances"]
        }
        return told | self._singles() | without_person(self.rows)

    def _singles(self) -> dict[str, list[FloatArray]]:
        return {
            name: [unfolded(np.asarray(row["models"][name]), row["classes"]) for row in self.rows]
            for name in self.models
        }

    @property
    def models(self) -> list[str]:
        """The single models of the bank, by name."""
        return list(self.rows[0]["models"])

    @cached_property
    def losses(self) -> dict[str, list[FloatArray]]:
        """The loss of every answer by way and session."""
        return {
            name: [said_losses(p, row["answers"]) for p, row in zip(told, self.rows, strict=True)]
            for name, told in self.chances.items()
        }

    @cached_property
    def people(self) -> dict[str, dict[str, float]]:
        """The mean loss of every person by way."""
        return {
            name: by_person(self.rows, [float(one.mean()) for one in losses])
            for name, losses in self.losses.items()
        }

    def loss(self, name: str) -> SampleSummary:
        return summarise(list(self.people[name].values()))

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
    def group(self) -> Population:
        """How β distributes among the people."""
        return population(list(self.surfaces.values()))

    def less_running(self, name: str) -> SampleSummary:
        """By how much a way is better than the running accuracy, person by person."""
        return difference(self.people[name], self.people["running"])

    def error(self, name: str, part: slice = slice(None)) -> float:
        """The expected calibration error, of some answers or all."""
        return calibration_error(*self._class_chances(name, part))

    def error_summary(self, name: str) -> SampleSummary:
        """The same with its interval over people."""
        expected, said = self._class_chances(name)
        who = np.repeat(self.whose, [one[:, self._first :].size for one in self.chances[name]])
        gaps = binned_gaps(expected, said, who, len(self.persons))
        counts = np.bincount(who, minlength=len(self.persons)).astype(np.float64)
        interval = calibration_interval(gaps, counts)
        return SampleSummary(len(self.persons), self.error(name), interval=interval)

    def _class_chances(self, name: str, part: slice = slice(None)) -> tuple[FloatArray, FloatArray]:
        chances = [one[part] for one in self.chances[name]]
        return class_chances(chances, [row["answers"][part] for row in self.rows])

    @property
    def _first(self) -> int:
        """The first class whose probability says anything new."""
        return 1 if self.rows[0]["classes"] == 2 else 0

    @cached_property
    def persons(self) -> list[str]:
        return list(dict.fromkeys(row["person"] for row in self.rows))

    @cached_property
    def whose(self) -> IntArray:
        """The place of each session's person, (s,)."""
        places = {person: place for place, person in enumerate(self.persons)}
        return np.array([places[row["person"]] for row in self.rows])

    @cached_property
    def windows(self) -> list[slice]:
        """Every STRIDE answers, as far as all sessions go."""
        shortest = min(len(row["answers"]) for row in self.rows)
        starts = range(0, max(shortest - shortest % STRIDE, 1), STRIDE)
        return [slice(start, start + STRIDE) for start in starts]

    def by_answers(self, name: str) -> FloatArray:
        """The mean loss of every person in every window, (people, windows)."""
        rows = np.array([[one[w].mean() for w in self.windows] for one in self.losses[name]])
        sums = np.zeros((len(self.persons), len(self.windows)))
        np.add.at(sums, self.whose, rows)
        return sums / np.bincount(self.whose)[:, None]
