"""Beyond the paper: what is known about people before they answer, on trial-by-trial data of real learning."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from teaching.decay import fit_decay
from teaching.engine import LearningRate, Pool, Shown, Tracked, belief, suggest_learning_rate
from teaching.engine.arrays import FloatArray, IntArray
from teaching.engine.bank import FAMILIES
from teaching.engine.bank.expected import expected_answers
from teaching.engine.bank.mixture import Mixture
from teaching.engine.classes import folded, unfolded
from teaching.engine.history import Past
from teaching.engine.learners.paper import check_beta
from teaching.engine.mended import mended

from . import people_report
from .experiment import BadExperiment, Experiment, ResultRow, Results, Unit
from .features import digest
from .people_files import ITEMS, MEMORY, TRIALS, PeopleSet, PersonSession, read_people
from .people_scores import shared
from .report import ReportTable, Section

# What a row holds, as a number: a run whose rows hold anything else cannot be gone on with.
ROWS = 5
HARMONIC, MENDED, TRACKED, RUNNING = "harmonic", "mended", "tracked", "running"


@dataclass(frozen=True, kw_only=True)
class People(Experiment):
    """`answers` of each task are predicted, from the first on; β is what the teachers are told of anybody."""

    name: ClassVar[str] = "people"
    title: ClassVar[str] = "Beyond the paper: what models of learners know about people"
    has_seeds: ClassVar[bool] = False

    paths: tuple[Path, ...] = ()
    answers: int = 30
    beta: float = 0.75

    @staticmethod
    def add_arguments(parser: ArgumentParser) -> None:
        parser.add_argument(
            "paths",
            nargs="+",
            type=Path,
            metavar="PATH",
            help="folders with items.csv and trials.csv",
        )
        parser.add_argument("--answers", type=int, help="of each task, from the first on (30)")
        parser.add_argument("--beta", type=float, help="that the teachers are told (0.75)")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.answers < 1:
            raise BadExperiment(f"At least 1 answer is predicted; {self.answers} were asked for.")
        check_beta(self.beta)

    def prepared(self, folder: Path) -> Self:
        """With all sets read, so that errors come before the work."""
        names = [_people(path).name for path in self.paths]
        if len(set(names)) < len(names):
            raise BadExperiment("Two of the folders have the same name; rename one of them.")
        return replace(self, seeds=1)

    def settings(self) -> dict[str, Any]:
        data = [[digest(path / name) for name in (ITEMS, TRIALS)] for path in self.paths]
        return super().settings() | {"data": data, "rows": ROWS}

    def told_settings(self) -> dict[str, Any]:
        """Without seeds, of which there are none, and with the digests of its files beside each folder."""
        files = {
            str(path): [
                f"{name} {digest(path / name)}"
                for name in (ITEMS, TRIALS, MEMORY)
                if (path / name).exists()
            ]
            for path in self.paths
        }
        return {"answers": self.answers, "beta": self.beta} | files

    @property
    def sets(self) -> list[PeopleSet]:
        return [_people(path) for path in self.paths]

    def cells(self) -> Sequence[str]:
        return [one.name for one in self.sets]

    def units(self) -> Iterator[Unit]:
        """Every task of every person."""
        for one in self.sets:
            for number in range(len(one.sessions)):
                yield Unit(one.name, number)

    def run(self, cell: str, seed: int) -> ResultRow:
        """One person in one task: what each way expected before each answer."""
        data = next(one for one in self.sets if one.name == cell)
        session = data.sessions[seed]
        lesson = Lesson.of(data, session, self.answers, self.beta)
        row: ResultRow = {
            "person": session.person,
            "task": session.task,
            "classes": lesson.pool.class_count,
            "labels": lesson.labels.tolist(),
            "answers": lesson.answers[: lesson.predicted].tolist(),
            "chances": {name: np.round(p, 5).tolist() for name, p in lesson.expected().items()},
            "models": {name: np.round(p, 4).tolist() for name, p in lesson.singles().items()},
        }
        return row | lesson.fitted() | lesson.tested()

    def report(self, results: Results) -> list[Section]:
        return people_report.sections(self, results)

    def in_short(self, sections: Sequence[Section]) -> Sequence[ReportTable]:
        """The next answer, by set."""
        return sections[0].tables


@cache
def _people(path: Path) -> PeopleSet:
    return read_people(path)


@dataclass(frozen=True)
class Lesson:
    """A person's task as the engine sees it: a pool, what was shown and answered, and what was tested after."""

    pool: Pool
    tracked: Tracked
    examples: IntArray
    answers: IntArray
    predicted: int
    """how many of the answers are predicted"""
    tests: IntArray
    test_answers: IntArray
    tests_after: IntArray
    """how much had been taught before each test"""

    @classmethod
    def of(cls, data: PeopleSet, session: PersonSession, most: int, beta: float) -> Lesson:
        known = data.labels_for(session)
        items = sorted(known)
        places = {item: place for place, item in enumerate(items)}
        pool = _pool(data, tuple(items), tuple(known[item] for item in items))
        at = np.array([places[item] for item in session.items.tolist()], dtype=np.intp)
        taught = session.is_taught
        rate = LearningRate(suggest_learning_rate(pool))
        return cls(
            pool=pool,
            tracked=Tracked(beta=beta, learning_rate=rate),
            examples=at[taught],
            answers=session.answers[taught],
            predicted=min(most, int(taught.sum())),
            tests=at[~taught],
            test_answers=session.answers[~taught],
            tests_after=np.cumsum(taught, dtype=np.intp)[~taught],
        )

    @property
    def labels(self) -> IntArray:
        """Of the answers that are predicted."""
        return self.pool.labels[self.examples[: self.predicted]]

    def history(self, steps: int) -> list[Shown]:
        """The first steps; no belief is stored with them, and none of these ways to predict asks for one."""
        rows = zip(self.examples[:steps].tolist(), self.answers[:steps].tolist(), strict=True)
        return [Shown(example, answer, self._even) for example, answer in rows]

    @property
    def _even(self) -> list[float]:
        return [1 / self.pool.class_count] * self.pool.class_count

    def expected(self) -> dict[str, FloatArray]:
        """P of all classes before each answer, (t, k), by each way to predict."""
        history, mixture = self.history(self.predicted), self.mixture
        alone = {family.name: mixture.alone(family.name).expected() for family in FAMILIES}
        return {
            HARMONIC: np.array([self._harmonic(history[:s], s) for s in range(len(history))]),
            MENDED: self._mended(history),
            TRACKED: mixture.expected(),
            RUNNING: running(self.labels, self.answers[: self.predicted], self.pool.class_count),
            **alone,
        }

    @cached_property
    def mixture(self) -> Mixture:
        """What tracked makes of the answers that are predicted."""
        return self.tracked.mixture(self.pool, self.history(self.predicted))

    def singles(self) -> dict[str, FloatArray]:
        """The same by every single model of the bank: (t,) for class 1 of two, (t, k) of more."""
        return each_model(self.mixture)

    def singles_of_tests(self) -> dict[str, FloatArray]:
        """The same of the tests, each as though it came next: what was said to it has no part in what was expected."""
        history, even, each = self.history(self.examples.size), self._even, []
        for test, before in zip(self.tests.tolist(), self.tests_after.tolist(), strict=True):
            follows = [*history[:before], Shown(test, 0, even)]
            each.append(each_model(self.tracked.mixture(self.pool, follows)))
        return {name: np.array([one[name][-1] for one in each]) for name in each[0]}

    def _mended(self, history: Sequence[Shown]) -> FloatArray:
        """The mended estimate before each answer, (t, k), each from those before as a session would store them."""
        return np.array([step.p for step in with_mended(self.pool, history)])

    def _harmonic(self, before: Sequence[Shown], step: int) -> FloatArray:
        return np.asarray(self._harmonic_of_all(before)[self.examples[step]])

    def _harmonic_of_all(self, before: Sequence[Shown]) -> FloatArray:
        return unfolded(np.asarray(belief(self.pool, before)), self.pool.class_count)

    def fitted(self) -> ResultRow:
        """What the answers say of η₀ and β of the paper's learner, and which family they speak for."""
        fit, weights = fit_decay(self.mixture.seen), self.mixture.family_weights()
        rounded = {name: round(weight, 4) for name, weight in weights.items()}
        fitted = {"surface": list(fit.surface), "rate": fit.rate, "gain": round(fit.gain, 3)}
        return fitted | {"families": rounded}

    def tested(self) -> ResultRow:
        """P of all classes of the tests, each after what had been taught before it."""
        if not self.tests.size:
            return {}
        tests = {name: np.round(p, 5).tolist() for name, p in self.expected_of_tests().items()}
        models = {name: np.round(p, 4).tolist() for name, p in self.singles_of_tests().items()}
        return {
            "test_answers": self.test_answers.tolist(),
            "test_labels": self.pool.labels[self.tests].tolist(),
            "tests_after": self.tests_after.tolist(),
            "tests": tests,
            "test_models": models,
        }

    def expected_of_tests(self) -> dict[str, FloatArray]:
        """The same as of the next answer, (e, k), by each way to predict."""
        history = self.history(self.examples.size)
        as_mended = with_mended(self.pool, history)
        parts = []
        for before in np.unique(self.tests_after).tolist():
            tests = self.tests[self.tests_after == before]
            parts.append(self._after(history[:before], as_mended[:before], tests))
        # Trials are in the order of time, and so are the parts.
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def _after(
        self, history: Sequence[Shown], as_mended: Sequence[Shown], tests: IntArray
    ) -> dict[str, FloatArray]:
        """What each way expects of some tests after a history, which the mended estimate has with its own beliefs."""
        pool, taught = self.pool, len(history)
        mixture = self.tracked.mixture(pool, history)
        alone = {
            family.name: expected_answers(mixture.alone(family.name), tests) for family in FAMILIES
        }
        examples, answers = self.examples[:taught], self.answers[:taught]
        return {
            HARMONIC: self._harmonic_of_all(history)[tests],
            MENDED: mended(pool, Past.read(as_mended, pool))[tests],
            TRACKED: expected_answers(mixture, tests),
            RUNNING: running_after(pool, examples, answers, tests),
            **alone,
        }


