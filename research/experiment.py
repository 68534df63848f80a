"""The framework of all experiments: conditions times seeds, one row of numbers for each, kept on disk as they come."""

from __future__ import annotations

import dataclasses
import json
from abc import ABC, abstractmethod
from argparse import ArgumentParser
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Executor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

from analysis.stats import SampleSummary, summarise
from jobs.processes import process_pool
from jobs.progress import progress_bar

from .report import Data, ReportTable, Section

# One unit's results as JSON: numbers, strings and lists of numbers.
ResultRow = dict[str, Any]

CHECKPOINT = "results.jsonl"


class BadExperiment(ValueError):
    """The experiment cannot run with these settings or data. The message names the remedy."""


@dataclass(frozen=True)
class Unit:
    """One unit of work: a condition under a seed."""

    cell: str
    seed: int


@dataclass(frozen=True)
class Results:
    """All rows of a run, by unit."""

    rows: Mapping[Unit, ResultRow]

    @cached_property
    def _by_cell(self) -> dict[str, list[ResultRow]]:
        by_cell: dict[str, list[ResultRow]] = {}
        for unit in sorted(self.rows, key=lambda unit: unit.seed):
            by_cell.setdefault(unit.cell, []).append(self.rows[unit])
        return by_cell

    def of(self, cell: str) -> list[ResultRow]:
        """The rows of a condition, ordered by seed; empty if it was not run."""
        return self._by_cell.get(cell, [])

    def values(self, cell: str, name: str) -> list[float]:
        """One number of every row of a condition."""
        return [float(row[name]) for row in self.of(cell)]

    def summary(self, cell: str, name: str, *, factor: float = 1.0) -> SampleSummary:
        """The mean of one number over a condition, with its interval; a factor of 100 gives percent."""
        return summarise([factor * value for value in self.values(cell, name)])

    def data(self, name: str, cells: Collection[str], numbers: Sequence[str], whose: str) -> Data:
        """Some numbers of every row of some conditions, for a CSV file with the seeds in a column `whose`."""
        rows = [
            [unit.cell, unit.seed, *(row[number] for number in numbers)]
            for unit, row in self.rows.items()
            if unit.cell in cells
        ]
        return Data(name, ["condition", whose, *numbers], rows)

    def curves(self, cell: str, name: str) -> list[list[float]]:
        """One list of numbers of every row of a condition."""
        return [row[name] for row in self.of(cell)]


@dataclass(frozen=True, kw_only=True)
class Experiment(ABC):
    """An experiment with its settings, as a frozen dataclass that can be pickled for other processes.

    All conditions run under the same seeds, so whatever depends on the seed only (data, split, initial concept) is
    the same for all of them.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    has_seeds: ClassVar[bool] = True
    """Whether --seeds makes sense."""

    seeds: int = 20

    def __post_init__(self) -> None:
        if self.seeds < 1:
            raise BadExperiment(
                f"Every condition needs at least 1 run; {self.seeds} were asked for."
            )

    @staticmethod
    @abstractmethod
    def add_arguments(parser: ArgumentParser) -> None:
        """Add the experiment's own options, with field names as destinations."""

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Self:
        """Make the experiment from parsed options; an option that is None keeps its default."""
        given = {field.name: options.get(field.name) for field in dataclasses.fields(cls)}
        fields: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in given.items()
            if value is not None
        }
        return cls(**fields)

    def prepared(self, folder: Path) -> Self:
        """The experiment with all input files in place; those that it generates go into the folder."""
        return self

    @abstractmethod
    def cells(self) -> Sequence[str]:
        """The names of all conditions."""

    @abstractmethod
    def run(self, cell: str, seed: int) -> ResultRow:
        """Run one unit; depends on the settings, the condition and the seed only."""

    @abstractmethod
    def report(self, results: Results) -> list[Section]:
        """The sections of the report."""

    def in_short(self, sections: Sequence[Section]) -> Sequence[ReportTable]:
        """The tables of the report that the command also prints."""
        return ()

    def units(self) -> Iterator[Unit]:
        """All units, seed by seed, because data are cached by seed."""
        for seed in range(self.seeds):
            for cell in self.cells():
                yield Unit(cell, seed)

    def settings(self) -> dict[str, Any]:
        """Everything that the numbers depend on except the code, as JSON."""
        return {field.name: _plain(getattr(self, field.name)) for field in dataclasses.fields(self)}

    def reported_settings(self) -> dict[str, Any]:
        """The settings as the report lists them."""
        return self.settings()


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain(one) for one in value]
    return value if isinstance(value, int | float | str | bool | None) else str(value)


