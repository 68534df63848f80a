"""What a stage of a session is, and the order of the stages. The apps that implement them are named in the settings."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from django.conf import settings
from django.utils.module_loading import import_string

if TYPE_CHECKING:
    from rest_framework.serializers import Serializer

    from .models import Participant, Study

Json = dict[str, Any]


@dataclass(frozen=True)
class Current:
    """The current task as the browser may see it, and how many units of the stage are done."""

    task: Json
    done: int


@dataclass(frozen=True)
class Picture:
    """An image that a participant may see."""

    content: bytes
    content_type: str


@dataclass(frozen=True)
class Recorded:
    """An answer that was taken: its content, and the feedback that it got."""

    answer: Json
    feedback: Json | None


@dataclass(frozen=True)
class Taken:
    """What became of an answer: the feedback to it, and whether it was the stage's last."""

    feedback: Json | None
    is_last: bool
    # The task that follows, from a stage that knows it already: it need not be read again.
    current: Current | None = None


class Stage(ABC):
    """One module of a session. A stage writes a task before it is shown and its answer exactly once.

    `plan` runs before the transaction and `record` inside it, with the participant's row locked: the first may
    calculate for as long as it needs, the second only writes.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    # Whether the stage is a part of the worker's progress bar.
    is_counted: ClassVar[bool] = True
    answer_serializer: ClassVar[type[Serializer[Any]]]

    def problems_of(self, study: Study) -> dict[str, str]:
        """What is wrong with a study's settings from this stage's point of view: field name to reason."""
        return {}

    def warm_up(self, study: Study) -> None:
        """Loads what `begin` needs, ahead of the transaction that it runs in."""
        return

    @abstractmethod
    def begin(self, participant: Participant) -> None:
        """Writes the first task at `participant.position` and this stage's part of the participant's row."""

    @abstractmethod
    def total(self, participant: Participant) -> int | None:
        """How many units (trials, steps, images) the stage has; None while that is not settled."""

    @abstractmethod
    def current(self, participant: Participant) -> Current:
        """The task at `participant.position`. Reads only."""

    def plan(self, participant: Participant, answer: Json) -> Any:
        """Everything that has to be worked out before the answer is written. Refuses what does not fit the task."""
        return None

    @abstractmethod
    def record(self, participant: Participant, answer: Json, plan: Any) -> Taken:
        """Writes the answer and the stage's next task, if there is one, at the next position."""

    @abstractmethod
    def recorded(self, participant: Participant, position: int) -> Recorded | None:
        """The answer that was taken at a position, if this stage has it."""

    def finish(self, participant: Participant) -> None:
        """Leaves the stage's results on the participant's row, inside the transaction of its last answer."""
        return

    def picture(self, participant: Participant, key: str) -> Picture | None:
        """The image under a key, if this stage has already assigned it to the participant."""
        return None


@cache
def flow() -> tuple[Stage, ...]:
    return tuple(import_string(path)() for path in settings.JEDI_STAGES)


def named(name: str) -> Stage:
    return next(stage for stage in flow() if stage.name == name)


def after(name: str) -> Stage | None:
    names = [stage.name for stage in flow()]
    following = names.index(name) + 1
    return flow()[following] if following < len(names) else None
