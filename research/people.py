"""Beyond the paper: how well models predict the answers of people, on trial-by-trial data of real learning."""

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
from teaching.engine.bank.mixture import Mixture
from teaching.engine.classes import folded, unfolded
from teaching.engine.history import Past
from teaching.engine.learners.paper import check_beta
from teaching.engine.regularised import regularised_harmonic

from . import people_report
from .data import absolute_path, digest
from .experiment import BadExperiment, Experiment, ResultRow, Results, Unit
from .people_data import ITEMS, MEMORY, TRIALS, PeopleSet, PersonSession, read_people
from .people_scores import shared
from .report import ReportTable, Section

# The version of the row format; a run with another one cannot be resumed.
ROWS = 6
HARMONIC, REGULARISED, TRACKED, RUNNING = "harmonic", "regularised", "tracked", "running"


@dataclass(frozen=True, kw_only=True)
class People(Experiment):
    """The first `answers` of each task are predicted; `beta` is what the teachers assume for everybody."""

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
            type=absolute_path,
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
        """Reads all sets, so that errors show before the work starts."""
        names = [_people(path).name for path in self.paths]
        if len(set(names)) < len(names):
            raise BadExperiment("Two of the folders have the same name; rename one of them.")
        return replace(self, seeds=1)

    def settings(self) -> dict[str, Any]:
        data = [[digest(path / name) for name in (ITEMS, TRIALS)] for path in self.paths]
        return super().settings() | {"data": data, "rows": ROWS}

    def reported_settings(self) -> dict[str, Any]:
        """Without seeds, and with the digests of the files in each folder."""
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
        """One person in one task: the prediction of every method before each answer."""
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
        """The loss of the next answer, by set."""
        return sections[0].tables


@cache
def _people(path: Path) -> PeopleSet:
    return read_people(path)


@dataclass(frozen=True)
class Lesson:
    """A person's task for the engine: the pool, the taught examples and answers, and the tests."""

    pool: Pool
    tracked: Tracked
    examples: IntArray
    answers: IntArray
    predicted: int
    """the number of answers to predict"""
    tests: IntArray
    test_answers: IntArray
    tests_after: IntArray
    """the number of examples taught before each test"""

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
        """The true classes of the predicted answers."""
        return self.pool.labels[self.examples[: self.predicted]]

    def history(self, steps: int) -> list[Shown]:
        """The first steps. No method reads the stored beliefs, so they are uniform."""
        rows = zip(self.examples[:steps].tolist(), self.answers[:steps].tolist(), strict=True)
        return [Shown(example, answer, self._even) for example, answer in rows]

    @property
    def _even(self) -> list[float]:
        return [1 / self.pool.class_count] * self.pool.class_count

    def expected(self) -> dict[str, FloatArray]:
        """P of all classes before each answer, (t, k), by every method."""
        history, mixture = self.history(self.predicted), self.mixture
        alone = {family.name: mixture.only(family.name).predicted_answers() for family in FAMILIES}
        return {
            HARMONIC: np.array(
                [self._harmonic(history[:s])[self.examples[s]] for s in range(len(history))]
            ),
            REGULARISED: np.array([step.p for step in with_estimates(self.pool, history)]),
            TRACKED: mixture.predicted_answers(),
            RUNNING: running(self.labels, self.answers[: self.predicted], self.pool.class_count),
            **alone,
        }

    @cached_property
    def mixture(self) -> Mixture:
        """The mixture after the predicted answers."""
        return self.tracked.mixture(self.pool, self.history(self.predicted))

    def singles(self) -> dict[str, FloatArray]:
        """P before each answer by every single model of the bank: (t,) for class 1 of two, (t, k) for more."""
        return each_model(self.mixture)

    def singles_of_tests(self) -> dict[str, FloatArray]:
        """The same for the tests, each as if it came next; its own answer is not used."""
        history, even, each = self.history(self.examples.size), self._even, []
        for test, before in zip(self.tests.tolist(), self.tests_after.tolist(), strict=True):
            follows = [*history[:before], Shown(test, 0, even)]
            each.append(each_model(self.tracked.mixture(self.pool, follows)))
        return {name: np.array([one[name][-1] for one in each]) for name in each[0]}

    def _harmonic(self, before: Sequence[Shown]) -> FloatArray:
        return unfolded(np.asarray(belief(self.pool, before)), self.pool.class_count)

    def fitted(self) -> ResultRow:
        """The fit of the paper's learner (η₀ and β), and the probabilities of the families."""
        fit, weights = fit_decay(self.mixture.observed), self.mixture.family_weights()
        rounded = {name: round(weight, 4) for name, weight in weights.items()}
        fitted = {"surface": list(fit.surface), "rate": fit.rate, "gain": round(fit.gain, 3)}
        return fitted | {"families": rounded}

    def tested(self) -> ResultRow:
        """The predictions of the tests, each from the lessons before it."""
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
        """P of all classes for each test, (e, k), by every method."""
        history = self.history(self.examples.size)
        estimated = with_estimates(self.pool, history)
        parts = []
        for before in np.unique(self.tests_after).tolist():
            tests = self.tests[self.tests_after == before]
            parts.append(self._after(history[:before], estimated[:before], tests))
        # Trials are ordered by time, so the parts are too.
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def _after(
        self, history: Sequence[Shown], estimated: Sequence[Shown], tests: IntArray
    ) -> dict[str, FloatArray]:
        """Predictions of some tests after a history; `estimated` is the same history with the regularised estimates."""
        pool, taught = self.pool, len(history)
        mixture = self.tracked.mixture(pool, history)
        alone = {family.name: mixture.only(family.name).predict(tests) for family in FAMILIES}
        examples, answers = self.examples[:taught], self.answers[:taught]
        return {
            HARMONIC: self._harmonic(history)[tests],
            REGULARISED: regularised_harmonic(pool, Past.read(estimated, pool))[tests],
            TRACKED: mixture.predict(tests),
            RUNNING: running_after(pool, examples, answers, tests),
            **alone,
        }


