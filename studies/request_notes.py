"""What a request did that the keeper of the server may want to know: noted on the way, read when the reply is ready."""

from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(slots=True)
class Notes:
    """The stage whose task was answered; the teacher who chose, in which study (its number), and for how long."""

    answered: str = ""
    teacher: str = ""
    study: int = 0
    teacher_ms: float = 0.0


_current: ContextVar[Notes | None] = ContextVar("request_notes", default=None)


def begin() -> Notes:
    """Empty notes for the request that begins in this thread."""
    notes = Notes()
    _current.set(notes)
    return notes


def note_answer(stage: str) -> None:
    if notes := _current.get():
        notes.answered = stage


def note_choice(teacher: str, study: int, elapsed_ms: float) -> None:
    if notes := _current.get():
        notes.teacher, notes.study, notes.teacher_ms = teacher, study, elapsed_ms
