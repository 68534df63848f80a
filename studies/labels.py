"""What teaching and evaluation share: an image, and a class name as the answer to it."""

from typing import Any

from django.urls import reverse
from rest_framework import serializers

from .models import Example, Participant
from .stages import Json, Picture


class LabelAnswer(serializers.Serializer[Any]):
    """The name of a class, turned into −1 or +1 once, here."""

    label = serializers.CharField()  # type: ignore[assignment]
    response_ms = serializers.FloatField(required=False, default=None)

    def validate_label(self, value: str) -> int:
        dataset = self.context["participant"].study.dataset
        if value not in (dataset.negative_class, dataset.positive_class):
            raise serializers.ValidationError(
                f"There is no such class. Answer {dataset.negative_class!r} or {dataset.positive_class!r}."
            )
        return int(dataset.label_of(value))


def image_address(participant: Participant, example: Example) -> str:
    return reverse("image", args=[participant.token, example.key])


def describe_image(participant: Participant, example: Example) -> Json:
    return {"url": image_address(participant, example), "alt": "Image to classify"}


def picture_of(example: Example) -> Picture:
    return Picture(example.image_path.read_bytes(), "image/jpeg")
