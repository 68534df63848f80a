"""Running an experiment: its units in a few processes or on a cluster, each result kept at once.

Results are on disk as they come, one line of JSON for each piece of work, so that a killed run goes on where it was.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Self

from jobs.progress import progress_bar
from jobs.sweeps import Executor

from .experiment import BadExperiment, Experiment, ResultRow, Results, Unit

FILE = "results.jsonl"


class Checkpoint:
    """The file of a run. Its first line holds the settings; a run with others does not touch it."""

    def __init__(self, path: Path, rows: dict[Unit, ResultRow]) -> None:
        self.path = path
        self.rows = rows

    @classmethod
    def open(cls, folder: Path, settings: Mapping[str, Any]) -> Self:
        """Begin a run in a folder, or go on with the one that is there."""
        path = folder / FILE
        _make(folder)
        head = json.dumps({"settings": dict(settings)}, ensure_ascii=False, sort_keys=True)
        if not path.exists():
            path.write_text(head + "\n", encoding="utf-8")
        lines = _whole_lines(path)
        if not lines or lines[0] != head:
            raise BadExperiment(
                f"{path} belongs to a run with other settings. Give --fresh to start again, or another --output."
            )
        rows = [json.loads(line) for line in lines[1:]]
        return cls(path, {Unit(row["cell"], row["seed"]): row["row"] for row in rows})

    @staticmethod
    def discard(folder: Path) -> None:
        """Forget the run in a folder."""
        (folder / FILE).unlink(missing_ok=True)

    def add(self, unit: Unit, row: ResultRow) -> None:
        """Keep a result, at once."""
        self.rows[unit] = row
        line = json.dumps({"cell": unit.cell, "seed": unit.seed, "row": row}, ensure_ascii=False)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadExperiment(
            f"{folder} cannot be made: {error.strerror}. Name another folder with --output."
        ) from error


def _whole_lines(path: Path) -> list[str]:
    """The lines of a file; half a line at its end, which a kill may leave, is cut off."""
    text = path.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    if len(whole) < len(text):
        path.write_text(whole, encoding="utf-8")
    # Not splitlines: names of people and folders may have characters that it takes for the end of a line.
    return whole.split("\n")[:-1]


def run(experiment: Experiment, folder: Path, executor: Executor) -> Results:
    """Run what is not yet there in the folder, and return everything.

    More seeds go on from fewer: a unit depends on its own seed alone, and on neither the number nor the place of the
    processes.
    """
    settings = {name: value for name, value in experiment.settings().items() if name != "seeds"}
    checkpoint = Checkpoint.open(folder, settings)
    units = list(experiment.units())
    todo = [unit for unit in units if unit not in checkpoint.rows]
    if todo:
        with (
            progress_bar(len(units), done=len(units) - len(todo)) as bar,
            executor.results(partial(row_of, experiment), todo) as rows,
        ):
            for unit, row in rows:
                checkpoint.add(unit, row)
                bar.update()
    return Results({unit: checkpoint.rows[unit] for unit in units})


def row_of(experiment: Experiment, unit: Unit) -> ResultRow:
    return experiment.run(unit.cell, unit.seed)
