"""Scores for predictions of the next answer: log loss, calibration, and two baselines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .describe import Interval, SampleSummary, summarise, wilson_interval

Floats = NDArray[np.float64]

# Predictions are clipped to 1 % and 99 %: otherwise one certain and wrong prediction would dominate the loss.
MAX_PROBABILITY = 0.99
BINS = 10


@dataclass(frozen=True)
class CalibrationBin:
    """The predictions between two tenths: their mean, and the share that came true."""

    predicted: float
    observed: float
    n: int
    interval: Interval


def log_loss(p_right: Floats, right: Floats) -> float:
    """The mean of −log P(outcome), in nats, with clipped predictions."""
    p = np.clip(p_right, 1 - MAX_PROBABILITY, MAX_PROBABILITY)
    return float(-np.mean(np.where(right > 0, np.log(p), np.log1p(-p))))


def running_accuracy(right: Floats, classes: int = 2) -> Floats:
    """The share of right answers before each answer, smoothed by one answer per class, of which one was right."""
    before = np.concatenate([[0.0], np.cumsum(right)[:-1]])
    return np.asarray((before + 1) / (np.arange(len(right)) + classes))


def leave_one_out_accuracy(rights: Sequence[Floats], classes: int = 2) -> list[float]:
    """For each participant, the share of right answers of all others; chance if there are none."""
    totals = np.array([float(right.sum()) for right in rights])
    counts = np.array([len(right) for right in rights])
    others = counts.sum() - counts
    shares = np.where(others > 0, (totals.sum() - totals) / np.maximum(others, 1), 1 / classes)
    return [float(share) for share in shares]


def calibration(p: Floats, came_true: Floats) -> list[CalibrationBin]:
    """Predictions in ten equal bins; empty bins are left out."""
    place = np.minimum((p * BINS).astype(int), BINS - 1)
    bins = []
    for number in range(BINS):
        inside = place == number
        n, hits = int(inside.sum()), int(came_true[inside].sum())
        if interval := wilson_interval(hits, n):
            bins.append(CalibrationBin(float(p[inside].mean()), hits / n, n, interval))
    return bins


def loss_reduction(losses: Sequence[float], baseline: Sequence[float]) -> SampleSummary:
    """How much lower the loss is than the baseline's, participant by participant; positive is better."""
    return summarise([b - a for a, b in zip(losses, baseline, strict=True)])
