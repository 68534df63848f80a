"""The interface of a stage, what stages with images share, and the order of the stages, which the settings name."""

from __future__ import annotations

import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any, ClassVar

from django.conf import settings
from django.db.models import Count, Q
from django.urls import get_script_prefix, reverse
from django.utils.module_loading import import_string
from rest_framework import serializers

from . import database
from .errors import InvalidAnswer
from .images import SMALLEST, complete_image
from .models import Example, LabelTask, Participant, Study, Task

Json = dict[str, Any]
# Longer than any session lives: a participant may answer after days.
MAX_MS = 1e12


class Measured(serializers.FloatField):
    """A measurement by the client: a finite number from 0, whatever the client sends."""

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
    """A duration by the client's clock."""


class AnswerSerializer(serializers.Serializer[Any]):
    """The fields of an answer."""

    response_ms = Milliseconds(
        required=False, help_text="from paint to answer, by the client's clock"
    )


@dataclass(frozen=True)
class Picture:
    """An image that a participant may see: its bytes, or the file that contains them."""

    content: bytes | Path
    content_type: str


class Stage(ABC):
    """Creates tasks, validates answers and chooses the next task.

    A task is stored before it is shown and answered once. `next_task` and `results` run before the transaction and may
    compute as long as they need; `begin` and `save_answer` run inside it, where others wait for them.
    """

    # The stored name: at most 10 characters.
    name: ClassVar[str]
    # What participants read, and what researchers read in the middle of a sentence.
    title: ClassVar[str]
    label: ClassVar[str]
    task_model: ClassVar[type[Task] | None] = None
    answer: ClassVar[type[AnswerSerializer]] = AnswerSerializer
    # The module of the worker's page that shows its tasks, as a static file.
    script: ClassVar[str]

    # Whether the stage is part of the participant's progress bar.
    is_counted: ClassVar[bool] = True
    # What a unit is called, and how many of them a participant's task rows show as done.
    unit: ClassVar[str] = "task"
    units_done: ClassVar[Any] = Count("answered_at")
    # The participant's columns with the start and the end, if the stage has them.
    began_column: ClassVar[str] = ""
    ended_column: ClassVar[str] = ""
    # Another sign that a participant reached the stage, as a condition on the row.
    also_reached: ClassVar[Q | None] = None
    # What participants who passed the stage are called, if "reached the next stage" would say less.
    passed_label: ClassVar[str] = ""
    # Whether the stage assigns an arm, and with it the number of its units (`teaching_steps`).
    assigns_arm: ClassVar[bool] = False
    # What a preview that begins at this stage shows.
    preview: ClassVar[str] = "The first task."

    # An answer, in the order of the calls

    def get_task(self, participant: Participant, position: int) -> Any:
        """Return a task, open or answered; raise DoesNotExist if this stage has none there."""
        if self.task_model is None:
            raise TypeError(f"The stage “{self.name}” has no task model: override get_task.")
        task = self.task_model._default_manager.get(participant=participant.pk, position=position)
        task.participant = participant
        return task

    def validate(self, participant: Participant, task: Any, payload: Any) -> Json:
        """Return the cleaned answer; raise ValidationError or InvalidAnswer with all wrong fields."""
        return dict(self._serializer.run_validation(payload))

    @cached_property
    def _serializer(self) -> AnswerSerializer:
        """Made once: building the fields takes longer than validating, and validating changes nothing in them."""
        return self.answer()

    @abstractmethod
    def next_task(self, participant: Participant, answered: Any) -> Any | None:
        """Return the task after the answered one, or None at the end of the stage."""

    def results(self, participant: Participant, answered: Any) -> Json:
        """Return the participant's columns that the finished stage leaves; the last answer is not stored yet.

        A `stage` among them ends the session with that outcome.
        """
        return {}

    def prepare(self, study: Study) -> None:
        """Load the files that `begin` needs, before the transaction."""
        return

    def save_answer(self, participant: Participant, task: Any, answer: Json) -> None:
        """Store the answered task; raise Conflict if the row has changed since it was read."""
        task.save()

    @abstractmethod
    def begin(self, participant: Participant) -> Json:
        """Insert the first task at `participant.position`; return the participant's columns that change."""

    def feedback(self, participant: Participant, task: Any) -> Json | None:
        """Return what the participant is told about an answered task."""
        return None

    @abstractmethod
    def describe(self, participant: Participant, task: Any, feedback: Json | None) -> Json:
        """Return what the browser may know about an open task. `feedback` is that of the answer before, if known."""

    # Questions about settings and images

    def check_settings(self, study: Study) -> dict[str, str]:
        """Return what is wrong with a study's settings: field name to reason."""
        return {}

    @abstractmethod
    def lengths(self, study: Study) -> Collection[int]:
        """Return every number of units (trials, steps, images) that a participant may get."""

    def seconds(self, study: Study, units: float) -> float:
        """Return how long a typical participant takes for this many units."""
        return 0.0

    def picture(self, participant: Participant, key: str, side: int = SMALLEST) -> Picture | None:
        """Return the image with this key if it has been assigned to the participant, in the size for a side."""
        return None


