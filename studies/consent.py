"""The first stage: the researcher's consent text."""

from typing import Any

from django.utils import timezone
from rest_framework import serializers

from .models import Participant
from .stages import Current, Json, Recorded, SimulatedPerson, Stage, Taken

# What a simulated worker takes to read the text.
READING_MS = 4000


class ConsentStage(Stage):
    """The participant's own row is the task: it is written before the text is shown."""

    name = Participant.Stage.CONSENT
    title = "Consent"
    label = Participant.Stage.CONSENT.label
    is_counted = False
    answer_fields = {"agree": serializers.BooleanField(help_text="consent")}
    columns = ("consented_at",)
    began_column = "created_at"
    ended_column = "consented_at"
    passed_label = "agreed"
    preview = "Your consent text, then everything that follows."
    script = "js/worker/consent.js"

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
        if not answer["agree"]:
            return Taken(is_last=True, ends_as=Participant.Stage.DECLINED)
        participant.consented_at = timezone.now()
        return Taken(is_last=True)

    def recorded(self, participant: Participant, position: int) -> Recorded | None:
        if position != 1:
            return None
        return Recorded({"agree": participant.consented_at is not None}, feedback=None)

    def skip(self, participant: Participant) -> None:
        participant.position, participant.consented_at = 2, timezone.now()

    def simulated_answer(self, task: Json, person: SimulatedPerson) -> Json:
        person.wait(READING_MS)
        return {"agree": True}
