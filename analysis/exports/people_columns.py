"""The columns of a participant."""

from datetime import datetime

from studies.models import Participant
from teaching.teachers import known_teachers

from .column import Column, ColumnKind


def memory_length(participant: Participant, trial: int) -> int | None:
    lengths = participant.memory_lengths
    return lengths[trial - 1] if trial <= len(lengths) else None


def _seconds(start: datetime | None, end: datetime | None) -> float | None:
    return round((end - start).total_seconds(), 3) if start and end else None


def _status(participant: Participant) -> str:
    """An overdue session counts as abandoned from the moment it is overdue, marked or not."""
    return Participant.Stage.ABANDONED if participant.has_expired else participant.stage


def _arm_meaning() -> str:
    names = [f"{name} ({teacher.title})" for name, teacher in known_teachers().items()]
    return (
        f"The name of the teacher: {', '.join(names[:-1])} or {names[-1]}. Empty before assignment."
    )


WHO: tuple[Column[Participant], ...] = (
    Column("study", ColumnKind.TEXT, "The study's link name.", lambda p: p.study.slug),
    Column(
        "participant",
        ColumnKind.TEXT,
        "The participant's code: random, says nothing about the person.",
        lambda p: p.code,
    ),
    Column(
        "status",
        ColumnKind.TEXT,
        "Where the session stands: consent, memory, teaching, evaluation, done, declined, abandoned or withdrawn.",
        _status,
    ),
    Column(
        "arm",
        ColumnKind.TEXT,
        _arm_meaning,
        lambda p: p.arm,
    ),
    Column(
        "ticket", ColumnKind.WHOLE, "The number in the round robin, from 0.", lambda p: p.ticket
    ),
)
RESULTS: tuple[Column[Participant], ...] = (
    Column(
        "memory_span",
        ColumnKind.NUMBER,
        "n̄: the mean memory length of the trials without the shortest.",
        lambda p: p.memory_span,
    ),
    Column(
        "beta",
        ColumnKind.NUMBER,
        "β = 1 − 1/n̄, the memory decay; e⁻¹ when n̄ is 1.",
        lambda p: p.beta,
    ),
    Column(
        "teaching_steps",
        ColumnKind.WHOLE,
        "How many images the teacher was to show.",
        lambda p: p.teaching_steps,
    ),
    Column(
        "unique_examples",
        ColumnKind.WHOLE,
        "How many different images were shown in teaching.",
        lambda p: p.unique_examples,
    ),
    Column(
        "first_seen_accuracy",
        ColumnKind.NUMBER,
        "Share of right answers at first presentations in teaching.",
        lambda p: p.first_seen_accuracy,
    ),
    Column(
        "evaluation_accuracy",
        ColumnKind.NUMBER,
        "Share of right answers in the evaluation.",
        lambda p: p.evaluation_accuracy,
    ),
    Column(
        "teaching_gain",
        ColumnKind.NUMBER,
        "evaluation_accuracy − first_seen_accuracy.",
        lambda p: p.teaching_gain,
    ),
    Column("joined_at", ColumnKind.TIME, "When the session was made.", lambda p: p.created_at),
    Column("consented_at", ColumnKind.TIME, "When the worker agreed.", lambda p: p.consented_at),
    Column(
        "teaching_started_at",
        ColumnKind.TIME,
        "When the first teaching image was chosen.",
        lambda p: p.teaching_started_at,
    ),
    Column(
        "evaluation_started_at",
        ColumnKind.TIME,
        "When the evaluation images were drawn.",
        lambda p: p.evaluation_started_at,
    ),
    Column("finished_at", ColumnKind.TIME, "When the session ended.", lambda p: p.finished_at),
    Column(
        "duration_s",
        ColumnKind.NUMBER,
        "Seconds from consent to the end.",
        lambda p: _seconds(p.consented_at, p.finished_at),
    ),
)
SETTING: tuple[Column[Participant], ...] = (
    Column(
        "last_seen_at", ColumnKind.TIME, "When the worker was last seen.", lambda p: p.last_seen_at
    ),
    Column(
        "first_button",
        ColumnKind.TEXT,
        "The class on the first of the two buttons; the other class is on the second.",
        lambda p: p.classes[0],
    ),
    Column("study_title", ColumnKind.TEXT, "The study's title.", lambda p: p.study.title),
    Column("study_seed", ColumnKind.WHOLE, "The study's seed.", lambda p: p.study_as_joined.seed),
    Column(
        "dataset",
        ColumnKind.TEXT,
        "The name of the data set.",
        lambda p: p.study_as_joined.dataset.name,
    ),
    Column(
        "dataset_version",
        ColumnKind.WHOLE,
        "The version of the data set; a data set never changes under its version.",
        lambda p: p.study_as_joined.dataset.version,
    ),
    Column(
        "recruiter",
        ColumnKind.TEXT,
        "Where the worker came from: prolific, mturk, or empty for the plain link.",
        lambda p: p.recruiter,
    ),
)
RECRUITMENT: tuple[Column[Participant], ...] = (
    Column(
        "external_id",
        ColumnKind.TEXT,
        "The worker's id on the recruitment platform.",
        lambda p: p.external_id,
        identifiable=True,
    ),
    Column(
        "external_study",
        ColumnKind.TEXT,
        "The platform's id of the study or HIT.",
        lambda p: p.external_study,
        identifiable=True,
    ),
    Column(
        "external_session",
        ColumnKind.TEXT,
        "The platform's id of the session or assignment.",
        lambda p: p.external_session,
        identifiable=True,
    ),
)
