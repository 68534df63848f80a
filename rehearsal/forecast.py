"""Simulates workers with every teacher of a study, by the engine and without a server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from jobs.processes import mapped
from memorytest import scoring
from memorytest.decay import decay_of
from studies.models import Dataset, Study
from teaching import pools
from teaching.assignment import teaching_length
from teaching.choice import estimator_of, learning_rate_of
from teaching.references import references_of

from .bots import NoFeatures
from .simulation import POPULATION, MeasuredWorker, Row, Simulation


@contextmanager
def forecast(
    study: Study, workers: int, seed: int, processes: int = 1
) -> Iterator[Iterator[dict[str, Row]]]:
    """For every worker, a row for each teacher.

    The same worker meets every teacher, because paired comparisons need fewer workers.
    """
    simulation = simulation_of(study)
    measured = [measured_worker(study, simulation, (seed % 2**32, n)) for n in range(workers)]
    with mapped(simulation.sessions, measured, workers=processes, chunk=1) as results:
        yield results


def simulation_of(study: Study) -> Simulation:
    shown = references_of(study.dataset) if study.shows_references else []
    return Simulation(
        pool_folder=study.dataset.folder / "pool",
        evaluation_file=study.dataset.folder / pools.EVALUATION,
        labels=evaluation_labels(study.dataset),
        rate=learning_rate_of(study),
        estimators={arm: estimator_of(study, arm) for arm in study.arm_names},
        repeat_window=study.repeat_window,
        cold_start=study.cold_start,
        evaluation_size=study.evaluation_size,
        references=tuple(one.pool_index for one in shown if one.pool_index is not None),
    )


def evaluation_labels(dataset: Dataset) -> tuple[int, ...]:
    features = pools.evaluation_features(dataset)
    if features is None:
        raise NoFeatures(dataset)
    labels = dict(dataset.examples.values_list("pk", "label"))
    return tuple(labels[pk] for pk in features)


def measured_worker(study: Study, simulation: Simulation, seed: tuple[int, ...]) -> MeasuredWorker:
    """A worker after the study's memory test, which does not change the worker's later random draws."""
    worker = POPULATION.worker(simulation.pool, simulation.rate, seed)
    lengths = scoring.lengths_by_test(
        worker.restore, study.memory_min_length, study.memory_max_length, study.memory_trials
    )
    span = scoring.memory_span(lengths)
    steps = {arm: teaching_length(study, arm, span) for arm in study.arm_names}
    return MeasuredWorker(seed, span, decay_of(study, lengths, others={}).beta, steps)
