"""Sessions of simulated workers. No Django, plain values and paths only: worker processes import and unpickle this."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.metrics import accuracy, first_seen, teaching_gain
from teaching.engine import LearningRate, Pool, Population, SimulatedWorker, make_teacher, teach
from teaching.engine.arrays import FloatArray
from teaching.engine.teachers.jedi import Estimator

Row = dict[str, Any]
POPULATION = Population()


@dataclass(frozen=True)
class MeasuredWorker:
    """A simulated worker after the memory test, with the memory decay and lengths that follow from it."""

    seed: tuple[int, ...]
    span: float
    beta: float
    steps: Mapping[str, int]
    """by teacher"""


@dataclass(frozen=True, kw_only=True)
class Simulation:
    """The settings that all sessions of a study share."""

    pool_folder: Path
    evaluation_file: Path
    labels: tuple[int, ...]
    """of the evaluation images"""
    rate: LearningRate
    estimators: Mapping[str, Estimator]
    """by teacher"""
    repeat_window: int | None
    cold_start: int
    evaluation_size: int
    references: tuple[int, ...]
    """pool indices of the reference pictures shown before teaching"""

    @property
    def pool(self) -> Pool:
        return _pool(self.pool_folder)

    def sessions(self, measured: MeasuredWorker) -> dict[str, Row]:
        """One worker with every teacher, each time from the same start."""
        return {arm: self.session(arm, measured) for arm in measured.steps}

    def session(self, arm: str, measured: MeasuredWorker) -> Row:
        """One worker with one teacher: teaching and evaluation."""
        pool = self.pool
        worker = POPULATION.worker(pool, self.rate, measured.seed)
        teacher = make_teacher(
            arm,
            beta=measured.beta,
            learning_rate=self.rate,
            repeat_window=self.repeat_window,
            cold_start=self.cold_start,
            estimator=self.estimators[arm],
        )
        for row in self.references:
            worker.learn(pool.features[row], int(pool.labels[row]))
        steps, rng = measured.steps[arm], np.random.default_rng([*measured.seed, 3])
        history = teach(teacher, pool, worker, steps=steps, rng=rng)
        new = [shown for shown in history if shown.example not in self.references]
        seen = first_seen([(s.example, s.answer == pool.labels[s.example]) for s in new])
        is_correct = self.evaluate(worker, measured.seed)
        return {
            "span": measured.span,
            "steps": steps,
            "first_seen": accuracy(seen),
            "evaluation": accuracy(is_correct),
            "gain": teaching_gain(accuracy(is_correct), accuracy(seen)),
        }

    def evaluate(self, worker: SimulatedWorker, seed: tuple[int, ...]) -> list[bool]:
        rng, classes = np.random.default_rng([*seed, 4]), self.pool.class_count
        labels, images = np.array(self.labels), _images(self.evaluation_file)
        each = self.evaluation_size // classes
        drawn = [rng.permutation(np.flatnonzero(labels == y))[:each] for y in range(classes)]
        shown = rng.permutation(np.concatenate(drawn))
        return [bool(right) for right in worker.answers(images[shown]) == labels[shown]]


@lru_cache(maxsize=2)
def _pool(folder: Path) -> Pool:
    return Pool.load(folder)


@lru_cache(maxsize=2)
def _images(path: Path) -> FloatArray:
    return np.asarray(np.load(path, allow_pickle=False))
