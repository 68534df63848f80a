"""A quiz: everything that a stage needs, in one file."""

from typing import Any

from django.db import models
from rest_framework import serializers

from studies.models import Participant, Task
from studies.stages import RESPONSE_MS, Current, Json, Recorded, SimulatedPerson, Stage, Taken, Told

QUESTIONS = ("How old is the universe?", "How many legs has a spider?")


class Question(Task):
    number = models.PositiveSmallIntegerField()
    reply = models.CharField(max_length=60, blank=True)

    CHAINED = (*Task.CHAINED, "number", "reply")

    class Meta(Task.Meta):
        pass


class QuizStage(Stage):
    name = "quiz"
    title = "Questions"
    label = "general quiz"
    unit = "question"
    tasks = Question
    answer_fields = {"reply": serializers.CharField(max_length=60), "response_ms": RESPONSE_MS}
    preview = "The first question of the quiz."
    script = "js/worker/quiz.js"

    def begin(self, participant: Participant) -> None:
        Question.objects.create(participant=participant, position=participant.position, number=1)

    def total(self, participant: Participant) -> int:
        return len(QUESTIONS)

    def current(self, participant: Participant) -> Current:
        this = Question.objects.get(participant=participant, position=participant.position)
        text = QUESTIONS[this.number - 1]
        task = {"kind": self.name, "position": this.position, "text": text}
        return Current(task, done=this.number - 1)

    def plan(self, participant: Participant, answer: Json) -> Question:
        this = Question.objects.get(participant=participant, position=participant.position)
        this.reply = answer["reply"]
        this.mark_answered(answer["response_ms"])
        return this

    def record(self, participant: Participant, answer: Json, plan: Question) -> Taken:
        plan.save()
        is_last = plan.number == len(QUESTIONS)
        if not is_last:
            following: dict[str, Any] = {"position": plan.position + 1, "number": plan.number + 1}
            Question.objects.create(participant=participant, **following)
        return Taken(is_last)

    def tell(self, participant: Participant, plan: Question) -> Told:
        return Told({"kind": self.name})

    def recorded(self, participant: Participant, position: int) -> Recorded | None:
        answered = Question.objects.filter(answered_at__isnull=False)
        this = answered.filter(participant=participant, position=position).first()
        return Recorded({"reply": this.reply}, {"kind": self.name}) if this else None

    def simulated_answer(self, task: Json, person: SimulatedPerson) -> Json:
        person.wait(1200)
        return {"reply": "eight", "response_ms": 1200.0}
