"""How well answers were predicted: log loss by kind of learner, and calibration."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from analysis.modelcheck.beliefs import Bin, calibration, log_loss
from analysis.modelcheck.figures import ArmBins, calibration_plot
from analysis.stats import Interval, summarise

from .experiment import ResultRow, Results
from .kinds import LearnerKind
from .material import Material
from .predictions import ESTIMATORS
from .report import Data, Figure, ReportTable
from .summaries import with_interval
from .verdicts import cell_name

# Whose sessions they were, as a table says it.
SESSIONS = {"rt": "taught by RT", "tracked": "taught by tracked"}


def belief_parts(
    results: Results, material: Material, kinds: Sequence[LearnerKind]
) -> tuple[list[ReportTable], list[Figure]]:
    tables, figures = [], []
    for teacher, words in SESSIONS.items():
        rows = {k: results.of(cell_name(material.title, k.name, teacher)) for k in kinds}
        tables.append(_losses(material, teacher, words, rows))
        figures.append(_calibration(material, teacher, words, rows))
    return tables, figures


def next_loss(row: ResultRow, estimator: str) -> float:
    """The log loss of the next answers of one learner."""
    p = np.array(row[f"next_{estimator}"])
    return log_loss(p, np.array(row["answers"], dtype=np.float64))


def _losses(
    material: Material, teacher: str, words: str, rows: dict[LearnerKind, list[ResultRow]]
) -> ReportTable:
    return ReportTable(
        title=f"Log loss of what learners say, {words}",
        header=["", *ESTIMATORS.values(), *ESTIMATORS.values(), "η settled on"],
        rows=[
            [
                kind.title,
                *(_mean(next_loss(row, name) for row in learners) for name in ESTIMATORS),
                *(_mean(row[f"pool_{name}"] for row in learners) for name in ESTIMATORS),
                f"{np.exp(np.mean([np.log(row['rate_factor']) for row in learners])):.2f}",
            ]
            for kind, learners in rows.items()
        ],
        caption="Means over the learners, in nats, with 95 % bootstrap intervals; a coin has 0.693. The running "
        "accuracy is the share of right answers so far, one right and one wrong to begin with. The last column is the "
        "factor of the assumed η₀ that explains the answers best (geometric mean).",
        data=Data(
            f"estimators-{material.slug}-losses-{teacher}",
            [
                "kind",
                "learner",
                *(f"{part}_{name}" for part in ("next", "pool") for name in ESTIMATORS),
            ],
            [
                [
                    kind.name,
                    learner,
                    *(next_loss(row, name) for name in ESTIMATORS),
                    *(row[f"pool_{name}"] for name in ESTIMATORS),
                ]
                for kind, learners in rows.items()
                for learner, row in enumerate(learners)
            ],
        ),
        groups=[("the next answer", 3), ("the whole pool", 3), ("", 1)],
    )


def _mean(values: Iterable[float]) -> str:
    return with_interval(summarise(list(values)), 2)


def _calibration(
    material: Material, teacher: str, words: str, rows: dict[LearnerKind, list[ResultRow]]
) -> Figure:
    everyone = [row for learners in rows.values() for row in learners]
    arms = [
        ArmBins(f"{name}, {part}", bins(everyone, name))
        for name in ESTIMATORS
        for part, bins in (("next", next_bins), ("pool", pool_bins))
    ]
    return Figure(
        calibration_plot(f"Calibration, {words}", arms),
        "All kinds of learners together: their next answer, and the whole pool. What was predicted across, what came "
        "upward; on the dashed line the two agree. Intervals are of single answers; the examples of a pool are not "
        "independent and have none.",
        Data(
            f"estimators-{material.slug}-calibration-{teacher}",
            ["estimator", "predicted", "observed", "n"],
            [[arm.name, one.predicted, one.observed, one.n] for arm in arms for one in arm.bins],
        ),
    )


def next_bins(rows: Sequence[ResultRow], estimator: str) -> list[Bin]:
    """Predictions of next answers in tenths."""
    p = np.concatenate([row[f"next_{estimator}"] for row in rows])
    said_plus = np.concatenate([row["answers"] for row in rows]) > 0
    return calibration(p, said_plus.astype(np.float64))


def pool_bins(rows: Sequence[ResultRow], estimator: str) -> list[Bin]:
    """Predictions over the pool in tenths."""
    bins = np.sum([row[f"bins_{estimator}"] for row in rows], axis=0)
    return [
        Bin(predicted / n, observed / n, int(n), Interval(observed / n, observed / n))
        for n, predicted, observed in bins
        if n > 0
    ]
