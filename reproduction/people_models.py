"""Every single model of the bank on people: the best and worst of each family, and all of them in a file."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analysis.stats import SampleSummary

from .people_scores import Answered
from .people_ways import FAMILY_NAMES
from .report import Data, ReportTable
from .summaries import limits, summary_by_student, with_limits

HEADER = [
    *("family", "model", "loss", "low", "high"),
    *limits("less_running"),
    *limits("calibration_error"),
]


def single_models(title: str, answered: Answered, models: Sequence[str], file: str) -> ReportTable:
    """Between which losses the models of each family lie; the file has every one."""
    losses = {name: summary_by_student([*answered.people[name].values()]) for name in models}
    columns = ("models", "best", "median", "worst", "calibration error of the best", "the best")
    return ReportTable(
        title=title,
        header=["", *columns],
        rows=[_row(answered, family, losses) for family in FAMILY_NAMES],
        caption="Each model by itself, with its styles of answering mixed by evidence: log loss in nats. The file has "
        "every model with intervals over people, how much better than the running accuracy it is, and its calibration.",
        data=Data(file, HEADER, [_numbers(answered, name, loss) for name, loss in losses.items()]),
    )


def _row(answered: Answered, family: str, losses: dict[str, SampleSummary]) -> Sequence[str]:
    own = sorted((loss.mean or 0.0, name) for name, loss in losses.items() if _is_of(name, family))
    (best, name), (worst, _) = own[0], own[-1]
    median = float(np.median([loss for loss, _ in own]))
    error = answered.error(name).mean
    numbers = [f"{one:.3f}" for one in (best, median, worst, error)]
    return [family, str(len(own)), *numbers, _model(name)]


def _numbers(answered: Answered, name: str, loss: SampleSummary) -> list[object]:
    own, running = answered.people[name], answered.people["running"]
    less = summary_by_student([running[person] - own[person] for person in own])
    error = answered.error(name)
    numbers = [*with_limits(loss), *with_limits(less), *with_limits(error)]
    return [name.partition(": ")[0], _model(name), *numbers]


def _is_of(name: str, family: str) -> bool:
    return name.partition(": ")[0] == family


def _model(name: str) -> str:
    return name.partition(": ")[2]