def each_model(mixture: Mixture) -> dict[str, FloatArray]:
    """P before each answer by every single model: (t,) for class 1 of two, (t, k) for more."""
    return {
        f"{member.family.name}: {name}": folded(p)
        for member in mixture.members
        for name, p in zip(
            distinguishing(member.predictions.names), member.each_alone(), strict=True
        )
    }


def distinguishing(names: Sequence[str]) -> list[str]:
    """Names of models without the settings that the whole family shares, unless it is a single model."""
    parts = [name.split(", ") for name in names]
    alike = set.intersection(*map(set, parts)) if len(parts) > 1 else set()
    return [", ".join(one for one in own if one not in alike) for own in parts]


def with_estimates(pool: Pool, history: Sequence[Shown]) -> list[Shown]:
    """The history with the regularised estimate of each step, which later estimates read."""
    steps: list[Shown] = []
    for step in history:
        p = regularised_harmonic(pool, Past.read(steps, pool))[step.example]
        steps.append(replace(step, p=p.tolist()))
    return steps


@lru_cache(maxsize=64)
def _pool(data: PeopleSet, items: tuple[int, ...], labels: tuple[int, ...]) -> Pool:
    return Pool(data.features[list(items)], np.array(labels), classes=len(data.classes))


def running(labels: IntArray, answers: IntArray, k: int) -> FloatArray:
    """P of all classes before each answer by the person's accuracy so far, (t, k)."""
    right = (labels == answers).astype(np.float64)
    before = np.concatenate([[0.0], np.cumsum(right)[:-1]])
    return shared((before + 1) / (np.arange(right.size) + k), labels.tolist(), k)


def running_after(pool: Pool, examples: IntArray, answers: IntArray, tests: IntArray) -> FloatArray:
    """P of all classes for the tests by the person's accuracy until then."""
    k = pool.class_count
    share = ((answers == pool.labels[examples]).sum() + 1) / (answers.size + k)
    return shared(np.full(tests.size, share), pool.labels[tests].tolist(), k)
