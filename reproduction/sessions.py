"""Simulated sessions with notes on the way, and the numbers that the paper counts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from teaching.engine import Shown, SimulatedLearner
from teaching.engine.arrays import FloatArray

# Curves are kept at intervals of this many steps: finer than any figure shows.
STRIDE = 5


class MeasuredLearner:
    """A learner whose concept is measured before the first step and after every fifth."""

    def __init__(
        self, learner: SimulatedLearner, measures: dict[str, Callable[[FloatArray], float]]
    ) -> None:
        self._learner = learner
        self._measures = measures
        self.curves: dict[str, list[float]] = {name: [] for name in measures}
        self._note()

    def probabilities(self, features: FloatArray) -> FloatArray:
        return self._learner.probabilities(features)

    def answer(self, x: FloatArray) -> int:
        return self._learner.answer(x)

    def learn(self, x: FloatArray, label: int) -> None:
        self._learner.learn(x, label)
        if self._learner.t % STRIDE == 0:
            self._note()

    def _note(self) -> None:
        for name, measure in self._measures.items():
            self.curves[name].append(round(measure(self._learner.concept), 6))


def distance(concept: FloatArray, target: FloatArray) -> float:
    """√2 ‖W − W*‖ of concepts (k, d), which is ‖w − w*‖ where there are two classes."""
    return float(np.sqrt(2) * np.linalg.norm(concept - target))


def curve_steps(steps: int) -> list[int]:
    """The steps at which a learner is measured."""
    return list(range(0, steps + 1, STRIDE))


def unique_examples(history: Sequence[Shown]) -> int:
    """How many different examples were shown."""
    return len({step.example for step in history})


def expected_unique(n: int, draws: int) -> tuple[float, float]:
    """Mean and standard deviation of the number of different examples in uniform draws with replacement."""
    missed, pair_missed = (1 - 1 / n) ** draws, (1 - 2 / n) ** draws
    variance = n * missed + n * (n - 1) * pair_missed - (n * missed) ** 2
    return n * (1 - missed), math.sqrt(variance)
