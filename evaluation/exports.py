"""CSV of teaching gain: one registry of columns makes the file and its data dictionary."""

import csv
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from studies.models import Participant, Study

# What spreadsheets take for the beginning of a formula.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")

Cell = str | int | float | bool | datetime | None


@dataclass(frozen=True)
class Column:
    name: str
    description: str
    value: Callable[[Participant], Cell]


def _memory_length(participant: Participant, trial: int) -> int | None:
    lengths = participant.memory_lengths
    return lengths[trial - 1] if trial <= len(lengths) else None


def _seconds(start: datetime | None, end: datetime | None) -> float | None:
    return round((end - start).total_seconds(), 3) if start and end else None


def _status(participant: Participant) -> str:
    """An overdue session counts as abandoned from the moment it is overdue, marked or not."""
    return Participant.Stage.ABANDONED if participant.has_expired else participant.stage


def gain_columns(study: Study) -> tuple[Column, ...]:
    """The columns of the export, with one memory length for each of the study's trials."""
    trials = tuple(
        Column(
            f"memory_length_{trial}",
            f"Memory length of trial {trial}: the largest number of images restored in order.",
            lambda participant, trial=trial: _memory_length(participant, trial),  # type: ignore[misc]
        )
        for trial in range(1, study.memory_trials + 1)
    )
    return (*WHO, *trials, *RESULTS)


WHO = (
    Column("study", "The study's link name.", lambda p: p.study.slug),
    Column(
        "participant",
        "The participant's code: random, says nothing about the person.",
        lambda p: p.code,
    ),
    Column(
        "status",
        "Where the session stands: consent, memory, teaching, evaluation, done, declined or abandoned.",
        _status,
    ),
    Column("arm", "The teacher: jedi, imt, eer or rt. Empty before assignment.", lambda p: p.arm),
    Column("ticket", "The number in the round robin, from 0.", lambda p: p.ticket),
)
RESULTS = (
    Column(
        "memory_span",
        "n̄: the mean memory length of the trials without the shortest.",
        lambda p: p.memory_span,
    ),
    Column("beta", "β = 1 − 1/n̄, the memory decay; e⁻¹ when n̄ is 1.", lambda p: p.beta),
    Column(
        "teaching_steps", "How many images the teacher was to show.", lambda p: p.teaching_steps
    ),
    Column(
        "unique_examples",
        "How many different images were shown in teaching.",
        lambda p: p.unique_examples,
    ),
    Column(
        "first_seen_accuracy",
        "Share of right answers at first presentations in teaching.",
        lambda p: p.first_seen_accuracy,
    ),
    Column(
        "evaluation_accuracy",
        "Share of right answers in the evaluation.",
        lambda p: p.evaluation_accuracy,
    ),
    Column(
        "teaching_gain", "evaluation_accuracy − first_seen_accuracy.", lambda p: p.teaching_gain
    ),
    Column("joined_at", "When the session was made (UTC, ISO 8601).", lambda p: p.created_at),
    Column("consented_at", "When the worker agreed.", lambda p: p.consented_at),
    Column(
        "teaching_started_at",
        "When the first teaching image was chosen.",
        lambda p: p.teaching_started_at,
    ),
    Column(
        "evaluation_started_at",
        "When the evaluation images were drawn.",
        lambda p: p.evaluation_started_at,
    ),
    Column("finished_at", "When the session ended.", lambda p: p.finished_at),
    Column(
        "duration_s",
        "Seconds from consent to the end.",
        lambda p: _seconds(p.consented_at, p.finished_at),
    ),
)


def cell(value: Cell) -> str | int | float:
    """A value as a spreadsheet may safely read it: numbers stay numbers, text never becomes a formula."""
    match value:
        case None:
            return ""
        case bool():
            return int(value)
        case int() | float():
            return value
        case datetime():
            return value.isoformat()
    return f"'{value}" if value.startswith(FORMULA_STARTS) else value


class _Line:
    """A file that gives every written line back, so that a CSV can be streamed."""

    def write(self, text: str) -> str:
        return text


def csv_lines(columns: Iterable[Column], rows: Iterable[Participant]) -> Iterator[str]:
    columns = tuple(columns)
    writer = csv.writer(_Line())
    yield writer.writerow([column.name for column in columns])
    for row in rows:
        yield writer.writerow([cell(column.value(row)) for column in columns])


def gain_csv(study: Study) -> Iterator[str]:
    """The teaching gain of a study, one line per participant in the order of joining."""
    participants = study.participants.select_related("study").order_by("pk")
    return csv_lines(gain_columns(study), participants.iterator(chunk_size=2000))
