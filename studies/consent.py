"""The first stage: the researcher's consent text."""

from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from django.utils import timezone
from rest_framework import serializers

from .models import Participant, Study
from .stages import AnswerSerializer, Json, Stage

POSITION = 1


class ConsentAnswer(AnswerSerializer):
    agree = serializers.BooleanField(help_text="consent")


@dataclass
class ConsentTask:
    """The participant's own row is the task: it is stored before the text is shown."""

    position: int
    agrees: bool
    is_answered: bool
    units_done: int = 0
    part_done: float = 0.0

    def set_answer(self, answer: Json) -> None:
        self.agrees = answer["agree"]

    def has_answer(self, answer: Json) -> bool:
        return bool(self.agrees == answer["agree"])


class ConsentStage(Stage):
    name = Participant.Stage.CONSENT
    title = "Consent"
    label = Participant.Stage.CONSENT.label
    is_counted = False
    answer = ConsentAnswer
    began_column = "created_at"
    ended_column = "consented_at"
    passed_label = "agreed"
    preview = "Your consent text, then everything that follows."
    script = "js/worker/consent.js"

    def get_task(self, participant: Participant, position: int) -> ConsentTask:
        if position != POSITION:
            raise ObjectDoesNotExist
        is_answered = participant.stage != self.name
        return ConsentTask(position, participant.consented_at is not None, is_answered)

    def next_task(self, participant: Participant, answered: ConsentTask) -> None:
        return None

    def results(self, participant: Participant, answered: ConsentTask) -> Json:
        if not answered.agrees:
            return {"stage": Participant.Stage.DECLINED}
        return {"consented_at": timezone.now()}

    def save_answer(self, participant: Participant, task: ConsentTask, answer: Json) -> None:
        """The results of the stage are all there is to store."""

    def begin(self, participant: Participant) -> Json:
        return {}

    def describe(self, participant: Participant, task: Any, feedback: Json | None) -> Json:
        return {"text": participant.study_as_joined.consent}

    def lengths(self, study: Study) -> tuple[int]:
        return (1,)
