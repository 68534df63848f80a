"""The registry of columns: what each is called, what it means, where it comes from, and whether it names a person."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Generic, TypeVar

from evaluation.models import EvaluationItem
from memorytest.models import MemoryRound
from studies.models import LabelTask, Participant, Study, Task
from teaching.models import TeachingStep

# What may stand in a cell. A list is a list of names.
Cell = str | int | float | bool | datetime | list[Any] | None
Row = TypeVar("Row", contravariant=True)


class Kind(StrEnum):
    """How to read a column back, in the words of the codebook."""

    TEXT = "text"
    WHOLE = "whole number"
    NUMBER = "number"
    YES_NO = "0 or 1"
    TIME = "time"
    LIST = "list"


@dataclass(frozen=True)
class Column(Generic[Row]):
    name: str
    kind: Kind
    description: str
    value: Callable[[Row], Cell]
    identifiable: bool = False


Columns = tuple[Column[Any], ...]


def _memory_length(participant: Participant, trial: int) -> int | None:
    lengths = participant.memory_lengths
    return lengths[trial - 1] if trial <= len(lengths) else None


def _seconds(start: datetime | None, end: datetime | None) -> float | None:
    return round((end - start).total_seconds(), 3) if start and end else None


def _status(participant: Participant) -> str:
    """An overdue session counts as abandoned from the moment it is overdue, marked or not."""
    return Participant.Stage.ABANDONED if participant.has_expired else participant.stage


def _origin(whose: Callable[[Any], Participant]) -> Columns:
    """Where a row comes from, in every table alike: what it takes to repeat the session."""
    return (
        Column(
            "purpose",
            Kind.TEXT,
            "What the session is for: live, pilot, preview or rehearsal.",
            lambda row: whose(row).purpose,
        ),
        Column(
            "study_version",
            Kind.WHOLE,
            "The version of the study's settings that the session was made of.",
            lambda row: whose(row).version.number,
        ),
        Column(
            "configuration_hash",
            Kind.TEXT,
            "SHA-256 of those settings; the datasheet of an export has them in full.",
            lambda row: whose(row).version.hash,
        ),
        Column(
            "software_version",
            Kind.TEXT,
            "The version of JEDI Web in which the session began.",
            lambda row: whose(row).software_version,
        ),
        Column(
            "participant_seed",
            Kind.WHOLE,
            "Every random draw of the session follows from it and the study's seed.",
            lambda row: whose(row).seed,
        ),
    )


def gain_columns(study: Study) -> Columns:
    """The columns of the teaching gain, with one memory length for each trial that a version had."""
    trials = tuple(
        Column[Participant](
            f"memory_length_{trial}",
            Kind.WHOLE,
            f"Memory length of trial {trial}: the largest number of images restored in order.",
            lambda participant, trial=trial: _memory_length(participant, trial),  # type: ignore[misc]
        )
        for trial in range(1, study.most_memory_trials + 1)
    )
    return (*WHO, *trials, *RESULTS, *_origin(lambda participant: participant))


def participant_columns(study: Study) -> Columns:
    return (*gain_columns(study), *SETTING, *RECRUITMENT)


def teaching_columns(study: Study) -> Columns:
    return (*WHOSE, *STEP, *IMAGE_AND_ANSWER, *CHOICE, *TASK_TIMES, *ORIGIN_OF_TASK)


def evaluation_columns(study: Study) -> Columns:
    return (*WHOSE, *ITEM, *IMAGE_AND_ANSWER, *TASK_TIMES, *ORIGIN_OF_TASK)


def memory_columns(study: Study) -> Columns:
    return (*WHOSE, *ROUND, *TASK_TIMES, *ORIGIN_OF_TASK)


ORIGIN_OF_TASK = _origin(lambda task: task.participant)


WHO: tuple[Column[Participant], ...] = (
    Column("study", Kind.TEXT, "The study's link name.", lambda p: p.study.slug),
    Column(
        "participant",
        Kind.TEXT,
        "The participant's code: random, says nothing about the person.",
        lambda p: p.code,
    ),
    Column(
        "status",
        Kind.TEXT,
        "Where the session stands: consent, memory, teaching, evaluation, done, declined, abandoned or withdrawn.",
        _status,
    ),
    Column(
        "arm",
        Kind.TEXT,
        "The teacher: jedi, imt, eer or rt. Empty before assignment.",
        lambda p: p.arm,
    ),
    Column("ticket", Kind.WHOLE, "The number in the round robin, from 0.", lambda p: p.ticket),
)
RESULTS: tuple[Column[Participant], ...] = (
    Column(
        "memory_span",
        Kind.NUMBER,
        "n̄: the mean memory length of the trials without the shortest.",
        lambda p: p.memory_span,
    ),
    Column(
        "beta", Kind.NUMBER, "β = 1 − 1/n̄, the memory decay; e⁻¹ when n̄ is 1.", lambda p: p.beta
    ),
    Column(
        "teaching_steps",
        Kind.WHOLE,
        "How many images the teacher was to show.",
        lambda p: p.teaching_steps,
    ),
    Column(
        "unique_examples",
        Kind.WHOLE,
        "How many different images were shown in teaching.",
        lambda p: p.unique_examples,
    ),
    Column(
        "first_seen_accuracy",
        Kind.NUMBER,
        "Share of right answers at first presentations in teaching.",
        lambda p: p.first_seen_accuracy,
    ),
    Column(
        "evaluation_accuracy",
        Kind.NUMBER,
        "Share of right answers in the evaluation.",
        lambda p: p.evaluation_accuracy,
    ),
    Column(
        "teaching_gain",
        Kind.NUMBER,
        "evaluation_accuracy − first_seen_accuracy.",
        lambda p: p.teaching_gain,
    ),
    Column("joined_at", Kind.TIME, "When the session was made.", lambda p: p.created_at),
    Column("consented_at", Kind.TIME, "When the worker agreed.", lambda p: p.consented_at),
    Column(
        "teaching_started_at",
        Kind.TIME,
        "When the first teaching image was chosen.",
        lambda p: p.teaching_started_at,
    ),
    Column(
        "evaluation_started_at",
        Kind.TIME,
        "When the evaluation images were drawn.",
        lambda p: p.evaluation_started_at,
    ),
    Column("finished_at", Kind.TIME, "When the session ended.", lambda p: p.finished_at),
    Column(
        "duration_s",
        Kind.NUMBER,
        "Seconds from consent to the end.",
        lambda p: _seconds(p.consented_at, p.finished_at),
    ),
)
SETTING: tuple[Column[Participant], ...] = (
    Column("last_seen_at", Kind.TIME, "When the worker was last seen.", lambda p: p.last_seen_at),
    Column(
        "first_button",
        Kind.TEXT,
        "The class on the first of the two buttons; the other class is on the second.",
        lambda p: p.classes[0],
    ),
    Column("study_title", Kind.TEXT, "The study's title.", lambda p: p.study.title),
    Column("study_seed", Kind.WHOLE, "The study's seed.", lambda p: p.settings.seed),
    Column("dataset", Kind.TEXT, "The name of the data set.", lambda p: p.settings.dataset.name),
    Column(
        "dataset_version",
        Kind.WHOLE,
        "The version of the data set; a data set never changes under its version.",
        lambda p: p.settings.dataset.version,
    ),
    Column(
        "recruiter",
        Kind.TEXT,
        "Where the worker came from: prolific, mturk, or empty for the plain link.",
        lambda p: p.recruiter,
    ),
)
RECRUITMENT: tuple[Column[Participant], ...] = (
    Column(
        "external_id",
        Kind.TEXT,
        "The worker's id on the recruitment platform.",
        lambda p: p.external_id,
        identifiable=True,
    ),
    Column(
        "external_study",
        Kind.TEXT,
        "The platform's id of the study or HIT.",
        lambda p: p.external_study,
        identifiable=True,
    ),
    Column(
        "external_session",
        Kind.TEXT,
        "The platform's id of the session or assignment.",
        lambda p: p.external_session,
        identifiable=True,
    ),
)

WHOSE: tuple[Column[Task], ...] = (
    Column("study", Kind.TEXT, "The study's link name.", lambda t: t.participant.study.slug),
    Column(
        "participant",
        Kind.TEXT,
        "The participant's code, as in the table of participants.",
        lambda t: t.participant.code,
    ),
    Column(
        "arm",
        Kind.TEXT,
        "The participant's teacher. Empty before assignment.",
        lambda t: t.participant.arm,
    ),
    Column(
        "position",
        Kind.WHOLE,
        "The number of the task in the whole session, from 1.",
        lambda t: t.position,
    ),
)
TASK_TIMES: tuple[Column[Task], ...] = (
    Column(
        "response_ms",
        Kind.NUMBER,
        "Milliseconds from the display to the answer, by the worker's device.",
        lambda t: t.response_ms,
    ),
    Column(
        "created_at",
        Kind.TIME,
        "When the task was written, before it could be shown.",
        lambda t: t.created_at,
    ),
    Column("answered_at", Kind.TIME, "When the answer was stored.", lambda t: t.answered_at),
)


def _true_class(task: LabelTask) -> str:
    return task.participant.settings.dataset.class_name(task.example.label)


def _answer_class(task: LabelTask) -> str:
    dataset = task.participant.settings.dataset
    return "" if task.answer is None else dataset.class_name(task.answer)


IMAGE_AND_ANSWER: tuple[Column[LabelTask], ...] = (
    Column(
        "example",
        Kind.TEXT,
        "The key of the image; its file has this name.",
        lambda t: t.example.key,
    ),
    Column(
        "pool_index",
        Kind.WHOLE,
        "The image's row in the teachers' pool, from 0. Empty in the evaluation.",
        lambda t: t.example.pool_index,
    ),
    Column("label", Kind.WHOLE, "The true class as −1 or +1.", lambda t: t.example.label),
    Column("true_class", Kind.TEXT, "The name of the true class.", _true_class),
    Column("answer", Kind.WHOLE, "The worker's answer as −1 or +1.", lambda t: t.answer),
    Column("answer_class", Kind.TEXT, "The name of the class that was answered.", _answer_class),
    Column("is_correct", Kind.YES_NO, "Whether the answer was right.", lambda t: t.is_correct),
)
STEP: tuple[Column[TeachingStep], ...] = (
    Column("step", Kind.WHOLE, "t, the number of the teaching step, from 1.", lambda t: t.step),
)
CHOICE: tuple[Column[TeachingStep], ...] = (
    Column(
        "is_first_showing",
        Kind.YES_NO,
        "Whether this worker had not seen the image before.",
        lambda t: t.is_first_showing,
    ),
    Column(
        "is_random",
        Kind.YES_NO,
        "Whether the image was drawn at random in the cold start.",
        lambda t: t.is_random,
    ),
    Column(
        "p",
        Kind.NUMBER,
        "The teacher's estimate that the worker says +1, before the answer.",
        lambda t: t.p,
    ),
    Column("f", Kind.NUMBER, "The teacher's estimate that the worker is wrong.", lambda t: t.f),
    Column(
        "score",
        Kind.NUMBER,
        "The value of the teacher's objective; smaller is better. Empty where nothing was minimised.",
        lambda t: t.score,
    ),
    Column(
        "diversity", Kind.NUMBER, "The part of the objective for diversity.", lambda t: t.diversity
    ),
    Column(
        "usefulness",
        Kind.NUMBER,
        "The part of the objective for usefulness.",
        lambda t: t.usefulness,
    ),
    Column("learning_rate", Kind.NUMBER, "η_t of the step.", lambda t: t.learning_rate),
    Column("choice_ms", Kind.NUMBER, "Milliseconds that the choice took.", lambda t: t.choice_ms),
)
ITEM: tuple[Column[EvaluationItem], ...] = (
    Column("item", Kind.WHOLE, "The number of the evaluation image, from 1.", lambda t: t.item),
)
ROUND: tuple[Column[MemoryRound], ...] = (
    Column("trial", Kind.WHOLE, "The trial, from 1; 0 is the practice round.", lambda r: r.trial),
    Column(
        "is_practice",
        Kind.YES_NO,
        "Whether the round was for practice and does not count.",
        lambda r: r.is_practice,
    ),
    Column("length", Kind.WHOLE, "n, the number of pictures.", lambda r: r.length),
    Column("pictures", Kind.LIST, "The pictures in the order shown.", lambda r: r.pictures),
    Column("shuffled", Kind.LIST, "The order in which they came back.", lambda r: r.shuffled),
    Column("restored", Kind.LIST, "The order that the worker gave.", lambda r: r.restored),
    Column(
        "is_correct",
        Kind.YES_NO,
        "Whether the worker restored the order.",
        lambda r: r.is_correct,
    ),
    Column(
        "exposure_ms",
        Kind.WHOLE,
        "Milliseconds for which the pictures were to be shown.",
        lambda r: r.exposure_ms,
    ),
    Column(
        "shown_ms",
        Kind.NUMBER,
        "Milliseconds for which they were shown, by the worker's device.",
        lambda r: r.shown_ms,
    ),
    Column(
        "exposed_at",
        Kind.TIME,
        "When the display was first started.",
        lambda r: r.exposed_at,
    ),
    Column(
        "exposures",
        Kind.WHOLE,
        "How often the order was sent; more than once after a lost reply.",
        lambda r: r.exposures,
    ),
)
