"""Predictions of the next answer, scored: pure functions over numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.stats import Interval, SampleSummary, summarise, wilson_interval
from teaching.engine.arrays import FloatArray

# A belief may be certain and wrong; beyond these the loss of one answer would drown all others.
SUREST = 0.99
BINS = 10


@dataclass(frozen=True)
class Bin:
    """Answers whose prediction fell between two tenths: what was predicted, and what came."""

    predicted: float
    observed: float
    n: int
    interval: Interval


def log_loss(p_right: FloatArray, right: FloatArray) -> float:
    """−mean log P(what happened), in nats, with predictions kept within 1 and 99 %."""
    p = np.clip(p_right, 1 - SUREST, SUREST)
    return float(-np.mean(np.where(right > 0, np.log(p), np.log1p(-p))))


def running_accuracy(right: FloatArray, classes: int = 2) -> FloatArray:
    """The share of right answers so far, before each, with those of a guesser to begin with: one right, the others
    wrong."""
    before = np.concatenate([[0.0], np.cumsum(right)[:-1]])
    return np.asarray((before + 1) / (np.arange(len(right)) + classes))


def constant_of_others(rights: Sequence[FloatArray], classes: int = 2) -> list[float]:
    """For each worker, the share of right answers of all the others: a constant that did not see the worker. With
    no others it is that of guessing."""
    totals = np.array([float(right.sum()) for right in rights])
    counts = np.array([len(right) for right in rights])
    others = counts.sum() - counts
    shares = np.where(others > 0, (totals.sum() - totals) / np.maximum(others, 1), 1 / classes)
    return [float(share) for share in shares]


def calibration(p: FloatArray, came_true: FloatArray) -> list[Bin]:
    """Predictions in ten equal bins, beside the share of those that came true; empty bins are left out."""
    place = np.minimum((p * BINS).astype(int), BINS - 1)
    bins = []
    for number in range(BINS):
        inside = place == number
        n, plus = int(inside.sum()), int(came_true[inside].sum())
        if interval := wilson_interval(plus, n):
            bins.append(Bin(float(p[inside].mean()), plus / n, n, interval))
    return bins


def losses_by_worker(
    predictions: Mapping[str, Sequence[FloatArray]], rights: Sequence[FloatArray]
) -> dict[str, tuple[float, ...]]:
    """The log loss of every worker by each way to predict; `predictions` are chances to be right."""
    return {
        name: tuple(log_loss(p, right) for p, right in zip(workers, rights, strict=True))
        for name, workers in predictions.items()
    }


def advantage(losses: Sequence[float], baseline: Sequence[float]) -> SampleSummary:
    """How much lower the loss is than a baseline's, worker by worker; above 0 the model predicts better."""
    return summarise([b - a for a, b in zip(losses, baseline, strict=True)])
