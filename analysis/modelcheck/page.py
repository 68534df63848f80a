"""The page of the model check: how well the teachers' learner model predicts the participants of a study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis import stats
from analysis.charts import axes
from analysis.charts.accuracies import BINARY, ArmBins, calibration_plot
from analysis.charts.axes import LEFT, RIGHT, WIDTH, AxisScale
from analysis.charts.formatting import UNKNOWN, between, decimal, percent, plain
from analysis.charts.shapes import Drawing, Line, Shape, Text
from analysis.charts.tables import Column, Table, number_columns, row_names
from analysis.results.data import describe_sessions
from analysis.results.figures import FORMS, StudyFigure
from studies.models import Study
from studies.version_groups import VersionChoice, choose_versions
from teaching.decay import SessionFit, estimate_group
from teaching.engine.arrays import FloatArray
from teaching.engine.classes import of_class
from teaching.teachers import teacher_title

from .sessions import (
    CLEAR_MAJORITY,
    FAMILY_TITLES,
    LearnerEstimate,
    TaughtSession,
    fit,
    load_sessions,
    track,
)

# Only the newest are read: the page then loads in a second or two, and more would change little.
MAX_SESSIONS = 300

TEACHER, TRACKING, CONSTANT, RUNNING = "teacher", "tracking", "constant", "running"
PREDICTORS = {
    TEACHER: "the teacher’s belief",
    TRACKING: "tracking the learner",
    CONSTANT: "a constant",
    RUNNING: "running accuracy",
}
THAN = ("than a constant", "than running accuracy")
LOSSES = (
    row_names("Teacher"),
    *number_columns("Sessions"),
    *number_columns(*PREDICTORS.values(), group="Log loss per answer, in nats"),
    *number_columns(*THAN, strong=THAN, group="The belief is better by (95 % interval)"),
    Column("Tracking is better than running accuracy by", "number", is_strong=True),
)
COUNTS = ("likeliest", "clearly")
# Of the figure of families: the top of the first row, the height of a row, and the left end of the axis.
FIRST_ROW, ROW_HEIGHT, LEFT_OF_MARKS = 34.0, 34.0, 120.0


@dataclass(frozen=True)
class Arm:
    """The sessions of one teacher, with Tracked's estimates and each participant's loss by each predictor."""

    name: str
    sessions: Sequence[TaughtSession]
    estimates: Sequence[LearnerEstimate]
    losses: dict[str, tuple[float, ...]]


@dataclass(frozen=True)
class Check:
    arms: Sequence[Arm]
    fits: dict[str, SessionFit]
    """by the participant's code"""
    purpose: str
    versions: VersionChoice

    @property
    def sample(self) -> str:
        """Describes the participants."""
        return describe_sessions(
            len(self.sessions), self.purpose, self.versions, limit=MAX_SESSIONS
        )

    @property
    def sessions(self) -> list[TaughtSession]:
        return [session for arm in self.arms for session in arm.sessions]


def check(study: Study, purpose: str, version: str = "") -> Check:
    versions = choose_versions(study, study.participants.filter(purpose=purpose), version)
    sessions = load_sessions(study, purpose, versions, MAX_SESSIONS)
    order = {name: place for place, name in enumerate(study.arm_names)}
    names = sorted(
        {session.arm for session in sessions}, key=lambda arm: (order.get(arm, len(order)), arm)
    )
    arms = [arm_of(name, [s for s in sessions if s.arm == name]) for name in names]
    fits = {session.code: fit(session) for session in sessions}
    return Check(arms, fits, purpose, versions)


def arm_of(name: str, sessions: Sequence[TaughtSession]) -> Arm:
    rights = [session.right for session in sessions]
    classes = max(session.classes for session in sessions)
    constants = stats.leave_one_out_accuracy(rights, classes)
    estimates = [track(session) for session in sessions]
    # The predicted probability of a right answer.
    predictions: dict[str, list[FloatArray]] = {
        TEACHER: [of_class(s.probabilities, s.labels) for s in sessions],
        TRACKING: [
            of_class(one.expected, s.labels) for one, s in zip(estimates, sessions, strict=True)
        ],
        CONSTANT: [np.full(len(r), c) for r, c in zip(rights, constants, strict=True)],
        RUNNING: [stats.running_accuracy(right, classes) for right in rights],
    }
    losses = {
        name: tuple(stats.log_loss(p, right) for p, right in zip(own, rights, strict=True))
        for name, own in predictions.items()
    }
    return Arm(name, sessions, estimates, losses)


def model_page(study: Study, purpose: str, version: str = "") -> dict[str, Any]:
    checked = check(study, purpose, version)
    page: dict[str, Any] = {
        "n": len(checked.sessions),
        "most": MAX_SESSIONS,
        "versions": checked.versions,
    }
    if not checked.sessions:
        return page
    return page | {
        "losses": loss_table(checked),
        "kinds": kinds_table(estimates_by_teacher(checked), checked.sample),
        "figures": [draw(checked) for draw in FIGURES.values()],
        "forms": [*FORMS],
        "decay": decay_summary(checked),
        "even_odds": f"{np.log(2):.3f}",
    }


