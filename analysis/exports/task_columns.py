"""The columns of tasks and events: the participant, what was asked, and the answer."""

from collections.abc import Callable
from typing import cast

from evaluation.models import EvaluationItem
from studies.models import LabelTask, Task

from .column import LIST, NUMBER, ORIGIN, TEXT, TIME, WHOLE, YES_NO, Column, Columns

TASK_ORIGIN = tuple(column.through("participant") for column in ORIGIN)

PERSON: Columns = (
    Column("study", TEXT, "The study's link name.", "participant.study.slug"),
    Column(
        "participant",
        TEXT,
        "The participant's code, as in the table of participants.",
        "participant.code",
    ),
    Column("arm", TEXT, "The participant's teacher. Empty before assignment.", "participant.arm"),
)
WHOSE: Columns = (
    *PERSON,
    Column("position", WHOLE, "The number of the task in the whole session, from 1."),
)
TASK_TIMES: tuple[Column[Task], ...] = (
    Column(
        "response_ms",
        NUMBER,
        "Milliseconds from the display to the answer, measured on the worker's device.",
    ),
    Column("created_at", TIME, "When the task was stored, before it could be shown."),
    Column("answered_at", TIME, "When the answer was stored."),
    Column("digest", TEXT, "Of this answer and all before it: a link of the chain of answers."),
)


def _true_class(task: LabelTask) -> str:
    return task.participant.study_as_joined.dataset.class_names[task.example.label]


def _answer_class(task: LabelTask) -> str:
    dataset = task.participant.study_as_joined.dataset
    return "" if task.answer is None else dataset.class_names[task.answer]


def _signed(read: Callable[[LabelTask], int | None]) -> Callable[[LabelTask], int | None]:
    """With two classes −1 and +1, as in earlier releases; with more, the number of the class."""

    def value(task: LabelTask) -> int | None:
        label, names = read(task), task.participant.study_as_joined.dataset.class_names
        return label if label is None or len(names) > 2 else 2 * label - 1

    return value


