"""What the engine alone expects of a study: simulated workers with every one of its teachers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from evaluation.metrics import accuracy, first_seen, teaching_gain
from memorytest import scoring
from memorytest.decay import decay_of
from studies.models import Dataset, Study
from teaching import pools
from teaching.assignment import teaching_length
from teaching.engine import Pool, Population, SimulatedWorker, make_teacher, teach
from teaching.engine.arrays import FloatArray, IntArray
from teaching.references import references_of
from teaching.services import estimator_of, learning_rate_of

from .bots import NoFeatures

Row = dict[str, Any]
POPULATION = Population()


class SimulatedStudy:
    """A study's pool, evaluation images and settings, ready for many sessions."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.pool: Pool = pools.load(study.dataset).pool
        self.rate = learning_rate_of(study)
        self.images, self.labels = evaluation_of(study.dataset)
        shown = references_of(study.dataset) if study.shows_references else []
        self.references = [
            example.pool_index for example in shown if example.pool_index is not None
        ]

    def session(self, arm: str, seed: list[int]) -> Row:
        """One worker with one teacher, from the memory test to the evaluation."""
        study, pool = self.study, self.pool
        worker = POPULATION.worker(pool, self.rate, seed)
        lengths = measured_lengths(worker, study)
        span = scoring.memory_span(lengths)
        teacher = make_teacher(
            arm,
            beta=decay_of(study, lengths, others={}).beta,
            learning_rate=self.rate,
            repeat_window=study.repeat_window,
            cold_start=study.cold_start,
            estimator=estimator_of(study, arm),
        )
        steps = teaching_length(study, arm, span)
        for row in self.references:
            worker.learn(pool.features[row], int(pool.labels[row]))
        history = teach(teacher, pool, worker, steps=steps, rng=np.random.default_rng([*seed, 3]))
        new = [shown for shown in history if shown.example not in self.references]
        seen = first_seen([(s.example, s.answer == pool.labels[s.example]) for s in new])
        is_correct = self.evaluate(worker, seed)
        return {
            "span": span,
            "steps": steps,
            "first_seen": accuracy(seen),
            "evaluation": accuracy(is_correct),
            "gain": teaching_gain(accuracy(is_correct), accuracy(seen)),
        }

    def evaluate(self, worker: SimulatedWorker, seed: list[int]) -> list[bool]:
        rng, classes = np.random.default_rng([*seed, 4]), self.pool.class_count
        each = self.study.evaluation_size // classes
        drawn = [rng.permutation(np.flatnonzero(self.labels == y))[:each] for y in range(classes)]
        shown = rng.permutation(np.concatenate(drawn))
        return [bool(right) for right in worker.answers(self.images[shown]) == self.labels[shown]]


def evaluation_of(dataset: Dataset) -> tuple[FloatArray, IntArray]:
    """Features (m, d) and classes (m,) of the evaluation images."""
    features = pools.evaluation_features(dataset)
    if features is None:
        raise NoFeatures(dataset)
    labels = dict(dataset.examples.values_list("pk", "label"))
    numbers = [labels[pk] for pk in features]
    return np.array(list(features.values())), np.array(numbers, dtype=np.intp)


def measured_lengths(worker: SimulatedWorker, study: Study) -> list[int]:
    """Of the trials of the study's memory test."""
    return scoring.lengths_by_test(
        worker.restore, study.memory_min_length, study.memory_max_length, study.memory_trials
    )


def forecast(study: Study, workers: int, seed: int) -> Iterator[tuple[str, Row]]:
    """Session by session, teacher by teacher.

    The same worker meets every teacher: paired, a difference shows with fewer workers.
    """
    simulated = SimulatedStudy(study)
    for number in range(workers):
        for arm in study.arm_names:
            yield arm, simulated.session(arm, [seed % 2**32, number])