def estimates_by_teacher(checked: Check) -> list[tuple[str, Sequence[LearnerEstimate]]]:
    return [(teacher_title(arm.name), arm.estimates) for arm in checked.arms]


def loss_table(checked: Check) -> Table:
    pairs = ((TEACHER, CONSTANT), (TEACHER, RUNNING), (TRACKING, RUNNING))
    rows = [
        [
            teacher_title(arm.name),
            len(arm.sessions),
            *(decimal(stats.mean(arm.losses[name]), 3) for name in PREDICTORS),
            *(with_interval(stats.loss_reduction(arm.losses[a], arm.losses[b])) for a, b in pairs),
        ]
        for arm in checked.arms
    ]
    return Table("Log loss by teacher", LOSSES, rows, note=checked.sample)


def with_interval(summary: stats.SampleSummary) -> str:
    value = decimal(summary.mean, 3)
    if summary.interval is None:
        return value
    low, high = decimal(summary.interval.low, 3), decimal(summary.interval.high, 3)
    return f"{value} ({low} to {high})"


def decay_summary(checked: Check) -> dict[str, str]:
    pairs = [(session.beta, checked.fits[session.code]) for session in checked.sessions]
    inside = sum(one.low <= beta <= one.high for beta, one in pairs)
    silent = sum(one.is_uninformative for _, one in pairs)
    group = estimate_group([[one.surface] for _, one in pairs])
    return {
        "inside": f"{inside} of {len(pairs)}",
        "silent": f"{silent} of {len(pairs)}",
        "mean": f"{two_places(group.mean)} ({between(stats.Interval(group.low, group.high), two_places)})",
        "rank": rank_correlation(checked),
    }


def rank_correlation(checked: Check) -> str:
    """Of fitted β and n̄, which determines the β of the memory test."""
    tested = [session for session in checked.sessions if session.memory_span is not None]
    fitted = [checked.fits[session.code].beta for session in tested]
    rank = stats.spearman([session.memory_span or 0.0 for session in tested], fitted)
    if rank is None:
        return UNKNOWN
    return f"{two_places(rank.statistic)} ({between(rank.interval, two_places)})"


def two_places(value: float) -> str:
    return decimal(value, 2)


def calibration_figure(checked: Check) -> StudyFigure:
    is_binary = all(session.classes == 2 for session in checked.sessions)
    predict = second_class if is_binary else true_class
    arms = []
    for arm in checked.arms:
        predicted, came_true = zip(*map(predict, arm.sessions), strict=True)
        bins = stats.calibration(np.concatenate(predicted), np.concatenate(came_true))
        arms.append(ArmBins(teacher_title(arm.name), bins))
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
    return StudyFigure(
        "calibration", caption, drawing, header, rows, checked.sample, checked.purpose
    )


def second_class(session: TaughtSession) -> tuple[FloatArray, FloatArray]:
    """With two classes: the probability of the second class, and whether it was the answer, (t,) both."""
    return session.probabilities[:, 1], (session.answers == 1).astype(np.float64)


def true_class(session: TaughtSession) -> tuple[FloatArray, FloatArray]:
    """The probability of the true class, and whether it was the answer, (t,) both."""
    return of_class(session.probabilities, session.labels), session.right


def decay_figure(checked: Check) -> StudyFigure:
    rows = [
        [
            session.code,
            session.arm,
            session.memory_span,
            session.beta,
            one.beta,
            one.low,
            one.high,
            one.rate_factor,
        ]
        for session in checked.sessions
        for one in [checked.fits[session.code]]
    ]
    caption = (
        "Every mark is a worker. Lines span the values of β that explain the answers about equally well: with thirty "
        "answers most lines are long, a fit says little about any one person, and single fits lean towards the "
        "middle of the range. The mean of the group, below, comes from all answers together."
    )
    header = (
        "participant", "arm", "memory_span", "beta", "beta_fitted", "low", "high", "rate_factor",
    )  # fmt: skip
    drawing = decay_plot(checked)
    return StudyFigure("decay", caption, drawing, header, rows, checked.sample, checked.purpose)


