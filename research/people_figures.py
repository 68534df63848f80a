"""The figures of the report on people; the CSV file of each has exactly what is drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from scipy.stats import rankdata

from analysis.charts.accuracies import ArmBins, calibration_plot
from analysis.charts.axes import shortened
from analysis.charts.distributions import ArmPoints, histogram, scatter
from analysis.charts.formatting import plain
from analysis.stats import SampleSummary
from teaching.decay import GroupEstimate

from .figures import Dots, convergence_plot, dot_plot
from .people_scores import (
    EVERY,
    FAMILY_NAMES,
    STRIDE,
    TEACHERS,
    WAYS,
    Answered,
    Scored,
    Window,
    calibration_error,
)
from .report import LIMITS, Data, Figure, MeanCurve, bins_data, mean_curve, with_limits

# Longer class names are cut on an axis.
MAX_CLASS_LETTERS = 16
TENTHS = 10


def figures_of(found: Scored) -> list[Figure]:
    """In pairs of about the same height."""
    figures = [
        by_answers(found),
        errors_by_answers(found),
        calibration_panels(found, found.next, "Predicted and given answers", "calibration"),
        means(found, found.next, "Log loss of the next answer", "means"),
        betas(found),
    ]
    if found.data.memory:
        figures += [memory_and_betas(found), memory_and_rates(found)]
    if found.tests:
        title = "Predicted and given answers, without feedback"
        figures += [
            means(found, found.tests, "Log loss, answers without feedback", "tests-means"),
            calibration_panels(found, found.tests, title, "tests-calibration"),
        ]
    return figures


def by_answers(found: Scored) -> Figure:
    """The loss by the number of answers seen."""
    answered = found.next
    starts = [window.start for window in answered.windows]
    curves = {
        name: mean_curve(WAYS.get(name, name), starts, answered.by_answers(name).tolist())
        for name in [*EVERY, *found.models]
    }
    return Figure(
        convergence_plot(
            "Log loss by answers seen",
            "log loss, nats",
            [curves[name] for name in WAYS],
            x_axis="answers seen",
        ),
        f"Means of {STRIDE} answers, from the number of answers seen before them, over the people who gave them all, "
        "with 95 % intervals. The file has the number of people, and the families and single models too, with the "
        "calibration error of the same answers.",
        Data(
            f"people-{found.data.name}-by-answers",
            ["way", "answers_seen", "people", *LIMITS, "calibration_error"],
            [row for name, curve in curves.items() for row in _points(answered, name, curve)],
        ),
    )


def _points(answered: Answered, name: str, curve: MeanCurve) -> list[list[object]]:
    return [
        [
            name,
            window.start,
            window.people,
            *(float(part[at]) for part in (curve.mean, curve.low, curve.high)),
            calibration_error(*answered.class_chances(name, window.inside)),
        ]
        for at, window in enumerate(answered.windows)
    ]


def errors_by_answers(found: Scored) -> Figure:
    """The calibration error of the teachers' estimates by the number of answers seen."""
    answered = found.next
    errors = {
        name: [answered.error_within(name, window.inside) for window in answered.windows]
        for name in TEACHERS
    }
    return Figure(
        convergence_plot(
            "Calibration error by answers seen",
            "calibration error",
            [_error_curve(TEACHERS[name], answered.windows, own) for name, own in errors.items()],
            x_axis="answers seen",
        ),
        f"Of the same {STRIDE} answers each, with 95 % intervals over people. The error of few answers is larger than "
        "that of many by chance alone; the intervals allow for it.",
        Data(
            f"people-{found.data.name}-calibration-by-answers",
            ["way", "answers_seen", "people", "calibration_error", "low", "high"],
            [
                [TEACHERS[name], window.start, window.people, *with_limits(error)]
                for name, own in errors.items()
                for window, error in zip(answered.windows, own, strict=True)
            ],
        ),
    )


def _error_curve(
    title: str, windows: Sequence[Window], errors: Sequence[SampleSummary]
) -> MeanCurve:
    """An error without an interval gets one of length 0."""
    mean = np.array([error.mean for error in errors])
    low = np.array([error.interval.low if error.interval else error.mean for error in errors])
    high = np.array([error.interval.high if error.interval else error.mean for error in errors])
    return MeanCurve(title, [window.start for window in windows], mean, low, high)


