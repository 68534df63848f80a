"""What a stage of a session is, and the order of the stages. The apps that implement them are named in the settings."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from django.conf import settings
from django.db.models import Count, Exists, Min, OuterRef, Q
from django.utils.module_loading import import_string
from rest_framework import serializers

from .errors import InvalidAnswer
from .image_sides import SMALLEST

if TYPE_CHECKING:
    from .models import Participant, Study, Task

Json = dict[str, Any]
# Longer than any session lives: a worker may answer after days.
MAX_MS = 1e12

AnswerFields = Mapping[str, "serializers.Field[Any, Any, Any, Any]"]


class Measured(serializers.FloatField):
    """What a client measured: a real number from 0, whatever the client sends."""

    def __init__(self, **options: Any) -> None:
        super().__init__(min_value=0, max_value=MAX_MS, **options)

    def to_internal_value(self, data: Any) -> float:
        try:
            value = super().to_internal_value(data)
        except OverflowError:
            value = math.inf
        if math.isnan(value):
            self.fail("invalid")
        return value


class Milliseconds(Measured):
    """A time by the client's clock."""


RESPONSE_MS = Milliseconds(required=False, help_text="from paint to answer, by the client's clock")


def complete(fields: AnswerFields, payload: Mapping[str, Any]) -> dict[str, Any]:
    """The values of these fields, None for optional ones that were left out."""
    missing = [name for name, field in fields.items() if field.required and name not in payload]
    if missing:
        reason = str(serializers.Field.default_error_messages["required"])
        raise InvalidAnswer(fields={name: [reason] for name in missing})
    return {name: payload.get(name) for name in fields}


@dataclass(frozen=True)
class Current:
    """The current task as the browser may see it, and how many units of the stage are done."""

    task: Json
    done: int
    # How much of the current unit is done, from 0 to 1.
    part: float = 0.0


@dataclass(frozen=True)
class Picture:
    """An image that a participant may see: its bytes, or the file that has them."""

    content: bytes | Path
    content_type: str


@dataclass(frozen=True)
class Recorded:
    """An answer that was taken: its content, and the feedback that it got."""

    answer: Json
    feedback: Json | None


class TaskChanged(Exception):
    """What was planned for an answer no longer fits its task, which has changed since. It is planned anew."""


@dataclass(frozen=True)
class Taken:
    """What became of an answer: whether it was the stage's last."""

    is_last: bool
    # The state that the whole session ends in with this answer, if it does.
    ends_as: str = ""


@dataclass(frozen=True)
class Told:
    """What the worker is told of an answer: the feedback to it."""

    feedback: Json | None = None
    # The stage's next task, from a stage that knows it already: it need not be read again.
    current: Current | None = None


@dataclass(frozen=True)
class Progress:
    """How many units of a stage a participant has done, and when the first task was written."""

    done: int
    since: datetime


class SimulatedPerson(Protocol):
    """A simulated worker as the stages know it: what it can do, and how long it takes for that."""

    def see_order(self) -> list[str]:
        """Starts the timed display of the current task; the order that it shows."""

    def restore(self, order: list[str], trial: int) -> tuple[list[str], float]:
        """The order as the worker remembers it, and the milliseconds that restoring it takes."""

    def classify(self, image: Json) -> tuple[str, float]:
        """The name of the class that the worker takes the image for, and the milliseconds until the answer."""

    def learn(self, image: Json, class_name: str) -> None:
        """The worker is told the true class of an image."""

    def wait(self, milliseconds: float) -> None:
        """Lets as much time pass as a person would take; none if the worker is in a hurry."""