def decay_plot(checked: Check) -> Drawing:
    """The β that the teacher assumed against the one fitted to the answers, with its interval."""
    top, floor = 36.0, 290.0
    across, upward = AxisScale(0, 1, LEFT, WIDTH - RIGHT), AxisScale(0, 1, floor, top)
    shapes: list[Shape] = [
        axes.axis_title("β from the teaching answers", top, floor),
        Text(
            (LEFT + WIDTH - RIGHT) / 2, floor + 38, "β that the teacher assumed", "label", "middle"
        ),
    ]
    for value in (0.0, 0.25, 0.5, 0.75, 1.0):
        shapes.append(Line(LEFT, upward(value), WIDTH - RIGHT, upward(value), "grid"))
        shapes.append(Text(LEFT - 6, upward(value) + 4, plain(value), "tick", "end"))
        shapes.append(Text(across(value), floor + 18, plain(value), "tick", "middle"))
    shapes.append(Line(across(0), upward(0), across(1), upward(1), "zero"))
    for place, arm in enumerate(checked.arms):
        shapes += axes.legend_entry(place, teacher_title(arm.name), len(checked.arms))
        for session in arm.sessions:
            one = checked.fits[session.code]
            x = across(session.beta)
            shapes.append(Line(x, upward(one.low), x, upward(one.high), f"hair {axes.hue(place)}"))
            shapes.append(axes.mark(place, x, upward(one.beta), 3.2, "dot"))
    return Drawing(WIDTH, floor + 48, "Memory decay, assumed and fitted", shapes)


def kinds_table(arms: Sequence[tuple[str, Sequence[LearnerEstimate]]], note: str) -> Table:
    """How many participants of each arm have each family as their likeliest, and how many of them clearly.

    Families that are nobody's likeliest are left out.
    """
    everybody = [estimate for _, estimates in arms for estimate in estimates]
    groups = [*arms, *([("All", everybody)] if len(arms) > 1 else [])]
    rows = [
        [
            f"{kind}: {FAMILY_TITLES[kind]}",
            *(cell for _, estimates in groups for cell in counts(estimates, kind)),
        ]
        for kind in leading_kinds(everybody)
    ]
    totals = ["all workers", *(cell for _, estimates in groups for cell in counts(estimates))]
    columns = (
        row_names("The worker"),
        *(one for name, _ in groups for one in number_columns(*COUNTS, group=name)),
    )
    return Table("Kinds of learners by teacher", columns, [*rows, totals], note=note)


def leading_kinds(estimates: Sequence[LearnerEstimate]) -> list[str]:
    """The families that are somebody's likeliest, in their usual order."""
    leading = {estimate.likeliest for estimate in estimates}
    return [kind for kind in FAMILY_TITLES if kind in leading]


def counts(estimates: Sequence[LearnerEstimate], kind: str = "") -> tuple[int, int]:
    """How many have this family as their likeliest, and how many of them clearly. Without a name: any family."""
    own = [estimate for estimate in estimates if kind in ("", estimate.likeliest)]
    return len(own), sum(estimate.is_clear for estimate in own)


def kinds_plot(title: str, arms: Sequence[tuple[str, Sequence[LearnerEstimate]]]) -> Drawing:
    """A row for each family, and every participant at the probability of the likeliest one."""
    kinds = leading_kinds([estimate for _, estimates in arms for estimate in estimates])
    floor = FIRST_ROW + ROW_HEIGHT * len(kinds)
    across = AxisScale(0, 1, LEFT_OF_MARKS, WIDTH - RIGHT)
    shapes: list[Shape] = [
        *axes.bottom_axis(across, [0.0, 0.25, 0.5, 0.75, 1.0], FIRST_ROW, floor, percent),
        Line(across(CLEAR_MAJORITY), FIRST_ROW, across(CLEAR_MAJORITY), floor, "zero"),
        Text(
            (across.start + across.end) / 2,
            floor + 36,
            "probability of the kind, %",
            "label",
            "middle",
        ),
    ]
    for row, kind in enumerate(kinds):
        shapes.append(Text(8, FIRST_ROW + ROW_HEIGHT * (row + 0.5) + 4, kind, "name"))
    for place, (name, estimates) in enumerate(arms):
        shapes += axes.legend_entry(place, name, len(arms), LEFT_OF_MARKS)
        size = axes.dot_size(len(estimates))
        for number, estimate in enumerate(estimates):
            row_middle = kinds.index(estimate.likeliest) + 0.5 + 0.7 * axes.jitter(number)
            y = FIRST_ROW + ROW_HEIGHT * row_middle
            shapes.append(axes.mark(place, across(estimate.probability), y, size, "dot"))
    return Drawing(WIDTH, floor + 46, title, shapes)


def kinds_figure(checked: Check) -> StudyFigure:
    rows: list[list[Any]] = [
        [
            session.code,
            arm.name,
            estimate.likeliest,
            *(estimate.families[kind] for kind in FAMILY_TITLES),
        ]
        for arm in checked.arms
        for session, estimate in zip(arm.sessions, arm.estimates, strict=True)
    ]
    caption = (
        "Every mark is a worker, in the row of the kind of learner that is the likeliest after the last answer, at its "
        "probability. To the right of the dashed line it is more probable than all other kinds together."
    )
    header = ("participant", "arm", "likeliest", *(f"p_{kind}" for kind in FAMILY_TITLES))
    drawing = kinds_plot("Likeliest kinds of learners", estimates_by_teacher(checked))
    return StudyFigure("kinds", caption, drawing, header, rows, checked.sample, checked.purpose)


FIGURES = {"calibration": calibration_figure, "kinds": kinds_figure, "decay": decay_figure}
