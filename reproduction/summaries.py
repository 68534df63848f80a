"""From the numbers of many seeds to what a table says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from analysis.charts.words import UNKNOWN, with_minus
from analysis.modelcheck.figures import ArmBins
from analysis.stats import CONFIDENCE, Interval, SampleSummary, summarise
from teaching.engine.arrays import FloatArray

from .conditions import PLAIN, READINGS, WINDOW, Condition
from .report import Data

# The columns of a mean and its interval, where a file has one of them.
LIMITS = ("mean", "low", "high")


@dataclass(frozen=True)
class MeanCurve:
    """The mean of many curves at each of some steps, with its 95 % interval."""

    name: str
    steps: Sequence[int]
    mean: FloatArray
    low: FloatArray
    high: FloatArray


def mean_curve(name: str, steps: Sequence[int], curves: Sequence[Sequence[float]]) -> MeanCurve:
    """The mean over the seeds, with Student's interval at every step; a curve that ends early is NaN from there on."""
    values = np.array(curves, dtype=np.float64)
    n, mean = np.isfinite(values).sum(axis=0), np.nanmean(values, axis=0)
    half = np.zeros_like(mean)
    if (several := n > 1).any():
        error = np.nanstd(values[:, several], axis=0, ddof=1) / np.sqrt(n[several])
        half[several] = error * special.stdtrit(n[several] - 1, (1 + CONFIDENCE) / 2)
    return MeanCurve(name, steps, mean, mean - half, mean + half)


def summary_by_student(values: Sequence[float]) -> SampleSummary:
    """The mean with Student's interval: of hundreds of models in a moment, where resampling takes half a minute."""
    curve = mean_curve("", [0], [[value] for value in values])
    mean, low, high = (float(part[0]) for part in (curve.mean, curve.low, curve.high))
    interval = Interval(low, high) if len(values) > 1 else None
    return SampleSummary(len(values), mean, interval=interval)


def curve_data(name: str, curves: Sequence[MeanCurve]) -> Data:
    """The numbers behind a figure of curves."""
    rows = [
        [curve.name, step, float(mean), float(low), float(high)]
        for curve in curves
        for step, mean, low, high in zip(
            curve.steps, curve.mean, curve.low, curve.high, strict=True
        )
    ]
    return Data(name, ["teacher", "step", *LIMITS], rows)


def with_interval(summary: SampleSummary, digits: int) -> str:
    """24.3 [22.1, 26.6]."""
    if summary.mean is None:
        return UNKNOWN
    text = f"{summary.mean:.{digits}f}"
    if summary.interval is not None:
        text += f" [{summary.interval.low:.{digits}f}, {summary.interval.high:.{digits}f}]"
    return with_minus(text)


def with_limits(summary: SampleSummary) -> list[object]:
    """The mean and both ends of its interval as cells of a CSV file, empty where they are not known."""
    limits = summary.interval
    cells = [summary.mean, limits.low if limits else None, limits.high if limits else None]
    return ["" if cell is None else cell for cell in cells]


def limits(name: str) -> list[str]:
    """The columns that `with_limits` fills."""
    return [name, f"{name}_low", f"{name}_high"]


def bins_data(name: str, what: str, arms: Sequence[ArmBins]) -> Data:
    """The numbers behind panels of calibration."""
    rows = [
        [arm.name, one.predicted, one.observed, one.n, *_ends(one.interval)]
        for arm in arms
        for one in arm.bins
    ]
    return Data(name, [what, "predicted", "observed", "n", "low", "high"], rows)


def _ends(interval: Interval) -> tuple[object, object]:
    """None of an interval without length: so a figure has what has no interval."""
    return (interval.low, interval.high) if interval.high > interval.low else ("", "")


def points_between(shares: Sequence[float], others: Sequence[float]) -> list[float]:
    """Differences between pairs of shares, in percentage points."""
    return [100 * (a - b) for a, b in zip(shares, others, strict=True)]


def in_deviations(published: float, summary: SampleSummary) -> str:
    """How far a published single run lies from our mean, in standard deviations between seeds."""
    if summary.mean is None or not summary.sd:
        return UNKNOWN
    return with_minus(f"{(published - summary.mean) / summary.sd:+.1f}")


COMPARED_HEADER = (
    "", "paper", READINGS[PLAIN], "paper, in sd", READINGS[WINDOW], "paper, in sd"
)  # fmt: skip


def compared_caption(seeds: int) -> str:
    """What stands below a table with the columns of COMPARED_HEADER."""
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
    """A row of a table with the columns of COMPARED_HEADER."""
    cells = [row.title, UNKNOWN if published is None else f"{published:g}"]
    for one in row.both_readings:
        cells += compared(values_of(one), published, digits) if one else [UNKNOWN, UNKNOWN]
    return cells


def compared(values: Sequence[float], published: float | None, digits: int) -> list[str]:
    """Two cells: our mean with its interval, and where the published number lies."""
    summary = summarise(values)
    distance = UNKNOWN if published is None else in_deviations(published, summary)
    return [with_interval(summary, digits), distance]
