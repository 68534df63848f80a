"""How well a session's answers are predicted: what three estimators believed on the way, beside what came."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from analysis.modelcheck.beliefs import BINS, SUREST
from teaching.engine import Pool, Shown, Tracked, belief
from teaching.engine.arrays import FloatArray
from teaching.engine.history import Past

from .experiment import ResultRow

ESTIMATORS = {
    "tracked": "tracked",
    "harmonic": "harmonic",
    "running": "running accuracy",
}
# Beliefs are recorded at intervals of this many steps once the cold start is over: neighbouring ones are much alike.
STRIDE = 3


@dataclass
class Predictions:
    """What was believed: of the next answer by p, of the whole pool by loss and calibration.

    `truth` gives the chance of +1 of every example at the moment, shape (n,).
    """

    pool: Pool
    tracked: Tracked
    truth: Callable[[], FloatArray]
    next: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in ESTIMATORS})
    answers: list[int] = field(default_factory=list)
    losses: dict[str, list[float]] = field(default_factory=lambda: {n: [] for n in ESTIMATORS})
    bins: dict[str, FloatArray] = field(
        default_factory=lambda: {name: np.zeros((BINS, 3)) for name in ESTIMATORS}
    )

    def is_due(self, step: int) -> bool:
        """Whether beliefs are noted before this step, counted from 0."""
        late = step - self.tracked.cold_start
        return late >= 0 and late % STRIDE == 0

    def note(self, history: Sequence[Shown], shown: Shown) -> None:
        """Beliefs before an answer that has just been given, but not yet learned from, where they are due."""
        if not self.is_due(len(history)):
            return
        truth = self.truth()
        self.answers.append(shown.answer)
        for name, p in self.believed(history).items():
            self.next[name].append(round(float(p[shown.example]), 4))
            self.losses[name].append(cross_entropy(p, truth))
            self.bins[name] += binned(p, truth)

    def believed(self, history: Sequence[Shown]) -> dict[str, FloatArray]:
        """P(+1) of every example by each estimator, (n,) each."""
        past, labels = Past.read(history, self.pool), self.pool.labels
        right = (past.answers == labels[past.examples]).sum()
        share = (right + 1) / (len(past) + 2)
        return {
            "tracked": self.tracked.estimate(self.pool, past),
            "harmonic": belief(self.pool, history),
            "running": np.where(labels > 0, share, 1 - share),
        }

    def row(self, history: Sequence[Shown]) -> ResultRow:
        """As JSON has it, with the learning rate on which the tracking settled, as a factor."""
        settled, _ = self.tracked.inferred(self.tracked.mixture(self.pool, history))
        factor = settled / self.tracked.learning_rate.initial
        row: ResultRow = {"answers": self.answers, "rate_factor": round(factor, 4)}
        for name in ESTIMATORS:
            row[f"next_{name}"] = self.next[name]
            row[f"pool_{name}"] = round(float(np.mean(self.losses[name])), 5)
            row[f"bins_{name}"] = np.round(self.bins[name], 2).tolist()
        return row


def cross_entropy(p: FloatArray, truth: FloatArray) -> float:
    """The mean log loss of p (n,) where +1 comes with chances (n,), kept within 1 and 99 %."""
    kept = np.clip(p, 1 - SUREST, SUREST)
    return float(-np.mean(truth * np.log(kept) + (1 - truth) * np.log1p(-kept)))


def binned(p: FloatArray, truth: FloatArray) -> FloatArray:
    """For each tenth of p: how many examples, the sum of p and the sum of the chances, (10, 3)."""
    place = np.minimum((p * BINS).astype(np.intp), BINS - 1)
    columns = (np.ones_like(p), p, truth)
    return np.column_stack([np.bincount(place, column, BINS) for column in columns])
