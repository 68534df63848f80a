"""Every single model of the bank on people: the best and worst of each family, and all of them in a file."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from teaching.engine.bank import FAMILIES

from .people_scores import Scored
from .report import Data, ReportTable
from .summaries import MeanCurve, mean_curve


def single_models(found: Scored) -> ReportTable:
    """Between which losses the models of each family lie; the file has every one."""
    losses = {name: _mean(found, name) for name in found.models}
    return ReportTable(
        title="Single models",
        header=[
            "",
            "models",
            "best",
            "median",
            "worst",
            "calibration error of the best",
            "the best",
        ],
        rows=[_row(found, family.name, losses) for family in FAMILIES],
        caption="Each model by itself, with its styles of answering mixed by evidence: log loss in nats. The file has "
        "every model with intervals over people, how much better than the running accuracy it is, and its calibration.",
        data=Data(
            f"people-{found.data.name}-models",
            [
                *("family", "model", "loss", "low", "high"),
                *("less_running", "less_running_low", "less_running_high"),
                *("calibration_error", "calibration_error_low", "calibration_error_high"),
            ],
            [_numbers(found, name, losses[name]) for name in found.models],
        ),
    )


def _row(found: Scored, family: str, losses: dict[str, MeanCurve]) -> Sequence[str]:
    own = sorted((float(losses[name].mean[0]), name) for name in losses if _family(name) == family)
    (best, name), (worst, _) = own[0], own[-1]
    median = float(np.median([loss for loss, _ in own]))
    error = f"{found.error(name):.3f}"
    return [
        family,
        str(len(own)),
        f"{best:.3f}",
        f"{median:.3f}",
        f"{worst:.3f}",
        error,
        name.partition(": ")[2],
    ]


def _numbers(found: Scored, name: str, loss: MeanCurve) -> list[object]:
    own, running = found.people[name], found.people["running"]
    less = mean_curve(name, [0], [[running[one] - own[one]] for one in own])
    error = found.error_summary(name)
    limits = [error.interval.low, error.interval.high] if error.interval else ["", ""]
    return [
        _family(name),
        name.partition(": ")[2],
        *_interval(loss),
        *_interval(less),
        error.mean,
        *limits,
    ]


def _mean(found: Scored, name: str) -> MeanCurve:
    return mean_curve(name, [0], [[loss] for loss in found.people[name].values()])


def _interval(curve: MeanCurve) -> list[float]:
    return [float(values[0]) for values in (curve.mean, curve.low, curve.high)]


def _family(name: str) -> str:
    return name.partition(": ")[0]
