"""The columns of tasks and of events: whose they are, what was asked, and what came back."""

from evaluation.models import EvaluationItem
from memorytest.models import MemoryRound
from studies.models import LabelTask, SessionEvent, Task
from teaching.models import TeachingStep

from .column import Column, ColumnKind, origin

ORIGIN = origin(lambda task: task.participant)

WHOSE: tuple[Column[Task], ...] = (
    Column("study", ColumnKind.TEXT, "The study's link name.", lambda t: t.participant.study.slug),
    Column(
        "participant",
        ColumnKind.TEXT,
        "The participant's code, as in the table of participants.",
        lambda t: t.participant.code,
    ),
    Column(
        "arm",
        ColumnKind.TEXT,
        "The participant's teacher. Empty before assignment.",
        lambda t: t.participant.arm,
    ),
    Column(
        "position",
        ColumnKind.WHOLE,
        "The number of the task in the whole session, from 1.",
        lambda t: t.position,
    ),
)
TASK_TIMES: tuple[Column[Task], ...] = (
    Column(
        "response_ms",
        ColumnKind.NUMBER,
        "Milliseconds from the display to the answer, by the worker's device.",
        lambda t: t.response_ms,
    ),
    Column(
        "created_at",
        ColumnKind.TIME,
        "When the task was written, before it could be shown.",
        lambda t: t.created_at,
    ),
    Column("answered_at", ColumnKind.TIME, "When the answer was stored.", lambda t: t.answered_at),
)


def _true_class(task: LabelTask) -> str:
    return task.participant.study_as_joined.dataset.class_name(task.example.label)


def _answer_class(task: LabelTask) -> str:
    dataset = task.participant.study_as_joined.dataset
    return "" if task.answer is None else dataset.class_name(task.answer)


IMAGE_AND_ANSWER: tuple[Column[LabelTask], ...] = (
    Column(
        "example",
        ColumnKind.TEXT,
        "The key of the image; its file has this name.",
        lambda t: t.example.key,
    ),
    Column(
        "pool_index",
        ColumnKind.WHOLE,
        "The image's row in the teachers' pool, from 0. Empty for an image of the evaluation set.",
        lambda t: t.example.pool_index,
    ),
    Column("label", ColumnKind.WHOLE, "The true class as −1 or +1.", lambda t: t.example.label),
    Column("true_class", ColumnKind.TEXT, "The name of the true class.", _true_class),
    Column("answer", ColumnKind.WHOLE, "The worker's answer as −1 or +1.", lambda t: t.answer),
    Column(
        "answer_class", ColumnKind.TEXT, "The name of the class that was answered.", _answer_class
    ),
    Column(
        "is_correct", ColumnKind.YES_NO, "Whether the answer was right.", lambda t: t.is_correct
    ),
)
STEP: tuple[Column[TeachingStep], ...] = (
    Column(
        "step", ColumnKind.WHOLE, "t, the number of the teaching step, from 1.", lambda t: t.step
    ),
)
CHOICE: tuple[Column[TeachingStep], ...] = (
    Column(
        "is_first_showing",
        ColumnKind.YES_NO,
        "Whether this worker had not seen the image before.",
        lambda t: t.is_first_showing,
    ),
    Column(
        "is_random",
        ColumnKind.YES_NO,
        "Whether the image was drawn at random in the cold start.",
        lambda t: t.is_random,
    ),
    Column(
        "p",
        ColumnKind.NUMBER,
        "The teacher's estimate that the worker says +1, before the answer.",
        lambda t: t.p,
    ),
    Column(
        "f", ColumnKind.NUMBER, "The teacher's estimate that the worker is wrong.", lambda t: t.f
    ),
    Column(
        "score",
        ColumnKind.NUMBER,
        "The value of the teacher's objective; smaller is better. Empty where nothing was minimised.",
        lambda t: t.score,
    ),
    Column(
        "diversity",
        ColumnKind.NUMBER,
        "The part of the objective for diversity.",
        lambda t: t.diversity,
    ),
    Column(
        "usefulness",
        ColumnKind.NUMBER,
        "The part of the objective for usefulness.",
        lambda t: t.usefulness,
    ),
    Column("learning_rate", ColumnKind.NUMBER, "η_t of the step.", lambda t: t.learning_rate),
    Column(
        "choice_ms", ColumnKind.NUMBER, "Milliseconds that the choice took.", lambda t: t.choice_ms
    ),
)
ITEM: tuple[Column[EvaluationItem], ...] = (
    Column(
        "item",
        ColumnKind.WHOLE,
        "The number of the evaluation image, from 1; attention checks are counted along.",
        lambda t: t.item,
    ),
)
CHECK: tuple[Column[EvaluationItem], ...] = (
    Column(
        "instructed_label",
        ColumnKind.WHOLE,
        "In an attention check, the class that the worker was asked to choose, as −1 or +1.",
        lambda t: t.instructed_label,
    ),
    Column(
        "is_passed",
        ColumnKind.YES_NO,
        "In an attention check, whether the worker chose that class. There is_correct is empty: no accuracy counts it.",
        lambda t: t.is_passed,
    ),
)
ROUND: tuple[Column[MemoryRound], ...] = (
    Column(
        "trial", ColumnKind.WHOLE, "The trial, from 1; 0 is the practice round.", lambda r: r.trial
    ),
    Column(
        "is_practice",
        ColumnKind.YES_NO,
        "Whether the round was for practice and does not count.",
        lambda r: r.is_practice,
    ),
    Column("length", ColumnKind.WHOLE, "n, the number of pictures.", lambda r: r.length),
    Column("pictures", ColumnKind.LIST, "The pictures in the order shown.", lambda r: r.pictures),
    Column("shuffled", ColumnKind.LIST, "The order in which they came back.", lambda r: r.shuffled),
    Column("restored", ColumnKind.LIST, "The order that the worker gave.", lambda r: r.restored),
    Column(
        "is_correct",
        ColumnKind.YES_NO,
        "Whether the worker restored the order.",
        lambda r: r.is_correct,
    ),
    Column(
        "exposure_ms",
        ColumnKind.WHOLE,
        "Milliseconds for which the pictures were to be shown.",
        lambda r: r.exposure_ms,
    ),
    Column(
        "shown_ms",
        ColumnKind.NUMBER,
        "Milliseconds for which they were shown, by the worker's device.",
        lambda r: r.shown_ms,
    ),
    Column(
        "exposed_at",
        ColumnKind.TIME,
        "When the display was first started.",
        lambda r: r.exposed_at,
    ),
    Column(
        "exposures",
        ColumnKind.WHOLE,
        "How often the order was sent; more than once after a lost reply.",
        lambda r: r.exposures,
    ),
)
EVENT: tuple[Column[SessionEvent], ...] = (
    Column(
        "kind",
        ColumnKind.TEXT,
        "What the worker's page noticed: opened, hidden, shown, offline, online or error.",
        lambda e: e.kind,
    ),
    Column(
        "at",
        ColumnKind.TIME,
        "When it happened: by the server's clock, less the time that the page kept it.",
        lambda e: e.at,
    ),
    Column(
        "client_ms",
        ColumnKind.NUMBER,
        "Milliseconds since the page was opened, by the worker's device.",
        lambda e: e.client_ms,
    ),
    Column("detail", ColumnKind.TEXT, "Of an error: its words and its place.", lambda e: e.detail),
)
