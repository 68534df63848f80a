"""The table of teachers for code that is loaded with the server, which must start without the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .engine import Teacher


def known_teachers() -> dict[str, type[Teacher]]:
    """Every teacher by its name, in the order of the table."""
    # Importing the engine takes longer than the rest of the server.
    from .engine import TEACHERS

    return TEACHERS


def learner_title(kind: str) -> str:
    """What completes "the worker …", also for the kinds of earlier releases."""
    from .engine.bank import TITLES

    return TITLES.get(kind, kind)


def teacher_title(name: str) -> str:
    """What people read; for a teacher that this software does not (or no longer) have, its plain name."""
    teacher = known_teachers().get(name)
    return teacher.title if teacher else name
