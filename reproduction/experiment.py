"""What every experiment is: conditions times seeds, one row of numbers for each, and a report of them all."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from argparse import ArgumentParser
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

from analysis.stats import SampleSummary, summarise

from .report import Data, ReportTable, Section

# What a unit of work leaves: numbers, words and lists of numbers, as JSON has them.
ResultRow = dict[str, Any]


class BadExperiment(ValueError):
    """Settings or data that an experiment cannot run with. The message says what to do."""


@dataclass(frozen=True)
class Unit:
    """One piece of work: a condition under a seed."""

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
        """The rows of a condition, in the order of the seeds; none of one that was not run."""
        return self._by_cell.get(cell, [])

    def values(self, cell: str, name: str) -> list[float]:
        """One number of every row of a condition."""
        return [float(row[name]) for row in self.of(cell)]

    def summary(self, cell: str, name: str, *, factor: float = 1.0) -> SampleSummary:
        """The mean of one number over a condition, with its interval; a factor of 100 makes a share percent."""
        return summarise([factor * value for value in self.values(cell, name)])

    def data(self, name: str, cells: Collection[str], numbers: Sequence[str], whose: str) -> Data:
        """Some numbers of every row of some conditions, for a CSV file that calls the seeds `whose`."""
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
    """An experiment with its settings: a frozen dataclass, so that processes can be handed a copy.

    All conditions run under the same seeds, so whatever follows from the seed alone (data, split, first concept) is
    the same for all of them.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    has_seeds: ClassVar[bool] = True
    """Whether more runs under other seeds say more."""

    seeds: int = 20

    def __post_init__(self) -> None:
        if self.seeds < 1:
            raise BadExperiment(
                f"Every condition needs at least 1 run; {self.seeds} were asked for."
            )

    @staticmethod
    @abstractmethod
    def add_arguments(parser: ArgumentParser) -> None:
        """Declare the options of its own on the command line, with names of fields as destinations."""

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Self:
        """Make the experiment from parsed options; what was left out keeps its default."""
        given = {field.name: options.get(field.name) for field in dataclasses.fields(cls)}
        fields: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in given.items()
            if value is not None
        }
        return cls(**fields)

    def prepared(self, folder: Path) -> Self:
        """The experiment with everything at hand that its units read, made in the folder where it is not."""
        return self

    @abstractmethod
    def cells(self) -> Sequence[str]:
        """The names of all conditions."""

    @abstractmethod
    def run(self, cell: str, seed: int) -> ResultRow:
        """Do one piece of work; depends on the settings, the condition and the seed alone."""

    @abstractmethod
    def report(self, results: Results) -> list[Section]:
        """Tell what came out."""

    def in_short(self, sections: Sequence[Section]) -> Sequence[ReportTable]:
        """The tables of a report that the command prints in the end."""
        return ()

    def units(self) -> Iterator[Unit]:
        """All pieces of work, seed by seed: what a seed makes is then still in the process's cache."""
        for seed in range(self.seeds):
            for cell in self.cells():
                yield Unit(cell, seed)

    def settings(self) -> dict[str, Any]:
        """Everything that the numbers depend on, beside the code, as JSON has it."""
        return {field.name: _plain(getattr(self, field.name)) for field in dataclasses.fields(self)}

    def told_settings(self) -> dict[str, Any]:
        """What the report says of them."""
        return self.settings()


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain(one) for one in value]
    return value if isinstance(value, int | float | str | bool | None) else str(value)
