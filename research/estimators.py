"""Beyond the paper: does it help to track what a learner believes, and which learners?"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from analysis.stats.predictions import BINS, MAX_PROBABILITY
from evaluation.metrics import accuracy, first_seen
from teaching import engine
from teaching.engine import Pool, Shown, Tracked, belief
from teaching.engine.arrays import FloatArray
from teaching.engine.classes import likeliest
from teaching.engine.history import Past

from . import estimators_report
from .data import Labelled, TaughtExperiment
from .estimators_report import ESTIMATORS, cell_name
from .experiment import BadExperiment, ResultRow, Results
from .humans import teaching_length
from .learners import KINDS, LearnerKind, Start, omniscient
from .report import Section
from .teachers import SEPARATOR, unique_examples

# JEDI with the regularised estimate: in a study a setting of the JEDI arm, not a teacher of its own.
REGULARISED = "regularised"
TEACHERS = ("rt", "imt", "eer", "jedi", REGULARISED, "tracked", "omniscient")
# The sessions in which predictions of the answers are recorded.
PREDICTED = ("rt", "tracked")
# Beliefs are recorded every so many steps after the cold start: adjacent ones are much alike.
STRIDE = 3


@dataclass(frozen=True, kw_only=True)
class Estimators(TaughtExperiment):
    """Every teacher gets the same learners, told the same β and η₀, and shows as many examples.

    The conviction applies to kinds of learners that do not set their own.
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
        """What the teachers are told about the learner of a seed, and how it starts."""
        rate = self.rate(pool)
        beta = engine.Population().worker(pool, rate, [seed]).beta
        return Start(pool, rate, beta, self.conviction, seed)

    def taught(
        self, name: str, kind: LearnerKind, worker: engine.SimulatedWorker, start: Start
    ) -> tuple[list[engine.Shown], ResultRow]:
        """A session, and the predictions recorded on the way."""
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
        """The teacher of a condition."""
        if name == REGULARISED:
            return engine.make_teacher(
                "jedi", beta=start.beta, learning_rate=start.rate, estimator="regularised"
            )
        return engine.make_teacher(name, beta=start.beta, learning_rate=start.rate)

    def report(self, results: Results) -> list[Section]:
        return estimators_report.sections(self, results)


def known(worker: engine.SimulatedWorker, examples: Labelled) -> float:
    """The share of examples whose true class the learner finds most likely, without slips."""
    said = likeliest(worker.learner.probabilities(examples.features))
    return float(np.mean(said == examples.labels))


# Predictions of a session's answers


@dataclass
class Predictions:
    """Predictions of each estimator: of the next answer as p, of the whole pool as loss and calibration.

    `truth` gives the current P(answer +1) of every example, shape (n,).
    """

    pool: Pool
    tracked: Tracked
    truth: Callable[[], FloatArray]
    next: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in ESTIMATORS})
    answers: list[int] = field(default_factory=list)
    losses: dict[str, list[float]] = field(default_factory=lambda: {n: [] for n in ESTIMATORS})
    bins: dict[str, FloatArray] = field(
        default_factory=lambda: {name: np.zeros((BINS, 3)) for name in ESTIMATORS}
    )

    def is_due(self, step: int) -> bool:
        """Whether predictions are recorded before this step, counted from 0."""
        late = step - self.tracked.cold_start
        return late >= 0 and late % STRIDE == 0

    def note(self, history: Sequence[Shown], shown: Shown) -> None:
        """Record the predictions of an answer that has just been given but not yet learned from, if due."""
        if not self.is_due(len(history)):
            return
        truth = self.truth()
        self.answers.append(shown.answer)
        for name, p in self.believed(history).items():
            self.next[name].append(round(float(p[shown.example]), 4))
            self.losses[name].append(cross_entropy(p, truth))
            self.bins[name] += binned(p, truth)

    def believed(self, history: Sequence[Shown]) -> dict[str, FloatArray]:
        """P(+1) of every example by each estimator, (n,) each."""
        past, labels = Past.read(history, self.pool), self.pool.labels
        right = (past.answers == labels[past.examples]).sum()
        share = (right + 1) / (len(past) + 2)
        return {
            "tracked": self.tracked.estimate(self.pool, past),
            "harmonic": belief(self.pool, history),
            "running": np.where(labels > 0, share, 1 - share),
        }

    def row(self, history: Sequence[Shown]) -> ResultRow:
        """As JSON, with the learning rate that tracking inferred, as a factor of the assumed one."""
        settled, _ = self.tracked.inferred(self.tracked.mixture(self.pool, history))
        factor = settled / self.tracked.learning_rate.initial
        row: ResultRow = {"answers": self.answers, "rate_factor": round(factor, 4)}
        for name in ESTIMATORS:
            row[f"next_{name}"] = self.next[name]
            row[f"pool_{name}"] = round(float(np.mean(self.losses[name])), 5)
            row[f"bins_{name}"] = np.round(self.bins[name], 2).tolist()
        return row


def cross_entropy(p: FloatArray, truth: FloatArray) -> float:
    """The mean log loss of p (n,), clipped to 1 to 99 %, if +1 has the probabilities `truth` (n,)."""
    kept = np.clip(p, 1 - MAX_PROBABILITY, MAX_PROBABILITY)
    return float(-np.mean(truth * np.log(kept) + (1 - truth) * np.log1p(-kept)))


def binned(p: FloatArray, truth: FloatArray) -> FloatArray:
    """For each tenth of p: the number of examples, the sum of p and the sum of `truth`, (10, 3)."""
    place = np.minimum((p * BINS).astype(np.intp), BINS - 1)
    columns = (np.ones_like(p), p, truth)
    return np.column_stack([np.bincount(place, column, BINS) for column in columns])
