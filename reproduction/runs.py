"""Running an experiment: its units in a few processes, each result kept at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from jobs.processes import process_pool
from jobs.progress import progress_bar

from .checkpoint import Checkpoint
from .experiment import BadExperiment, Experiment, ResultRow, Results, Unit

PROCESSES = 2


def run(experiment: Experiment, folder: Path, *, processes: int = PROCESSES) -> Results:
    """Run what is not yet there in the folder, and return everything.

    More seeds go on from fewer: a unit depends on its own seed alone.
    """
    settings = {name: value for name, value in experiment.settings().items() if name != "seeds"}
    checkpoint = Checkpoint.open(folder, settings)
    units = list(experiment.units())
    todo = [unit for unit in units if unit not in checkpoint.rows]
    if todo:
        with progress_bar(len(units), done=len(units) - len(todo)) as bar:
            for unit, row in worked(experiment, todo, processes):
                checkpoint.add(unit, row)
                bar.update()
    return Results({unit: checkpoint.rows[unit] for unit in units})


def worked(
    experiment: Experiment, units: Iterable[Unit], processes: int
) -> Iterator[tuple[Unit, ResultRow]]:
    """The rows of the units as they come; the numbers do not depend on how many processes there are."""
    if processes < 2:
        for unit in units:
            yield unit, experiment.run(unit.cell, unit.seed)
        return
    with process_pool(processes) as pool:
        futures = {pool.submit(experiment.run, unit.cell, unit.seed): unit for unit in units}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        except BrokenProcessPool as error:
            raise BadExperiment(
                "A process of the run was killed. Run the same command again to go on."
            ) from error