def each_model(mixture: Mixture) -> dict[str, FloatArray]:
    """P before each answer by every single model: (t,) for class 1 of two, (t, k) of more."""
    return {
        model_name(member.family.name, name): folded(p)
        for member in mixture.members
        for name, p in zip(distinguishing(member.followed.names), member.each_alone(), strict=True)
    }


def distinguishing(names: Sequence[str]) -> list[str]:
    """Settings of the models of a family without those that all of them share, unless nothing else is left."""
    parts = [name.split(", ") for name in names]
    alike = set.intersection(*map(set, parts)) if len(parts) > 1 else set()
    return [", ".join(one for one in own if one not in alike) for own in parts]


def model_name(family: str, model: str) -> str:
    """A single model of the bank, as the files name it."""
    return f"{family}: {model}"


def with_mended(pool: Pool, history: Sequence[Shown]) -> list[Shown]:
    """The history with the mended estimate of each step, which the next one reads."""
    steps: list[Shown] = []
    for step in history:
        p = mended(pool, Past.read(steps, pool))[step.example]
        steps.append(replace(step, p=p.tolist()))
    return steps


@lru_cache(maxsize=64)
def _pool(data: PeopleSet, items: tuple[int, ...], labels: tuple[int, ...]) -> Pool:
    return Pool(data.features[list(items)], np.array(labels), classes=len(data.classes))


def running(labels: IntArray, answers: IntArray, k: int) -> FloatArray:
    """P of all classes before each answer by how often the person was right so far, (t, k)."""
    right = (labels == answers).astype(np.float64)
    before = np.concatenate([[0.0], np.cumsum(right)[:-1]])
    return shared((before + 1) / (np.arange(right.size) + k), labels.tolist(), k)


def running_after(pool: Pool, examples: IntArray, answers: IntArray, tests: IntArray) -> FloatArray:
    """P of all classes of the tests by how often the person was right until then."""
    k = pool.class_count
    share = ((answers == pool.labels[examples]).sum() + 1) / (answers.size + k)
    return shared(np.full(tests.size, share), pool.labels[tests].tolist(), k)
