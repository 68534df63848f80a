"""Teachers for experiments only, the two readings of the paper's rule, and sessions that are measured on the way."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from analysis.charts.formatting import UNKNOWN, with_minus
from analysis.stats import summarise
from teaching.engine import Pool, Shown, SimulatedLearner, Teacher
from teaching.engine.arrays import FloatArray
from teaching.engine.history import Past
from teaching.engine.teachers import jedi
from teaching.engine.teachers.base import Judgement
from teaching.engine.teachers.rt import RT

from .report import with_interval


@dataclass(frozen=True, kw_only=True)
class SGD(RT):
    """Uniform draws from the first step on, for a learner that takes plain gradient steps.

    It keeps no estimate of the learner: P is 1/k.
    """

    name: ClassVar[str] = "sgd"
    title: ClassVar[str] = "SGD"
    description: ClassVar[str] = "Draws every image at random and keeps no estimate of the learner."

    cold_start: int = 0

    def probabilities(self, pool: Pool, past: Past) -> FloatArray:
        """1/k for every example and class."""
        return np.full((pool.n, pool.class_count), 1 / pool.class_count)


@dataclass(frozen=True, kw_only=True)
class OmniscientJEDI(Teacher):
    """JEDI with an omniscient teacher (Algorithm 1): reads the concept and momentum of its simulated learner.

    With δ = P − e_y, or the slopes of whatever loss the learner has, the objective 2‖W_t − W*‖²
    (of two classes ‖w_t − w*‖²) is, up to a term that does not depend on the candidate,

        η² (½‖δ‖²‖x‖² + β δᵀV_{t−1}x) − 2η δᵀ(W_{t−1} − W*)x.

    A choice depends on the state of the learner too. By default it is the plain argmin from the first step on.
    """

    name: ClassVar[str] = "omniscient"
    title: ClassVar[str] = "Omniscient JEDI"
    description: ClassVar[str] = "Weighs as JEDI does, but reads the mind of a simulated learner."

    learner: SimulatedLearner
    cold_start: int = 0

    def probabilities(self, pool: Pool, past: Past) -> FloatArray:
        """The learner's own P."""
        return self.learner.probabilities(pool.features)

    def judge(self, pool: Pool, past: Past) -> Judgement:
        """Score every example by the exact objective of Algorithm 1."""
        eta, learner = self.learning_rate(len(past) + 1), self.learner
        slopes = learner.slopes(pool.features @ learner.concept.T, pool.labels)
        diversity = np.vecdot(slopes, slopes) * pool.squared_norms / 2
        diversity += self.beta * jedi.weighted_products(pool, slopes, learner.momentum)
        diversity *= eta**2
        usefulness = 2 * eta * jedi.weighted_products(pool, slopes, learner.concept - pool.target)
        probabilities = self.probabilities(pool, past)
        return Judgement(probabilities, diversity - usefulness, diversity, usefulness)


# Conditions: a teacher under one reading of the paper

PLAIN, WINDOW = "plain", "window"
READINGS = {PLAIN: "as printed: plain argmin", WINDOW: "with the repeat window"}
# Teachers whose rule has no β.
SHORT_NAMES = {"rt": "RT", "sgd": "SGD", "imt": "IMT", "eer": "EER", "omniscient": "Oracle"}
# Between the name of a data set and a condition.
SEPARATOR = ": "

WHY_WINDOW = (
    "The paper's text has a plain argmin over the pool. That rule gets stuck: an example's estimate does not depend on "
    "its own answer, so what was best is best again and the same example comes many times in a row. With a repeat "
    "window, what the last ⌊2/(1−β) + ½⌋ steps showed is left out (2 for IMT). The window is the default in JEDI "
    "Web: a person who was just told the answer learns nothing from the same image, and for larger β the published "
    "numbers of different examples are far above what the plain argmin shows. Both are given side by side."
)


@dataclass(frozen=True)
class Condition:
    """A teacher, its β and the reading; `cap` limits the repeat window."""

    teacher: str
    beta: float = 0.0
    reading: str = PLAIN
    cap: int | None = None

    @property
    def cell(self) -> str:
        cap = "" if self.cap is None else f" cap {self.cap}"
        return f"{self.teacher} {self.beta:g} {self.reading}{cap}"

    @property
    def title(self) -> str:
        """The name in tables, without the reading."""
        name = SHORT_NAMES.get(self.teacher, "JEDI")
        name += f" β = {self.beta:g}" if self.beta else ""
        return name if self.cap is None else f"{name}, window ≤ {self.cap}"

    @property
    def short_title(self) -> str:
        """The name in legends."""
        return self.title.removeprefix("JEDI ")

    @property
    def both_readings(self) -> Sequence[Condition | None]:
        """The conditions of a table row: random teachers have no argmin, and only a window can have a cap."""
        if self.teacher in ("rt", "sgd"):
            return [self, self]
        if self.cap is not None:
            return [None, self]
        return [Condition(self.teacher, self.beta, reading) for reading in READINGS]

    @property
    def window(self) -> int:
        """The effective repeat window."""
        if self.reading == PLAIN or self.teacher in ("rt", "sgd"):
            return 0
        rule = jedi.JEDI(beta=self.beta if self.teacher == "jedi" else 0.0).default_window()
        return rule if self.cap is None else min(rule, self.cap)


