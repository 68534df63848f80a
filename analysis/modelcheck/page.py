"""The page of the model check: everything in words, so that the template only places it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis import stats
from analysis.charts.tables import Table, number_columns, row_names
from analysis.charts.words import UNKNOWN, between, decimal
from analysis.results.sample import sessions_in_words
from analysis.results.study_figure import FORMS, StudyFigure
from studies.models import Study
from studies.version_groups import VersionChoice, choose_versions
from teaching.decay import Fit, fit_decay
from teaching.engine.arrays import FloatArray
from teaching.engine.bank import Seen
from teaching.engine.classes import of_class
from teaching.population import population
from teaching.teachers import teacher_title

from . import beliefs
from .figures import BINARY, ArmBins, ArmFits, calibration_plot, decay_plot
from .kinds import TITLES, Reading, kinds_plot, kinds_table, read
from .sessions import TaughtSession, sessions_of

# How many of the newest: the page loads in a second or two, and more would change little.
MOST = 300

TEACHER, TRACKING, CONSTANT, RUNNING = "teacher", "tracking", "constant", "running"
WAYS = {
    TEACHER: "the teacher’s belief",
    TRACKING: "tracking the learner",
    CONSTANT: "a constant",
    RUNNING: "running accuracy",
}
THAN = ("than a constant", "than running accuracy")
TRACKING_IS_BETTER = "Tracking is better than running accuracy by"
LOSSES = (
    row_names("Teacher"),
    *number_columns("Sessions"),
    *number_columns(*WAYS.values(), group="Log loss per answer, in nats"),
    *number_columns(*THAN, strong=THAN, group="The belief is better by (95 % interval)"),
    *number_columns(TRACKING_IS_BETTER, strong=[TRACKING_IS_BETTER]),
)


@dataclass(frozen=True)
class Arm:
    """The sessions of one teacher, what tracking makes of each, and every worker's loss by each way to predict."""

    name: str
    sessions: Sequence[TaughtSession]
    readings: Sequence[Reading]
    losses: dict[str, tuple[float, ...]]


@dataclass(frozen=True)
class Check:
    arms: Sequence[Arm]
    fits: dict[str, Fit]
    """by the participant's code"""
    purpose: str
    versions: VersionChoice

    @property
    def sample(self) -> str:
        """Whom the check is about."""
        return sessions_in_words(len(self.sessions), self.purpose, self.versions, most=MOST)

    @property
    def sessions(self) -> list[TaughtSession]:
        return [session for arm in self.arms for session in arm.sessions]


def check(study: Study, purpose: str, version: str = "") -> Check:
    versions = choose_versions(study, study.participants.filter(purpose=purpose), version)
    sessions = sessions_of(study, purpose, versions, MOST)
    names = sorted({session.arm for session in sessions}, key=place_in(study))
    arms = [arm_of(name, [s for s in sessions if s.arm == name]) for name in names]
    fits = {session.code: fit(session) for session in sessions}
    return Check(arms, fits, purpose, versions)


def place_in(study: Study) -> Any:
    order = {name: place for place, name in enumerate(study.arm_names)}
    return lambda name: (order.get(name, len(order)), name)


def fit(session: TaughtSession) -> Fit:
    seen = Seen(
        session.pool, session.examples, session.labels, session.answers, session.beta, session.rate
    )
    return fit_decay(seen)


def arm_of(name: str, sessions: Sequence[TaughtSession]) -> Arm:
    rights = [session.right for session in sessions]
    classes = max(session.classes for session in sessions)
    constants = beliefs.constant_of_others(rights, classes)
    readings = [read(session) for session in sessions]
    predictions: dict[str, list[FloatArray]] = {
        TEACHER: [of_class(s.probabilities, s.labels) for s in sessions],
        TRACKING: [
            of_class(one.expected, s.labels) for one, s in zip(readings, sessions, strict=True)
        ],
        CONSTANT: [np.full(len(r), c) for r, c in zip(rights, constants, strict=True)],
        RUNNING: [beliefs.running_accuracy(right, classes) for right in rights],
    }
    return Arm(name, sessions, readings, beliefs.losses_by_worker(predictions, rights))


def model_page(study: Study, purpose: str, version: str = "") -> dict[str, Any]:
    found = check(study, purpose, version)
    page: dict[str, Any] = {"n": len(found.sessions), "most": MOST, "versions": found.versions}
    if not found.sessions:
        return page
    return page | {
        "losses": loss_table(found),
        "kinds": kinds_table(readings_by_teacher(found), found.sample),
        "figures": [draw(found) for draw in FIGURES.values()],
        "forms": [*FORMS],
        "decay": decay_words(found),
        "even_odds": f"{np.log(2):.3f}",
    }


def readings_by_teacher(found: Check) -> list[tuple[str, Sequence[Reading]]]:
    return [(teacher_title(arm.name), arm.readings) for arm in found.arms]


def loss_table(found: Check) -> Table:
    rows = [loss_row(arm) for arm in found.arms]
    return Table("Log loss by teacher", LOSSES, rows, note=found.sample)


def loss_row(arm: Arm) -> list[Any]:
    pairs = ((TEACHER, CONSTANT), (TEACHER, RUNNING), (TRACKING, RUNNING))
    return [
        teacher_title(arm.name),
        len(arm.sessions),
        *(decimal(stats.mean(arm.losses[way]), 3) for way in WAYS),
        *(with_interval(beliefs.advantage(arm.losses[a], arm.losses[b])) for a, b in pairs),
    ]


