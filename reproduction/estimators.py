"""Beyond the paper: does it pay to track what a learner believes, and for whom?"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evaluation.metrics import accuracy, first_seen
from teaching import engine
from teaching.engine.classes import likeliest

from . import estimators_report
from .conditions import SEPARATOR
from .experiment import BadExperiment, ResultRow, Results
from .features import Labelled
from .humans import teaching_length
from .kinds import KINDS, LearnerKind, Start, omniscient
from .predictions import Predictions
from .report import Section
from .sessions import unique_examples
from .taught import TaughtExperiment
from .verdicts import cell_name

# JEDI with the mended harmonic estimate, which is a setting of a study's JEDI arm and no teacher of its own.
MENDED = "mended"
TEACHERS = ("rt", "imt", "eer", "jedi", MENDED, "tracked", "omniscient")
# In these sessions it is noted how well the answers are predicted: taught by chance, and by the teacher that predicts.
PREDICTED = ("rt", "tracked")


@dataclass(frozen=True, kw_only=True)
class Estimators(TaughtExperiment):
    """Every teacher gets the same learners, told the same β and η₀, and shows as many examples.

    The conviction is that of learners whose kind does not say another.
    """

    name: ClassVar[str] = "estimators"
    title: ClassVar[str] = "Beyond the paper: a teacher that tracks what the learner believes"

    conviction: float = 0.1
    kinds: tuple[str, ...] = tuple(kind.name for kind in KINDS)

    @staticmethod
    def add_arguments(parser: ArgumentParser) -> None:
        TaughtExperiment.add_arguments(parser)
        parser.add_argument(
            "--kinds", nargs="+", metavar="KIND", help=f"of {', '.join(k.name for k in KINDS)}"
        )

    def __post_init__(self) -> None:
        super().__post_init__()
        unknown = set(self.kinds) - {kind.name for kind in KINDS}
        if unknown or not self.kinds:
            names = ", ".join(kind.name for kind in KINDS)
            raise BadExperiment(f"Kinds of learners are {names}; not {', '.join(sorted(unknown))}.")

    def chosen_kinds(self) -> list[LearnerKind]:
        return [kind for kind in KINDS if kind.name in self.kinds]

    def cells(self) -> Sequence[str]:
        return [
            cell_name(material.title, kind.name, teacher)
            for material in self.materials
            for kind in self.chosen_kinds()
            for teacher in TEACHERS
            if kind.has_concept or teacher != "omniscient"
        ]

    def run(self, cell: str, seed: int) -> ResultRow:
        """One learner with one teacher, from the first example to the evaluation."""
        title, kind_name, name = cell.rsplit(SEPARATOR, 2)
        kind = next(one for one in KINDS if one.name == kind_name)
        pool, evaluation = self.material(title).load()
        start = self.start(pool, seed)
        worker = kind.worker(start)
        history, notes = self.taught(name, kind, worker, start)
        seen = first_seen([(s.example, s.answer == pool.labels[s.example]) for s in history])
        return {
            "evaluation": round(known(worker, evaluation), 5),
            "first_seen": accuracy(seen),
            "unique": unique_examples(history),
            **notes,
        }

    def start(self, pool: engine.Pool, seed: int) -> Start:
        """What the teachers are told about the learner of a number, and how it begins."""
        rate = self.rate(pool)
        beta = engine.Population().worker(pool, rate, [seed]).beta
        return Start(pool, rate, beta, self.conviction, seed)

    def taught(
        self, name: str, kind: LearnerKind, worker: engine.SimulatedWorker, start: Start
    ) -> tuple[list[engine.Shown], ResultRow]:
        """A session, and what was believed on the way."""
        steps = teaching_length("jedi", 1 / (1 - start.beta))
        rng = np.random.default_rng([start.seed, 3])
        if name == "omniscient":
            teacher, seen = omniscient(worker, start.pool)
            return engine.teach(teacher, seen, worker, steps=steps, rng=rng), {}
        teacher = self.teacher(name, start)
        if name not in PREDICTED:
            return engine.teach(teacher, start.pool, worker, steps=steps, rng=rng), {}
        predictions = Predictions(
            start.pool,
            engine.Tracked(beta=start.beta, learning_rate=start.rate),
            lambda: kind.chances(worker, start.pool.features),
        )
        history = engine.teach(
            teacher, start.pool, worker, steps=steps, rng=rng, before_lesson=predictions.note
        )
        return history, predictions.row(history)

    @staticmethod
    def teacher(name: str, start: Start) -> engine.Teacher:
        """The teacher of a condition, told about the learner what every teacher is told."""
        if name == MENDED:
            return engine.make_teacher(
                "jedi", beta=start.beta, learning_rate=start.rate, estimator="mended"
            )
        return engine.make_teacher(name, beta=start.beta, learning_rate=start.rate)

    def report(self, results: Results) -> list[Section]:
        return estimators_report.sections(self, results)


def known(worker: engine.SimulatedWorker, examples: Labelled) -> float:
    """The share of examples of which the learner takes the true class for the likeliest: slips left out."""
    said = likeliest(worker.learner.probabilities(examples.features))
    return float(np.mean(said == examples.labels))