def under_both_readings(random: str, betas: Sequence[float]) -> list[Condition]:
    """A random teacher, then IMT and JEDI with some β, each as printed and with the window."""
    imts = [Condition("imt", reading=reading) for reading in READINGS]
    jedis = [Condition("jedi", beta, reading) for beta in betas for reading in READINGS]
    return [Condition(random), *imts, *jedis]


def cell_of(data_set: str, condition: Condition) -> str:
    """The name of a condition on a data set."""
    return f"{data_set}{SEPARATOR}{condition.cell}"


def split_cell(cell: str, known: Sequence[Condition]) -> tuple[str, Condition]:
    """The data set and the condition of a name."""
    data_set, _, name = cell.rpartition(SEPARATOR)
    return data_set, next(one for one in known if one.cell == name)


# Tables with the paper's numbers beside ours

COMPARED_HEADER = (
    "", "paper", READINGS[PLAIN], "paper, in sd", READINGS[WINDOW], "paper, in sd"
)  # fmt: skip


def compared_caption(seeds: int) -> str:
    """The caption of a table with COMPARED_HEADER."""
    return (
        f"Means over {seeds} seeds with 95 % intervals. The paper reports one run; “in sd” says how many "
        "standard deviations between our seeds it lies from our mean."
    )


def compared_row(
    row: Condition,
    published: float | None,
    digits: int,
    values_of: Callable[[Condition], Sequence[float]],
) -> list[str]:
    """A row with the columns of COMPARED_HEADER: for each reading our mean, and how far the paper's number is from it,
    in standard deviations between seeds."""
    cells = [row.title, UNKNOWN if published is None else f"{published:g}"]
    for one in row.both_readings:
        if one is None:
            cells += [UNKNOWN, UNKNOWN]
            continue
        summary = summarise(values_of(one))
        distance = UNKNOWN
        if published is not None and summary.mean is not None and summary.sd:
            distance = with_minus(f"{(published - summary.mean) / summary.sd:+.1f}")
        cells += [with_interval(summary, digits), distance]
    return cells


# Measured sessions

# Curves are recorded every so many steps, finer than any figure shows.
STRIDE = 5


class MeasuredLearner:
    """A learner whose concept is measured before the first step and after every fifth."""

    def __init__(
        self, learner: SimulatedLearner, measures: dict[str, Callable[[FloatArray], float]]
    ) -> None:
        self._learner = learner
        self._measures = measures
        self.curves: dict[str, list[float]] = {name: [] for name in measures}
        self._measure()

    def probabilities(self, features: FloatArray) -> FloatArray:
        return self._learner.probabilities(features)

    def answer(self, x: FloatArray) -> int:
        return self._learner.answer(x)

    def learn(self, x: FloatArray, label: int) -> None:
        self._learner.learn(x, label)
        if self._learner.t % STRIDE == 0:
            self._measure()

    def _measure(self) -> None:
        for name, measure in self._measures.items():
            self.curves[name].append(round(measure(self._learner.concept), 6))


def distance(concept: FloatArray, target: FloatArray) -> float:
    """√2 ‖W − W*‖ of concepts (k, d), which for two classes is ‖w − w*‖."""
    return float(np.sqrt(2) * np.linalg.norm(concept - target))


def curve_steps(steps: int) -> list[int]:
    """The steps at which a learner is measured."""
    return list(range(0, steps + 1, STRIDE))


def unique_examples(history: Sequence[Shown]) -> int:
    """The number of different examples in a session."""
    return len({step.example for step in history})


def expected_unique(n: int, draws: int) -> tuple[float, float]:
    """Mean and standard deviation of the number of different examples in uniform draws with replacement."""
    missed, pair_missed = (1 - 1 / n) ** draws, (1 - 2 / n) ** draws
    variance = n * missed + n * (n - 1) * pair_missed - (n * missed) ** 2
    return n * (1 - missed), math.sqrt(variance)