IMAGE_AND_ANSWER: tuple[Column[LabelTask], ...] = (
    Column(
        "example", TEXT, "The key of the image, which is also the name of its file.", "example.key"
    ),
    Column(
        "pool_index",
        WHOLE,
        "The image's row in the teachers' pool, from 0. Empty for an image of the evaluation set.",
        "example.pool_index",
    ),
    Column(
        "label",
        WHOLE,
        "The true class: −1 or +1 with two classes, the number of the class from 0 with more.",
        _signed(lambda task: task.example.label),
    ),
    Column("true_class", TEXT, "The name of the true class.", _true_class),
    Column(
        "answer",
        WHOLE,
        "The worker's answer, in the same numbers as label.",
        _signed(lambda task: task.answer),
    ),
    Column("answer_class", TEXT, "The name of the class that the worker chose.", _answer_class),
    Column("is_correct", YES_NO, "Whether the answer was correct."),
)
TEACHING: Columns = (
    *WHOSE,
    Column("step", WHOLE, "t, the number of the teaching step, from 1."),
    *IMAGE_AND_ANSWER,
    Column("is_first_showing", YES_NO, "Whether this worker had not seen the image before."),
    Column("is_random", YES_NO, "Whether the image was drawn at random in the cold start."),
    Column(
        "p",
        NUMBER,
        "With two classes, the teacher's estimate, before the answer, of the probability that the worker answers +1.",
    ),
    Column(
        "probabilities",
        LIST,
        "The teacher's estimate, before the answer, of the probability of each answer, in the order of the classes.",
    ),
    Column(
        "f",
        NUMBER,
        "The teacher's estimate, before the answer, of the probability that the worker is wrong.",
    ),
    Column(
        "score",
        NUMBER,
        "The value of the teacher's objective; smaller is better, and values of different teachers cannot be compared. "
        "0 where chance alone chose and nothing was minimised: in the cold start (is_random) and in every step of RT.",
    ),
    Column(
        "diversity",
        NUMBER,
        "The diversity part of the objective: score = diversity − usefulness. Empty where the objective has no parts: "
        "EER, RT, the cold start, and Tracked with a learner who compares images.",
    ),
    Column("usefulness", NUMBER, "The usefulness part of the objective, empty in the same steps."),
    Column(
        "learner_kind",
        TEXT,
        "The kind of learner that Tracked found the likeliest before the answer, such as concept, prototype or rule. "
        "Empty for teachers that weigh no kinds.",
    ),
    Column("learner_kind_p", NUMBER, "How probable Tracked found that kind."),
    Column(
        "teacher_version",
        WHOLE,
        "The version of the teacher's rule. Version 2 of Tracked weighs six kinds of learners instead of ten.",
    ),
    Column("learning_rate", NUMBER, "η_t, the learning rate of the step."),
    Column("choice_ms", NUMBER, "Milliseconds that the teacher took to choose."),
    Column(
        "feedback_ms",
        NUMBER,
        "Milliseconds for which the true class was in sight, measured on the worker's device. Empty for the step after "
        "which the worker left.",
    ),
    *TASK_TIMES,
    *TASK_ORIGIN,
)
EVALUATION: Columns = (
    *WHOSE,
    Column(
        "item",
        WHOLE,
        "The number of the evaluation image, from 1; attention checks are included in the count.",
    ),
    *IMAGE_AND_ANSWER,
    Column(
        "instructed_label",
        WHOLE,
        "In an attention check, the class that the worker was asked to choose, in the same numbers as label.",
        _signed(lambda task: cast(EvaluationItem, task).instructed_label),
    ),
    Column(
        "is_passed",
        YES_NO,
        "In an attention check, whether the worker chose that class. is_correct is then empty: checks count "
        "in no accuracy.",
    ),
    *TASK_TIMES,
    *TASK_ORIGIN,
)
MEMORY: Columns = (
    *WHOSE,
    Column("trial", WHOLE, "The trial, from 1; 0 is the practice round."),
    Column("is_practice", YES_NO, "Whether the round was a practice round, which does not count."),
    Column("length", WHOLE, "n, the number of pictures."),
    Column("pictures", LIST, "The pictures in the order shown."),
    Column("shuffled", LIST, "The order in which they were offered for restoring."),
    Column("restored", LIST, "The order that the worker put them in."),
    Column("is_correct", YES_NO, "Whether the worker restored the order."),
    Column("exposure_ms", WHOLE, "Milliseconds for which the pictures were meant to be shown."),
    Column(
        "shown_ms",
        NUMBER,
        "Milliseconds for which they were shown, by the painted frames of the worker's device.",
    ),
    Column("dropped_frames", WHOLE, "Frames that the device did not paint during the display."),
    Column("hidden_ms", NUMBER, "Milliseconds of the display for which the page was out of sight."),
    Column(
        "unfocused_ms",
        NUMBER,
        "Milliseconds of the display for which another window had the focus.",
    ),
    Column(
        "disturbance",
        TEXT,
        "What was wrong with the display: interrupted (the page was left or reloaded), hidden, or mistimed (off by "
        "more than 100 ms). Empty if nothing was.",
    ),
    Column(
        "is_replaced",
        YES_NO,
        "Whether the round was disturbed and played again with other pictures. It has no answer and does not count.",
    ),
    Column(
        "repeats",
        WHOLE,
        "The position of the disturbed round that this one replaces. This one counts, whatever happened to it.",
    ),
    Column("picture_px", NUMBER, "The side of each picture in CSS pixels."),
    Column("window_width", WHOLE, "The width of the worker's window in CSS pixels."),
    Column("window_height", WHOLE, "The height of the worker's window in CSS pixels."),
    Column("pixel_ratio", NUMBER, "Pixels of the worker's screen for each CSS pixel."),
    Column("pointer", TEXT, "The main pointer of the worker's device: fine, coarse or none."),
    Column(
        "exposed_at", TIME, "When the order was first sent; 0.7 seconds or more before the display."
    ),
    Column(
        "exposures", WHOLE, "How many times the order was sent; more than once after a lost reply."
    ),
    Column("reported_at", TIME, "When the worker's page told how the display went."),
    *TASK_TIMES,
    *TASK_ORIGIN,
)
EVENTS: Columns = (
    *WHOSE,
    Column(
        "kind",
        TEXT,
        "What happened on the worker's page: opened, hidden, shown, offline, online or error.",
    ),
    Column(
        "at",
        TIME,
        "When it happened: the server's time of arrival, minus how long the page held it back.",
    ),
    Column(
        "client_ms",
        NUMBER,
        "Milliseconds since the page was opened, measured on the worker's device.",
    ),
    Column("detail", TEXT, "For an error: its message and where it occurred."),
    *TASK_ORIGIN,
)