def calibration_panels(found: Scored, answered: Answered, title: str, file: str) -> Figure:
    """Predicted and observed shares, a panel for each of the teachers' estimates."""
    arms = [ArmBins(words, answered.bins(name)) for name, words in TEACHERS.items()]
    return Figure(
        calibration_plot(title, arms, _class_words(found.data.classes)),
        "Probabilities of a class in tenths beside the share of answers that named it: the second class of two, all "
        "classes of more. On the dashed line the two agree; whiskers are 95 % intervals, as if answers were "
        "independent.",
        bins_data(f"people-{found.data.name}-{file}", "way", arms),
    )


def _class_words(classes: Sequence[str]) -> tuple[str, str]:
    """The titles of the axes: observed and predicted."""
    if len(classes) > 2:
        return "a class was answered", "a class was predicted"
    second = shortened(classes[1], MAX_CLASS_LETTERS)
    return f"“{second}” was answered", f"“{second}” was predicted"


def means(found: Scored, answered: Answered, title: str, file: str) -> Figure:
    """The loss of every method and every family."""
    names = WAYS | {name: name for name in FAMILY_NAMES}
    rows = [Dots(words, [answered.loss(name)]) for name, words in names.items()]
    return Figure(
        dot_plot(title, "log loss, nats", ["mean"], rows),
        "Means with 95 % intervals over people.",
        Data(
            f"people-{found.data.name}-{file}",
            ["way", *LIMITS],
            [[row.name, *with_limits(row.means[0])] for row in rows],
        ),
    )


def mean_beta(group: GroupEstimate) -> str:
    """0.72 [0.21, 0.94]."""
    return f"{group.mean:.2f} [{group.low:.2f}, {group.high:.2f}]"


def betas(found: Scored) -> Figure:
    """The distribution of β among people."""
    shares = np.array(found.group.shares).reshape(TENTHS, -1).sum(axis=1)
    bars = [(round((at + 0.5) / TENTHS, 2), 100 * share) for at, share in enumerate(shares)]
    return Figure(
        histogram("Memory decay of the paper's learner", "β", bars, y_axis="share of people, %"),
        "The share of people who are expected at each β, in tenths, from the answers of all of them together. "
        f"Their mean is {mean_beta(found.group)}.",
        Data(
            f"people-{found.data.name}-betas",
            ["beta_from", "beta_to", "percent"],
            [[at / TENTHS, (at + 1) / TENTHS, bar] for at, (_, bar) in enumerate(bars)],
        ),
    )


def memory_and_betas(found: Scored) -> Figure:
    values = {person: one.beta for person, one in found.betas.items()}
    return _memory(found, "memory", "Decay and memory", "fitted β", "beta", values, plain)


def memory_and_rates(found: Scored) -> Figure:
    values = {person: rate / np.log(10) for person, rate in found.log_rates.items()}
    words = ("Learning rate and memory", "fitted η₀", "log10_rate")
    return _memory(found, "memory-rates", *words, values, lambda exponent: f"{10**exponent:.2g}")


def _memory(
    found: Scored,
    file: str,
    title: str,
    axis: str,
    column: str,
    values: Mapping[str, float],
    show_tick: Callable[[float], str],
) -> Figure:
    """A fitted value against the rank of the memory score, as in the rank correlation."""
    people = [person for person in values if person in found.data.memory]
    ranks = rankdata([found.data.memory[person] for person in people]).tolist()
    points = list(zip(ranks, [values[person] for person in people], strict=True))
    return Figure(
        scatter(
            title,
            "rank of the memory score",
            axis,
            [ArmPoints("", points)],
            show_tick=show_tick,
            has_zero=False,
            moves_marks=False,
        ),
        "Every person with a memory score.",
        Data(
            f"people-{found.data.name}-{file}",
            ["person", "memory", "memory_rank", column],
            [
                [person, found.data.memory[person], rank, value]
                for person, (rank, value) in zip(people, points, strict=True)
            ],
        ),
    )
