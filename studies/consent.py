"""The first stage: the researcher's consent text."""

from typing import Any

from django.utils import timezone
from rest_framework import serializers

from .models import Participant
from .stages import Current, Json, Recorded, Stage, Taken


class ConsentAnswer(serializers.Serializer[Any]):
    agree = serializers.BooleanField()


class ConsentStage(Stage):
    """The participant's own row is the task: it is written before the text is shown."""

    name = Participant.Stage.CONSENT
    title = "Consent"
    is_counted = False
    answer_serializer = ConsentAnswer

    def begin(self, participant: Participant) -> None:
        participant.position = 1

    def total(self, participant: Participant) -> int:
        return 1

    def current(self, participant: Participant) -> Current:
        task = {
            "kind": "consent",
            "position": participant.position,
            "text": participant.study_as_joined.consent,
        }
        return Current(task, done=0)

    def record(self, participant: Participant, answer: Json, plan: Any) -> Taken:
        if answer["agree"]:
            participant.consented_at = timezone.now()
        else:
            participant.stage = Participant.Stage.DECLINED
            participant.finished_at = timezone.now()
        return Taken(feedback=None, is_last=True)

    def recorded(self, participant: Participant, position: int) -> Recorded | None:
        if position != 1:
            return None
        return Recorded({"agree": participant.consented_at is not None}, feedback=None)
