"""The human experiment with simulated workers: memory test, teaching, evaluation, teaching gain."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evaluation.metrics import accuracy, first_seen, teaching_gain
from memorytest import scoring
from teaching import engine

from . import humans_report
from .conditions import ARMS, WINDOW, Condition, cell_of, split_cell
from .experiment import ResultRow, Results
from .features import EVALUATION_PER_CLASS, Labelled, drawn_from_each_class
from .report import Section
from .taught import TaughtExperiment

MEMORY_TRIALS, SHORTEST, LONGEST = 3, 2, 9
# JEDI's images by the span that was measured: up to 4.5, up to 6.5, beyond. The others show 30.
LENGTHS = ((4.5, 20), (6.5, 30), (float("inf"), 40))
OTHER_STEPS = 30


@dataclass(frozen=True, kw_only=True)
class Humans(TaughtExperiment):
    """Spans n̄ are drawn from a normal distribution of mean `span` and standard deviation `span_sd`, within 2 and 9."""

    name: ClassVar[str] = "humans"
    title: ClassVar[str] = "The human experiment with simulated workers"

    span: float = 5.5
    span_sd: float = 1.5
    conviction: float = 0.3
    bernoulli: bool = False
    guess: float = 0.0
    lapse: float = 0.02

    @staticmethod
    def add_arguments(parser: ArgumentParser) -> None:
        TaughtExperiment.add_arguments(parser)
        parser.add_argument(
            "--bernoulli", action="store_true", help="answers are drawn by belief, not by its side"
        )
        parser.add_argument("--span", type=float, help="mean memory span n̄ (5.5)")
        parser.add_argument("--guess", type=float, help="share of answers that are guessed (0)")
        parser.add_argument("--lapse", type=float, help="share of answers that are slips (0.02)")

    def cells(self) -> Sequence[str]:
        return [cell_of(one.title, arm) for one in self.materials for arm in ARMS]

    def run(self, cell: str, seed: int) -> ResultRow:
        """One worker with one teacher, from the memory test to the evaluation."""
        title, arm = split_cell(cell, ARMS)
        pool, evaluation = self.material(title).load()
        worker = self.worker(pool, seed)
        span = measured_span(worker)
        steps = teaching_length(arm.teacher, span)
        teacher = self.teacher(arm, worker, scoring.memory_decay(span), pool)
        history = engine.teach(
            teacher, pool, worker, steps=steps, rng=np.random.default_rng([seed, 3])
        )
        seen = first_seen([(s.example, s.answer == pool.labels[s.example]) for s in history])
        examined = evaluation_answers(worker, evaluation, seed)
        return {
            "beta": worker.beta,
            "span": span,
            "steps": steps,
            "unique": len(seen),
            "first_seen": accuracy(seen),
            "evaluation": accuracy(examined),
            "gain": teaching_gain(accuracy(examined), accuracy(seen)),
        }

    def worker(self, pool: engine.Pool, seed: int) -> engine.SimulatedWorker:
        """The worker of a number, the same for every teacher."""
        population = engine.Population(
            span=self.span,
            span_sd=self.span_sd,
            shortest=SHORTEST,
            longest=LONGEST,
            conviction=self.conviction,
            bernoulli=self.bernoulli,
            habits=engine.Habits(guess=self.guess, lapse=self.lapse),
        )
        return population.worker(pool, self.rate(pool), [seed])

    def teacher(
        self, arm: Condition, worker: engine.SimulatedWorker, beta: float, pool: engine.Pool
    ) -> engine.Teacher:
        """A teacher who knows the measured β, or who reads the worker's mind."""
        if arm.teacher == "omniscient" and isinstance(worker.learner, engine.SimulatedLearner):
            return engine.OmniscientJEDI(
                learner=worker.learner,
                beta=worker.beta,
                learning_rate=self.rate(pool),
                cold_start=5,
            )
        window = None if arm.reading == WINDOW else 0
        return engine.make_teacher(
            arm.teacher, beta=beta, learning_rate=self.rate(pool), repeat_window=window
        )

    def report(self, results: Results) -> list[Section]:
        return humans_report.sections(self, results)


def measured_span(worker: engine.SimulatedWorker) -> float:
    """n̄ by the memory test: in every trial one picture more until an order is wrong."""
    return scoring.span_by_test(worker.restore, SHORTEST, LONGEST, MEMORY_TRIALS)


def teaching_length(teacher: str, span: float) -> int:
    """How many images are taught: by the span for JEDI, 30 for the others."""
    if teacher not in ("jedi", "omniscient"):
        return OTHER_STEPS
    return next(steps for longest, steps in LENGTHS if span <= longest)


def evaluation_answers(worker: engine.SimulatedWorker, examples: Labelled, seed: int) -> list[bool]:
    """Which of 50 images of each class, or of as many as there are, are answered rightly."""
    rng = np.random.default_rng([seed, 4])
    shown = rng.permutation(drawn_from_each_class(examples.labels, EVALUATION_PER_CLASS, rng))
    answers = worker.answers(examples.features[shown])
    return [bool(right) for right in answers == examples.labels[shown]]