class Stage(ABC):
    """One module of a session, and all that others need to know about it.

    A stage writes a task before it is shown and its answer exactly once. `plan` runs before the transaction, `record`
    inside it, with the participant's row locked, and `tell` after it: the first may calculate for as long as it needs,
    the second only writes, because others wait for it, and the last describes what was written.
    """

    # As it is stored: at most 10 characters.
    name: ClassVar[str]
    # What workers read, and what researchers read in the middle of a sentence.
    title: ClassVar[str]
    label: ClassVar[str]
    # What a unit of the stage is called, and how many of them a participant's tasks say are done.
    unit: ClassVar[str] = "task"
    units_done: ClassVar[Any] = Count("answered_at")
    # Whether the stage is a part of the worker's progress bar.
    is_counted: ClassVar[bool] = True
    # The model of its tasks, if it has any.
    tasks: ClassVar[type[Task] | None] = None
    answer_fields: ClassVar[AnswerFields]
    # The columns of the participant's row that this stage writes, and that are saved with its first or last answer.
    columns: ClassVar[tuple[str, ...]] = ()
    # Of those, the moments at which it began and ended, where they are kept.
    began_column: ClassVar[str] = ""
    ended_column: ClassVar[str] = ""
    # What those are called who have passed the stage, where "reached the next stage" would say less.
    passed_label: ClassVar[str] = ""
    # What a preview that begins at this stage shows.
    preview: ClassVar[str] = "The first task."
    # The module of the worker's page that shows its tasks, as a static file.
    script: ClassVar[str]

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

    def expected_seconds(self, participant: Participant) -> float:
        """How long the whole stage takes a typical worker."""
        return 0.0

    def in_numbers(self, study: Study) -> str:
        """What the stage shows, for the first page, such as “30 pictures”. Empty: nothing to be counted."""
        return ""

    @abstractmethod
    def current(self, participant: Participant) -> Current:
        """The task at `participant.position`. Reads only."""

    def read(self, participant: Participant, payload: Mapping[str, Any]) -> Json:
        """This stage's answer in a payload whose fields are valid. Refuses one that lacks what is needed."""
        return complete(self.answer_fields, payload)

    def plan(self, participant: Participant, answer: Json) -> Any:
        """Everything that has to be worked out before the answer is written. Refuses what does not fit the task."""
        return None

    def answered(self, plan: Any) -> Task | None:
        """The task that a plan answers, with the answer in it: it becomes part of the chain of answers."""
        return plan if self.tasks and isinstance(plan, self.tasks) else None

    @abstractmethod
    def record(self, participant: Participant, answer: Json, plan: Any) -> Taken:
        """Writes the answer and the stage's next task, if there is one, at the next position. The session is held; if
        the task is not as it was when it was planned, `TaskChanged`."""

    def tell(self, participant: Participant, plan: Any) -> Told:
        """What the worker is told once the answer is written."""
        return Told()

    @abstractmethod
    def recorded(self, participant: Participant, position: int) -> Recorded | None:
        """The answer that was taken at a position, if this stage has it."""

    def finish(self, participant: Participant) -> None:
        """Leaves the stage's results on the participant's row, inside the transaction of its last answer."""
        return

    def picture(self, participant: Participant, key: str, side: int = SMALLEST) -> Picture | None:
        """The image under a key, if this stage has already assigned it to the participant; of several sizes the one for
        a longest side of so many pixels."""
        return None

    def skip(self, participant: Participant) -> None:
        """Leaves what a typical participant would have left, for a preview that begins at a later stage."""
        return

    @abstractmethod
    def simulated_answer(self, task: Json, person: SimulatedPerson) -> Json:
        """What a simulated worker answers to a task, once as much time has passed as a person would take."""

    def simulated_look(self, task: Json, feedback: Json, person: SimulatedPerson) -> None:
        """What a simulated worker makes of the feedback to its answer."""
        return

    # Questions about many participants

    def reached(self) -> Q:
        """Whether a participant ever came to this stage, as a condition on the row."""
        if column := beginning_of(self):
            return Q(**{f"{column}__isnull": False})
        return Q(Exists(self.tasks_of(OuterRef("pk"))))

    def progress(self, people: Iterable[Participant]) -> dict[int, Progress]:
        """How far each of these participants is, by primary key and one query."""
        keys = [person.pk for person in people]
        if self.tasks is None or not keys:
            return {}
        rows = self.tasks._default_manager.filter(participant__in=keys).order_by()
        found = rows.values_list("participant").annotate(
            done=self.units_done, since=Min("created_at")
        )
        return {key: Progress(done, since) for key, done, since in found}

    def began_at(self, participant: Participant) -> datetime | None:
        """When the participant came to this stage."""
        if column := beginning_of(self):
            return getattr(participant, column)  # type: ignore[no-any-return]
        found = self.progress([participant]).get(participant.pk)
        return found.since if found else None

    def tasks_of(self, participant: Any) -> Any:
        """A participant's tasks in order."""
        if self.tasks is None:
            raise TypeError(
                f"The stage “{self.name}” has neither tasks nor a column for its start."
            )
        return self.tasks._default_manager.filter(participant=participant).order_by("position")


@cache
def flow() -> tuple[Stage, ...]:
    return tuple(import_string(path)() for path in settings.JEDI_STAGES)


def nearest_first(name: str) -> list[Stage]:
    """All stages, that of this name before the others."""
    return sorted(flow(), key=lambda stage: stage.name != name)


def labels() -> dict[str, str]:
    """What researchers call each stage, in order."""
    return {stage.name: stage.label for stage in flow()}


def named(name: str) -> Stage:
    return next(stage for stage in flow() if stage.name == name)


def after(name: str) -> Stage | None:
    names = [stage.name for stage in flow()]
    following = names.index(name) + 1
    return flow()[following] if following < len(names) else None


def before(name: str) -> Stage | None:
    place = [stage.name for stage in flow()].index(name)
    return flow()[place - 1] if place else None


def beginning_of(stage: Stage) -> str:
    """The column that tells when a participant came to a stage: its own, or that of the end of the one before."""
    earlier = before(stage.name)
    return stage.began_column or (earlier.ended_column if earlier else "")
