"""Small experiments and made data."""

import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from analysis.charts.shapes import Drawing, Line
from research.experiment import Experiment
from research.report import Data, Figure, ReportTable, Section


@dataclass(frozen=True, kw_only=True)
class Dice(Experiment):
    """Throws a die for every condition; may fail once it has thrown some."""

    name: ClassVar[str] = "dice"
    title: ClassVar[str] = "Dice & <chance>"

    seeds: int = 3
    sides: int = 6

    @staticmethod
    def add_arguments(parser):
        parser.add_argument("--sides", type=int)

    def cells(self):
        return ["red", "blue"]

    def run(self, cell, seed):
        rng = np.random.default_rng([seed, len(cell)])
        return {"eyes": int(rng.integers(1, self.sides + 1)), "curve": rng.random(3).tolist()}

    def report(self, results):
        rows = [[cell, *(str(row["eyes"]) for row in results.of(cell))] for cell in self.cells()]
        data = Data("eyes", ["cell", "seed", "eyes"], [["red", 0, 1 / 3], ["a,b", 1, 2]])
        drawing = Drawing(10, 10, "Two < three", [Line(0, 0, 1, 1, "grid")])
        return [
            Section(
                "Throws",
                ["No more & no less."],
                [
                    ReportTable(
                        "Eyes", ["", "1", "2", "3"], rows, "All of them.", data, [("throws", 3)]
                    )
                ],
                [Figure(drawing, "A line.", Data("line", ["x"], [[1]]))],
            )
        ]


class Dying(Dice):
    """Dies at the fourth unit."""

    name: ClassVar[str] = "dice"

    def run(self, cell, seed):
        if (cell, seed) == ("blue", 1):
            raise KeyboardInterrupt
        return super().run(cell, seed)


class Fatal(Dice):
    """Takes its process down with it."""

    def run(self, cell, seed):
        os._exit(1)


@dataclass(frozen=True, kw_only=True)
class Murderous(Dice):
    """Kills the first process that comes to its fourth unit."""

    mark: Path

    def run(self, cell, seed):
        if (cell, seed) == ("blue", 1) and not self.mark.exists():
            self.mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().run(cell, seed)


def made_text(path, n=80, d=12, seed=0):
    """An archive like the text features: non-negative rows of length one, a few of zeros."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    X = rng.random((n, d)) * (rng.random((n, d)) < 0.5)
    X[:, 0] += y > 0
    X[:2] = 0
    X /= np.where(np.linalg.norm(X, axis=1) > 0, np.linalg.norm(X, axis=1), 1)[:, None]
    np.savez(path, X=X.astype(np.float32), y=y.astype(np.int8))
    return path


def made_images(path, n=60, d=6, seed=0):
    """An archive like the image features: a teaching and an evaluation part."""
    rng = np.random.default_rng(seed)
    parts = {}
    for part in ("teach", "eval"):
        y = np.where(np.arange(n) % 2 == 0, 1, -1)
        X = 0.3 * rng.standard_normal((n, d)) + 0.2
        X[:, 0] += 0.2 * y
        parts |= {f"X_{part}": X, f"y_{part}": y}
    np.savez(path, **parts)
    return path