def with_interval(summary: stats.SampleSummary) -> str:
    value = decimal(summary.mean, 3)
    if summary.interval is None:
        return value
    low, high = decimal(summary.interval.low, 3), decimal(summary.interval.high, 3)
    return f"{value} ({low} to {high})"


def decay_words(found: Check) -> dict[str, str]:
    pairs = [(session.beta, found.fits[session.code]) for session in found.sessions]
    inside = sum(one.low <= beta <= one.high for beta, one in pairs)
    silent = sum(one.tells_nothing for _, one in pairs)
    return {
        "inside": f"{inside} of {len(pairs)}",
        "silent": f"{silent} of {len(pairs)}",
        "mean": mean_words([one for _, one in pairs]),
        "rank": rank_words(found),
    }


def mean_words(fits: Sequence[Fit]) -> str:
    group = population([[one.surface] for one in fits])
    return f"{two_places(group.mean)} ({between(group.interval, two_places)})"


def rank_words(found: Check) -> str:
    """Of the fitted β and n̄, of which the β of either mapping of the memory test is a function."""
    tested = [session for session in found.sessions if session.memory_span is not None]
    fitted = [found.fits[session.code].beta for session in tested]
    rank = stats.spearman([session.memory_span or 0.0 for session in tested], fitted)
    if rank is None:
        return UNKNOWN
    return f"{two_places(rank.statistic)} ({between(rank.interval, two_places)})"


def two_places(value: float) -> str:
    return decimal(value, 2)


def calibration_figure(found: Check) -> StudyFigure:
    is_binary = all(session.classes == 2 for session in found.sessions)
    observed = said_second if is_binary else was_right
    arms = [
        ArmBins(teacher_title(arm.name), beliefs.calibration(*joined(observed, arm.sessions)))
        for arm in found.arms
    ]
    rows: list[list[Any]] = [
        [arm.name, one.predicted, one.observed, one.n, one.interval.low, one.interval.high]
        for arm in arms
        for one in arm.bins
    ]
    caption = (
        f"Answers in ten bins of {'the teacher’s p' if is_binary else 'the chance of a right answer'}. On the dashed "
        "line predictions are calibrated; whiskers are 95 % intervals of the share, as if answers were independent."
    )
    header = ("arm", "predicted", "answered_plus" if is_binary else "right", "n", "low", "high")
    what = BINARY if is_binary else ("right", "predicted right")
    drawing = calibration_plot("Predicted and given answers", arms, what)
    return StudyFigure("calibration", caption, drawing, header, rows, found.sample, found.purpose)


def said_second(session: TaughtSession) -> tuple[FloatArray, FloatArray]:
    """Of two classes: what the second was given, and whether it was answered, (t,) both."""
    return session.probabilities[:, 1], (session.answers == 1).astype(np.float64)


def was_right(session: TaughtSession) -> tuple[FloatArray, FloatArray]:
    """Of any number: what the true class was given, and whether it was answered, (t,) both."""
    return of_class(session.probabilities, session.labels), session.right


def joined(
    observed: Callable[[TaughtSession], tuple[FloatArray, FloatArray]],
    sessions: Sequence[TaughtSession],
) -> tuple[FloatArray, FloatArray]:
    predicted, came_true = zip(*map(observed, sessions), strict=True)
    return np.concatenate(predicted), np.concatenate(came_true)


def decay_figure(found: Check) -> StudyFigure:
    arms = [
        ArmFits(teacher_title(arm.name), [(s.beta, found.fits[s.code]) for s in arm.sessions])
        for arm in found.arms
    ]
    rows = [decay_row(session, found.fits[session.code]) for session in found.sessions]
    caption = (
        "Every mark is a worker. Lines span the values of β that explain the answers about equally well: with thirty "
        "answers most lines are long, a fit says little about any one person, and single fits lean towards the "
        "middle of the range. The mean of the group, below, comes from all answers together."
    )
    header = (
        "participant", "arm", "memory_span", "beta", "beta_fitted", "low", "high", "rate_factor",
    )  # fmt: skip
    drawing = decay_plot("Memory decay, assumed and fitted", arms)
    return StudyFigure("decay", caption, drawing, header, rows, found.sample, found.purpose)


def decay_row(session: TaughtSession, one: Fit) -> list[Any]:
    measured = [session.memory_span, session.beta]
    return [session.code, session.arm, *measured, one.beta, one.low, one.high, one.rate_factor]


def kinds_figure(found: Check) -> StudyFigure:
    rows: list[list[Any]] = [
        [session.code, arm.name, reading.leading, *(reading.kinds[kind] for kind in TITLES)]
        for arm in found.arms
        for session, reading in zip(arm.sessions, arm.readings, strict=True)
    ]
    caption = (
        "Every mark is a worker, in the row of the kind of learner that is the likeliest after the last answer, at its "
        "probability. To the right of the dashed line it is more probable than all other kinds together."
    )
    header = ("participant", "arm", "likeliest", *(f"p_{kind}" for kind in TITLES))
    drawing = kinds_plot("Likeliest kinds of learners", readings_by_teacher(found))
    return StudyFigure("kinds", caption, drawing, header, rows, found.sample, found.purpose)


FIGURES = {"calibration": calibration_figure, "kinds": kinds_figure, "decay": decay_figure}
