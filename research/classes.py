"""Beyond the paper: the same teachers with two, three and five classes."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from analysis.stats import summarise
from teaching import engine
from teaching.engine.classes import likeliest

from .data import Divided, Labelled, accuracy_of, divided
from .estimators_report import share_of_way
from .experiment import BadExperiment, Experiment, ResultRow, Results
from .figures import Dots, dot_plot, dots_data
from .report import Data, Figure, ReportTable, Section, points_between, with_interval
from .teachers import SEPARATOR, OmniscientJEDI, distance

TEACHERS = {
    "rt": "RT",
    "imt": "IMT",
    "eer": "EER",
    "jedi": "JEDI",
    "tracked": "Tracked",
    "omniscient": "omniscient JEDI",
}
TARGET = "target"
FEATURES, EXAMPLES, TEACHING_SHARE = 20, 600, 0.5
# The distance between the means of two classes, in standard deviations of a feature.
APART = 3.0
BETA = 0.75


@dataclass(frozen=True, kw_only=True)
class Classes(Experiment):
    """Gaussian classes with the same distance between means for any k, and the learner that the teachers assume."""

    name: ClassVar[str] = "classes"
    title: ClassVar[str] = "Beyond the paper: two, three and five classes"

    classes: tuple[int, ...] = (2, 3, 5)
    steps: int = 30
    conviction: float = 0.3

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.classes or min(self.classes) < 2 or max(self.classes) > FEATURES:
            raise BadExperiment(f"Numbers of classes lie between 2 and {FEATURES}.")

    @staticmethod
    def add_arguments(parser: ArgumentParser) -> None:
        parser.add_argument(
            "--classes", nargs="+", type=int, metavar="K", help="how many classes (2 3 5)"
        )
        parser.add_argument("--steps", type=int, help="examples that are taught (30)")

    def cells(self) -> Sequence[str]:
        return [cell_of(k, teacher) for k in self.classes for teacher in TEACHERS]

    def run(self, cell: str, seed: int) -> ResultRow:
        """One learner with one teacher; classes, split and first concept depend on k and the seed only."""
        k, name = cell.split(SEPARATOR)
        split, pool = gaussian_classes(int(k), seed)
        rate = engine.LearningRate(engine.suggest_learning_rate(pool, self.steps))
        worker = engine.make_worker(
            pool, beta=BETA, learning_rate=rate, seed=[seed, 2], conviction=self.conviction
        )
        history = engine.teach(
            _teacher(name, worker, rate),
            pool,
            worker,
            steps=self.steps,
            rng=np.random.default_rng([seed, 3]),
        )
        learner = _simulated(worker)
        said = likeliest(learner.probabilities(split.evaluation.features))
        return {
            "evaluation": float(np.mean(said == split.evaluation.labels)),
            "distance": distance(learner.concept, pool.target),
            "unique": len({step.example for step in history}),
            TARGET: accuracy_of(pool.target, split.evaluation),
        }

    def report(self, results: Results) -> list[Section]:
        return [self._about(), self._accuracies(results), self._gaps(results)]

    def _about(self) -> Section:
        return Section(
            "What was done",
            [
                f"Classes are Gaussian in {FEATURES} features, their means {APART:g} standard deviations from each "
                f"other for any number of classes; {EXAMPLES} examples, half of them to teach with. Every learner is "
                f"the one that the teachers assume (softmax, β = {BETA:g}, deterministic answers), begins with "
                f"margins of {self.conviction:g} and sees {self.steps} examples. Every teacher gets the same "
                f"{self.seeds} learners for a number of classes."
            ],
        )

    def _accuracies(self, results: Results) -> Section:
        header = ["", *(f"{k} classes" for k in self.classes)]
        rows = [
            [title, *(self._mean(results, k, teacher, "evaluation") for k in self.classes)]
            for teacher, title in TEACHERS.items()
        ]
        rows.append(
            ["the target concept", *(self._mean(results, k, "rt", TARGET) for k in self.classes)]
        )
        rows.append(["chance", *(f"{100 / k:.1f}" for k in self.classes)])
        table = ReportTable(
            title="Evaluation accuracy, %",
            header=header,
            rows=rows,
            caption=f"Means over {self.seeds} learners with 95 % intervals.",
            data=results.data(
                "classes-accuracy",
                self.cells(),
                ["evaluation", "distance", "unique", TARGET],
                "learner",
            ),
        )
        return Section("What was learned", [], [table], [self._figure(results)])

    def _mean(self, results: Results, k: int, teacher: str, what: str) -> str:
        return with_interval(results.summary(cell_of(k, teacher), what, factor=100), 1)

    def _figure(self, results: Results) -> Figure:
        rows = [
            Dots(
                f"{k} classes",
                [results.summary(cell_of(k, one), "evaluation", factor=100) for one in TEACHERS],
            )
            for k in self.classes
        ]
        drawing = dot_plot(
            "Accuracy by classes", "evaluation accuracy, %", [*TEACHERS.values()], rows
        )
        data = dots_data("classes-figure", "classes", TEACHERS, rows)
        return Figure(drawing, "Means with 95 % intervals.", data)

    def _gaps(self, results: Results) -> Section:
        rows = [self._gap(results, k) for k in self.classes]
        table = ReportTable(
            title="From JEDI to the omniscient teacher",
            header=[
                "",
                "omniscient − JEDI, points",
                "omniscient − Tracked, points",
                "Tracked’s share of the way, %",
            ],
            rows=rows,
            caption="Differences learner by learner, with 95 % intervals; the share by the bootstrap.",
            data=Data("classes-gaps", ["classes", "jedi", "tracked", "share"], rows),
        )
        return Section("What a better estimate could still win", [], [table])

    def _gap(self, results: Results, k: int) -> list[str]:
        jedi, tracked, best = (
            results.values(cell_of(k, one), "evaluation")
            for one in ("jedi", "tracked", "omniscient")
        )
        share = share_of_way(jedi, tracked, best)
        return [
            f"{k} classes",
            with_interval(summarise(points_between(best, jedi)), 1),
            with_interval(summarise(points_between(best, tracked)), 1),
            "–"
            if share is None
            else f"{100 * share.value:.0f} [{100 * share.interval.low:.0f}, {100 * share.interval.high:.0f}]",
        ]


def cell_of(k: int, teacher: str) -> str:
    """The name of a condition."""
    return f"{k}{SEPARATOR}{teacher}"


@lru_cache(maxsize=4)
def gaussian_classes(k: int, seed: int) -> tuple[Divided, engine.Pool]:
    """The examples of k classes and a seed, and the pool of the teaching half."""
    rng = np.random.default_rng([seed, k, 1])
    # Corners of a randomly rotated regular simplex: all pairs have the same distance.
    turned, _ = np.linalg.qr(rng.standard_normal((FEATURES, k)))
    means = turned.T * APART / np.sqrt(2)
    labels = rng.permutation(np.arange(EXAMPLES) % k)
    features = rng.standard_normal((EXAMPLES, FEATURES)) + means[labels]
    split = divided(Labelled(features, labels), TEACHING_SHARE, rng)
    centre = split.teaching.features.mean(axis=0)
    teaching = Labelled(split.teaching.features - centre, split.teaching.labels)
    evaluation = Labelled(split.evaluation.features - centre, split.evaluation.labels)
    return Divided(teaching, evaluation), engine.Pool(teaching.features, teaching.labels, classes=k)


def _teacher(
    name: str, worker: engine.SimulatedWorker, rate: engine.LearningRate
) -> engine.Teacher:
    if name == "omniscient":
        return OmniscientJEDI(
            learner=_simulated(worker), beta=BETA, learning_rate=rate, cold_start=5
        )
    return engine.make_teacher(name, beta=BETA, learning_rate=rate)


def _simulated(worker: engine.SimulatedWorker) -> engine.SimulatedLearner:
    if not isinstance(worker.learner, engine.SimulatedLearner):
        raise TypeError(f"{worker.learner!r} has no concept to read")
    return worker.learner
