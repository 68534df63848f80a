"""What teaching and evaluation share: an image, and a class name as the answer to it."""

import hashlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, ClassVar

from rest_framework import serializers

from . import told_images
from .errors import FilesLost, InvalidAnswer
from .image_addresses import address_of
from .image_files import whole_image
from .image_sides import SMALLEST
from .models import Example, LabelTask, Participant
from .stages import RESPONSE_MS, Json, Milliseconds, Picture, SimulatedPerson, Stage


class LabelStage(Stage):
    """A stage whose tasks are images, each answered with a class."""

    unit = "image"
    tasks: ClassVar[type[LabelTask]]
    answer_fields = {
        "label": serializers.CharField(
            max_length=60, help_text="teaching, evaluation: a class name"
        ),
        "response_ms": RESPONSE_MS,
        "feedback_ms": Milliseconds(
            required=False,
            help_text="teaching, evaluation: how long the feedback to the task before was in sight",
        ),
    }

    def read(self, participant: Participant, payload: Mapping[str, Any]) -> Json:
        """The name of a class is turned into its number once, here."""
        answer = super().read(participant, payload)
        dataset = participant.study_as_joined.dataset
        if answer["label"] not in dataset.class_names:
            *others, last = map(repr, dataset.class_names)
            problem = f"There is no such class. Answer {', '.join(others)} or {last}."
            raise InvalidAnswer(fields={"label": [problem]})
        return answer | {"label": dataset.label_of(answer["label"])}

    def simulated_answer(self, task: Json, person: SimulatedPerson) -> Json:
        label, response_ms = person.classify(task["image"])
        person.wait(response_ms)
        return {"label": label, "response_ms": response_ms}


def image_key(participant: Participant, example: Example) -> str:
    """The name of an image for one participant: no two of them can compare notes by it."""
    return _secret_name(participant, example.key)


def _secret_name(participant: Participant, key: str) -> str:
    return hashlib.blake2b(f"{participant.token} {key}".encode(), digest_size=12).hexdigest()


def image_address(participant: Participant, example: Example) -> str:
    name, dataset = image_key(participant, example), participant.study_as_joined.dataset
    told_images.remember(participant.token, name, dataset.key, example.key)
    return address_of(participant, name)


def describe_image(participant: Participant, example: Example) -> Json:
    return {"url": image_address(participant, example), "alt": "Image to classify"}


def find_picture(
    participant: Participant, shown: Iterable[str], name: str, side: int = SMALLEST
) -> Picture | None:
    """The image that has this name for the participant, if it is one of these, given by their keys."""
    for key in shown:
        if _secret_name(participant, key) == name:
            return _photograph(participant.study_as_joined.dataset.key, key, side)
    return None


def told_picture(token: str, name: str, side: int = SMALLEST) -> Picture | None:
    """The image under an address that this process has told."""
    if told := told_images.find(token, name):
        with suppress(FilesLost):
            return _photograph(*told, side)
    return None


def _photograph(dataset: str, key: str, side: int) -> Picture:
    return Picture(whole_image(dataset, key, side), "image/jpeg")