class LabelAnswer(AnswerSerializer):
    label = serializers.CharField(  # type: ignore[assignment]
        max_length=60, help_text="teaching, evaluation: a class name"
    )
    feedback_ms = Milliseconds(
        required=False,
        help_text="teaching, evaluation: how long the feedback to the task before was in sight",
    )


class LabelStage(Stage):
    """A stage whose tasks are images, each answered with a class."""

    unit = "image"
    task_model: ClassVar[type[LabelTask]]
    answer = LabelAnswer

    def get_task(self, participant: Participant, position: int) -> Any:
        return self.get_tasks(participant, position, position)[0]

    def get_tasks(self, participant: Participant, first: int, last: int) -> list[Any]:
        """The tasks from one position to another, each with its example; at least one."""
        tasks = database.read_label_tasks(self.task_model, participant.pk, first, last)
        for task in tasks:
            task.participant = participant
            task.example = database.get_example(
                task.example_id, participant.study_as_joined.dataset.key
            )
        return tasks

    def validate(self, participant: Participant, task: LabelTask, payload: Any) -> Json:
        answer = super().validate(participant, task, payload)
        names = participant.study_as_joined.dataset.class_names
        if answer["label"] not in names:
            *others, last = map(repr, names)
            problem = f"There is no such class. Answer {', '.join(others)} or {last}."
            raise InvalidAnswer(fields={"label": [problem]})
        return answer | {"label": names.index(answer["label"])}

    def save_answer(self, participant: Participant, task: Any, answer: Json) -> None:
        database.save_label_answer(task)


def image_key(participant: Participant, example: Example) -> str:
    """The name of an image for one participant, so that participants cannot compare images by their names."""
    return _secret_name(participant.token, example.key)


def _secret_name(token: str, key: str) -> str:
    return hashlib.blake2b(f"{token} {key}".encode(), digest_size=12).hexdigest()


def image_url(participant: Participant, name: str) -> str:
    """The URL of the image that has this name for the participant."""
    before, between = _url_parts(get_script_prefix())
    return f"{before}{participant.token}{between}{name}"


@lru_cache
def _url_parts(prefix: str) -> tuple[str, str]:
    """The parts of an image's URL before the token and between token and name, resolved once per script prefix."""
    before, _, rest = reverse("image", args=["TOKEN", "NAME"]).rpartition("TOKEN")
    return before, rest.removesuffix("NAME")


def example_url(participant: Participant, example: Example) -> str:
    return image_url(participant, image_key(participant, example))


def describe_image(participant: Participant, example: Example) -> Json:
    return {"url": example_url(participant, example), "alt": "Image to classify"}


def find_picture(
    participant: Participant, shown: Iterable[str], name: str, side: int = SMALLEST
) -> Picture | None:
    """The image that has this name for the participant, if its key is among those shown."""
    for key in shown:
        if _secret_name(participant.token, key) == name:
            dataset_key = participant.study_as_joined.dataset.key
            return Picture(complete_image(dataset_key, key, side), "image/jpeg")
    return None


@cache
def flow() -> tuple[Stage, ...]:
    return tuple(import_string(path)() for path in settings.JEDI_STAGES)


@cache
def by_name() -> dict[str, Stage]:
    return {stage.name: stage for stage in flow()}


def labels() -> dict[str, str]:
    """What researchers call each stage, in order."""
    return {stage.name: stage.label for stage in flow()}


def after(stage: Stage) -> Stage | None:
    following = flow()[flow().index(stage) + 1 :]
    return following[0] if following else None


def before(name: str) -> Stage | None:
    place = [stage.name for stage in flow()].index(name)
    return flow()[place - 1] if place else None


def clear_caches() -> None:
    """Read the settings again, for tests that change the stages."""
    flow.cache_clear()
    by_name.cache_clear()
