"""Synthetic learners on three data sets, taught by RT, IMT and JEDI that see nothing but the learner's answers."""

from __future__ import annotations

import dataclasses
from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from teaching import engine
from teaching.engine.arrays import FloatArray

from . import graphs, newsgroups, synthetic_report
from .conditions import WINDOW, Condition, cell_of, split_cell, under_both_readings
from .experiment import BadExperiment, Experiment, ResultRow, Results
from .features import Divided, Labelled, accuracy_of, digest, divided, read_labelled
from .report import Section
from .sessions import MeasuredLearner, distance, unique_examples
from .tasks import GAUSSIAN, TASKS

BETAS = (0.368, 0.5, 0.75, 0.875, 0.999)
# A window of 2/(1 − 0.999) steps covers any pool; this much of one shows what a bound would do.
CAP = 100
FEATURES = 10
TEACHING_SHARE = 0.2
PAPER_GRAPH, OWN_GRAPH = GRAPHS = ("paper", "own")


@dataclass(frozen=True, kw_only=True)
class Synthetic(Experiment):
    """`start_length` (of the first concept) and `noise` (a standard deviation) are not stated by the paper.

    `features` are archives of prepared text features; what is not among them is made of 20 Newsgroups.
    """

    name: ClassVar[str] = "synthetic"
    title: ClassVar[str] = "Synthetic learners: RT, IMT and JEDI with the harmonic estimate"

    data: tuple[str, ...] = tuple(TASKS)
    features: tuple[Path, ...] = ()
    newsgroups: Path | None = None
    learning_rate: float = 0.03
    start_length: float = 1.0
    noise: float = 0.001
    graph: str = PAPER_GRAPH
    steps: int | None = None

    @staticmethod
    def add_arguments(parser: ArgumentParser) -> None:
        parser.add_argument(
            "--data", nargs="+", choices=list(TASKS), help="some of the data sets (default: all)"
        )
        parser.add_argument(
            "--features",
            nargs="+",
            type=Path,
            metavar="PATH",
            help="prepared text features: a folder with comp_vs_sci.npz and rec_vs_talk.npz, or such files",
        )
        parser.add_argument(
            "--newsgroups",
            type=Path,
            metavar="FOLDER",
            help="20 Newsgroups without a network: scikit-learn's data folder, or the unpacked archive",
        )
        parser.add_argument("--start-length", type=float, help="of the first concept (default 1)")
        parser.add_argument("--noise", type=float, help="on the concept after a step (0.001)")
        parser.add_argument(
            "--graph", choices=GRAPHS, help="the paper's affinities (default) or the engine's own"
        )
        parser.add_argument("--steps", type=int, help="shorten the sessions, for a quick look")

    def prepared(self, folder: Path) -> Self:
        """With one archive for each text data set, in the order of the data sets."""
        given = [file for path in self.features for file in _archives(path)]
        paths = [self._archive(name, given, folder) for name in self.data if name != GAUSSIAN]
        return dataclasses.replace(self, features=tuple(paths))

    def _archive(self, name: str, given: Sequence[Path], folder: Path) -> Path:
        for path in given:
            if path.stem.startswith(name):
                return path
        if given:
            raise BadExperiment(
                f"--features names no archive {name}*.npz. Give one, or leave it out: --data …"
            )
        path = folder / f"{name}.npz"
        if not path.exists():
            newsgroups.prepare(name, path, self.newsgroups)
        return path

    def settings(self) -> dict[str, Any]:
        archives = {path.name: digest(path) for path in self.features if path.exists()}
        return super().settings() | {"archives": archives}

    def conditions(self) -> list[Condition]:
        return [*under_both_readings("rt", BETAS), Condition("jedi", BETAS[-1], WINDOW, CAP)]

    def cells(self) -> Sequence[str]:
        return [cell_of(name, one) for name in self.data for one in self.conditions()]

    def steps_of(self, name: str) -> int:
        return min(self.steps or TASKS[name].steps, TASKS[name].steps)

    def run(self, cell: str, seed: int) -> ResultRow:
        """One session; split, first concept and first example follow from data set and seed alone."""
        name, condition = split_cell(cell, self.conditions())
        examples, pool = self.split(name, seed)
        rate = engine.LearningRate(self.learning_rate, TASKS[name].decay)
        learner = engine.SimulatedLearner(
            self._first_concept(pool.dimensions, seed),
            beta=condition.beta,
            learning_rate=rate,
            noise=self.noise,
            rng=np.random.default_rng([seed, 4]),
        )
        measured = MeasuredLearner(
            learner,
            {
                "accuracy": lambda concept: accuracy_of(concept, examples.evaluation),
                "distance": lambda concept: distance(concept, pool.target),
            },
        )
        history = engine.teach(
            _teacher(condition, rate),
            pool,
            measured,
            steps=self.steps_of(name),
            rng=np.random.default_rng([seed, 3]),
        )
        return {
            "unique": unique_examples(history),
            "accuracy": accuracy_of(learner.concept, examples.evaluation),
            "target_accuracy": accuracy_of(pool.target, examples.evaluation),
            "accuracy_curve": measured.curves["accuracy"],
            "distance_curve": measured.curves["distance"],
        }

    def split(self, name: str, seed: int) -> tuple[Divided, engine.Pool]:
        """The split of a seed, and the pool of its teaching part."""
        if name == GAUSSIAN:
            return _split(None, seed, self.graph)
        return _split(self._archive(name, self.features, Path()), seed, self.graph)

    def _first_concept(self, dimensions: int, seed: int) -> FloatArray:
        """In a random direction."""
        drawn = np.random.default_rng([seed, 2]).standard_normal(dimensions)
        return np.asarray(self.start_length * drawn / np.linalg.norm(drawn))

    def report(self, results: Results) -> list[Section]:
        return synthetic_report.sections(self, results)


@lru_cache(maxsize=4)
def _split(path: Path | None, seed: int, graph: str) -> tuple[Divided, engine.Pool]:
    rng = np.random.default_rng([seed, 1])
    examples = gaussian(rng) if path is None else read_labelled(path)
    split = divided(examples, TEACHING_SHARE, rng)
    affinity = None
    if graph == PAPER_GRAPH:
        rule = graphs.by_features if path is None else graphs.by_angle
        affinity = rule(split.teaching.features)
    return split, engine.Pool(split.teaching.features, split.teaching.labels, affinity=affinity)


def _teacher(condition: Condition, rate: engine.LearningRate) -> engine.Teacher:
    if condition.teacher == "rt":
        # The same draws as RT's, without the estimate that RT only notes down.
        return engine.SGD(learning_rate=rate, cold_start=1)
    return engine.make_teacher(
        condition.teacher,
        beta=condition.beta,
        learning_rate=rate,
        repeat_window=condition.window,
        cold_start=1,
    )


def gaussian(rng: np.random.Generator, n: int = 2000) -> Labelled:
    """Two classes about ∓0.6 in every feature, whose variances lie between 1 and 10."""
    labels = np.repeat([0, 1], n // 2)
    deviations = np.sqrt(rng.uniform(1, 10, FEATURES))
    centres = np.array([-0.6, 0.6])[labels, None]
    return Labelled(centres + deviations * rng.standard_normal((n, FEATURES)), labels)


def _archives(path: Path) -> list[Path]:
    if path.is_dir():
        return [path / f"{name}.npz" for name in TASKS if (path / f"{name}.npz").exists()]
    return [path]