# Running


class Checkpoint:
    """The results file of a run: its settings in the first line, then one line of JSON per unit."""

    def __init__(self, path: Path, rows: dict[Unit, ResultRow]) -> None:
        self.path = path
        self.rows = rows

    @classmethod
    def open(cls, folder: Path, settings: Mapping[str, Any]) -> Self:
        """Start a run in a folder, or resume the one that is there."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadExperiment(
                f"{folder} cannot be made: {error.strerror}. Name another folder with --output."
            ) from error
        path = folder / CHECKPOINT
        head = json.dumps({"settings": dict(settings)}, ensure_ascii=False, sort_keys=True)
        if not path.exists():
            path.write_text(head + "\n", encoding="utf-8")
        text = path.read_text(encoding="utf-8")
        complete = text[: text.rfind("\n") + 1]
        if len(complete) < len(text):
            # A killed process may leave half a line.
            path.write_text(complete, encoding="utf-8")
        # Not splitlines, which also splits at characters that occur in names.
        lines = complete.split("\n")[:-1]
        if not lines or lines[0] != head:
            raise BadExperiment(
                f"{path} belongs to a run with other settings. Give --fresh to start again, or another --output."
            )
        rows = [json.loads(line) for line in lines[1:]]
        return cls(path, {Unit(row["cell"], row["seed"]): row["row"] for row in rows})

    @staticmethod
    def discard(folder: Path) -> None:
        """Delete the results in a folder."""
        (folder / CHECKPOINT).unlink(missing_ok=True)

    def add(self, unit: Unit, row: ResultRow) -> None:
        """Append a result to the file."""
        self.rows[unit] = row
        line = json.dumps({"cell": unit.cell, "seed": unit.seed, "row": row}, ensure_ascii=False)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")


def run(experiment: Experiment, folder: Path, executor: Executor | None = None) -> Results:
    """Run the units that have no result in the folder yet, and return all results.

    Without an executor they run in this process. A run can be resumed with more seeds: a unit depends on its own seed,
    and neither on the number of units nor on where they run.
    """
    settings = {name: value for name, value in experiment.settings().items() if name != "seeds"}
    checkpoint = Checkpoint.open(folder, settings)
    units = list(experiment.units())
    todo = [unit for unit in units if unit not in checkpoint.rows]
    if todo:
        with progress_bar(len(units), done=len(units) - len(todo)) as bar:
            for unit, row in _completed(experiment, todo, executor):
                checkpoint.add(unit, row)
                bar.update()
    return Results({unit: checkpoint.rows[unit] for unit in units})


def _completed(
    experiment: Experiment, units: Sequence[Unit], executor: Executor | None
) -> Iterator[tuple[Unit, ResultRow]]:
    """Units with their rows, in the order of completion."""
    if executor is None:
        yield from ((unit, experiment.run(unit.cell, unit.seed)) for unit in units)
        return
    futures = {executor.submit(experiment.run, unit.cell, unit.seed): unit for unit in units}
    try:
        for future in as_completed(futures):
            yield futures[future], future.result()
    except (BrokenProcessPool, CancelledError) as error:
        raise BadExperiment(
            "A process was killed, perhaps because memory ran out, or the cluster was stopped. Run the same command "
            "again to continue, perhaps with fewer --processes."
        ) from error


@contextmanager
def executor_for(processes: int, scheduler: str | None) -> Iterator[Executor | None]:
    """A pool of processes, the Dask cluster at an address, or None for this process."""
    if scheduler:
        with _dask(scheduler) as executor:
            yield executor
    elif processes > 1:
        with process_pool(processes) as pool:
            yield pool
    else:
        yield None


@contextmanager
def _dask(address: str) -> Iterator[Executor]:
    try:
        from distributed import Client, KilledWorker
    except ImportError as error:
        raise BadExperiment("--scheduler needs Dask. Install it with: make cluster") from error
    try:
        client = Client(address, set_as_default=False)
    except (OSError, ValueError) as error:
        raise BadExperiment(
            f"No Dask scheduler answers at {address} ({error}). Start one with: .venv/bin/python -m dask scheduler"
        ) from error
    with client:
        executor = client.get_executor()
        try:
            yield executor
        except KilledWorker as error:
            raise BadExperiment(
                f"{error} Give the workers more memory, then run the same command again to continue."
            ) from error
        finally:
            # Without waiting, which cancels what has not finished.
            executor.shutdown(wait=False)
