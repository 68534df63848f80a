"""What a check finds: that all is well, or a sentence and where to mend it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Grade(StrEnum):
    FINE = "fine"
    NOTE = "note"
    """Worth knowing before opening; the monitor does not repeat it."""
    QUESTION = "question"
    """May spoil a study. The monitor raises it too."""
    OBSTACLE = "obstacle"
    """The study cannot run."""


@dataclass(frozen=True)
class Link:
    title: str
    url: str


@dataclass(frozen=True)
class Finding:
    grade: Grade
    sentence: str
    link: Link | None = None

    @property
    def is_alarm(self) -> bool:
        return self.grade in (Grade.QUESTION, Grade.OBSTACLE)


def fine(sentence: str) -> Finding:
    return Finding(Grade.FINE, sentence)


def note(sentence: str, link: Link) -> Finding:
    return Finding(Grade.NOTE, sentence, link)


def question(sentence: str, link: Link) -> Finding:
    return Finding(Grade.QUESTION, sentence, link)


def obstacle(sentence: str, link: Link) -> Finding:
    return Finding(Grade.OBSTACLE, sentence, link)
