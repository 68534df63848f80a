"""A quiz: everything that a stage needs, in one file."""

from typing import Any

from django.db import models
from rest_framework import serializers

from rehearsal.bots import ANSWERS
from studies.models import Participant, Study, Task
from studies.stages import AnswerSerializer, Json, Stage

QUESTIONS = ("How old is the universe?", "How many legs has a spider?")


class Question(Task):
    number = models.PositiveSmallIntegerField()
    reply = models.CharField(max_length=60, blank=True)

    CHAINED = (*Task.CHAINED, "number", "reply")

    class Meta(Task.Meta):
        pass

    def set_answer(self, answer: Json) -> None:
        super().set_answer(answer)
        self.reply = answer["reply"]

    def has_answer(self, answer: Json) -> bool:
        return self.reply == answer["reply"]

    @property
    def units_done(self) -> int:
        return self.number - 1


class QuizAnswer(AnswerSerializer):
    reply = serializers.CharField(max_length=60)


class QuizStage(Stage):
    name = "quiz"
    title = "Questions"
    label = "general quiz"
    unit = "question"
    task_model = Question
    answer = QuizAnswer
    preview = "The first question of the quiz."
    script = "js/worker/quiz.js"

    def next_task(self, participant: Participant, answered: Question) -> Question | None:
        if answered.number == len(QUESTIONS):
            return None
        return Question(
            participant=participant, position=answered.position + 1, number=answered.number + 1
        )

    def begin(self, participant: Participant) -> Json:
        Question.objects.create(participant=participant, position=participant.position, number=1)
        return {}

    def feedback(self, participant: Participant, task: Question) -> Json:
        return {"kind": self.name}

    def describe(self, participant: Participant, task: Question, feedback: Json | None) -> Json:
        return {"text": QUESTIONS[task.number - 1]}

    def lengths(self, study: Study) -> tuple[int]:
        return (len(QUESTIONS),)


def answer_question(bot: Any, task: Json) -> Json:
    bot.wait(1200)
    return {"reply": "eight", "response_ms": 1200.0}


ANSWERS[QuizStage.name] = answer_question
