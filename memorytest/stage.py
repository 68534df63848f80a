"""Module 1: three trials of restoring the order of pictures, and the β that follows from them."""

from collections.abc import Collection
from itertools import chain
from typing import Any

from django.db.models import Max
from django.db.models.functions import Greatest
from rest_framework import serializers

from studies import summary
from studies.database import Conflict
from studies.errors import InvalidAnswer, NotShown
from studies.images import SMALLEST
from studies.models import BetaMapping, Participant, Study
from studies.stages import AnswerSerializer, Json, Milliseconds, Picture, Stage, image_url

from . import pictograms, scoring
from .decay import measure
from .models import PRACTICE, MemoryRound


class MemoryAnswer(AnswerSerializer):
    order = serializers.ListField(
        child=serializers.CharField(max_length=60), max_length=20, help_text="memory: image ids"
    )
    shown_ms = Milliseconds(
        required=False, help_text="memory: how long the images were really shown"
    )


class MemoryStage(Stage):
    name = Participant.Stage.MEMORY
    title = "Memory"
    label = Participant.Stage.MEMORY.label
    unit = "trial"
    units_done = Greatest(Max("trial") - 1, 0)
    task_model = MemoryRound
    answer = MemoryAnswer
    preview = "The device check, the introduction and the first round."
    script = "js/worker/memory.js"

    def validate(self, participant: Participant, task: MemoryRound, payload: Any) -> Json:
        answer = super().validate(participant, task, payload)
        if task.exposed_at is None:
            raise NotShown
        if not task.is_answered and sorted(answer["order"]) != sorted(task.pictures):
            problem = "Name each of this round's images exactly once."
            raise InvalidAnswer(fields={"order": [problem]})
        return answer

    def next_task(self, participant: Participant, answered: MemoryRound) -> MemoryRound | None:
        study, position = participant.study_as_joined, answered.position + 1
        if answered.is_practice:
            return new_round(participant, position, 1, study.memory_min_length)
        if not answered.ends_trial(study.memory_max_length):
            return new_round(participant, position, answered.trial, answered.length + 1)
        if answered.trial < study.memory_trials:
            return new_round(participant, position, answered.trial + 1, study.memory_min_length)
        return None

    def results(self, participant: Participant, answered: MemoryRound) -> Json:
        study = participant.study_as_joined
        played = MemoryRound.objects.counted().filter(participant=participant.pk)
        stored = played.exclude(pk=answered.pk).values_list("trial", "length", "is_correct")
        rounds = [
            *stored.order_by("position"),
            (answered.trial, answered.length, answered.is_correct),
        ]
        lengths = [
            scoring.memory_length(
                [(n, bool(right)) for t, n, right in rounds if t == trial], study.memory_min_length
            )
            for trial in range(1, study.memory_trials + 1)
        ]
        return measure(participant, lengths)

    def save_answer(self, participant: Participant, task: MemoryRound, answer: Json) -> None:
        """The report on a display decides how long the pictures were shown. If it arrived after the round was read, the
        answer is taken again."""
        unchanged = MemoryRound.objects.filter(
            pk=task.pk, answered_at=None, reported_at=task.reported_at
        )
        if not unchanged.update(**{name: getattr(task, name) for name in task.ANSWER_FIELDS}):
            raise Conflict

    def begin(self, participant: Participant) -> Json:
        study = participant.study_as_joined
        trial = PRACTICE if study.memory_practice else 1
        first = new_round(participant, participant.position, trial, study.memory_min_length)
        first.save(force_insert=True)
        return {}

    def feedback(self, participant: Participant, task: MemoryRound) -> Json:
        return task.feedback()

    def describe(self, participant: Participant, task: MemoryRound, feedback: Json | None) -> Json:
        """The round as the browser may see it: never in the true order."""
        study = participant.study_as_joined
        return {
            "phase": "recall" if task.exposed_at else "ready",
            "is_reported": task.reported_at is not None,
            "trial": task.trial,
            "trials": study.memory_trials,
            "is_practice": task.is_practice,
            "length": task.length,
            "longest": study.memory_max_length,
            "exposure_ms": task.exposure_ms,
            "images": [
                {
                    "id": name,
                    "url": image_url(participant, name),
                    "alt": name.replace("-", " "),
                }
                for name in task.shuffled
            ],
        }

    def check_settings(self, study: Study) -> dict[str, str]:
        return decay_problems(study) | length_problems(study)

    def lengths(self, study: Study) -> Collection[int]:
        return (study.memory_trials,)

    def seconds(self, study: Study, units: float) -> float:
        return summary.memory_seconds(study)

    def picture(self, participant: Participant, key: str, side: int = SMALLEST) -> Picture | None:
        if key not in pictograms.NAMES:
            return None
        rounds = MemoryRound.objects.filter(participant=participant.pk)
        if not any(key in pictures for pictures in rounds.values_list("pictures", flat=True)):
            return None
        return Picture(pictograms.svg(key), "image/svg+xml")


def length_problems(study: Study) -> dict[str, str]:
    if study.memory_max_length < study.memory_min_length:
        return {"memory_max_length": "The last round cannot have fewer images than the first."}
    needed = sum(range(study.memory_min_length, study.memory_max_length + 1))
    if needed > len(pictograms.NAMES):
        return {
            "memory_max_length": f"A trial of {study.memory_min_length} to {study.memory_max_length} images needs "
            f"{needed} different pictures, and there are {len(pictograms.NAMES)}. Choose a smaller number."
        }
    return {}


def decay_problems(study: Study) -> dict[str, str]:
    beta = study.fixed_beta
    if study.beta_mapping != BetaMapping.FIXED:
        unused = "Only a fixed memory decay has it. Leave it empty, or choose “fixed” above."
        return {} if beta is None else {"fixed_beta": unused}
    if beta is None:
        return {"fixed_beta": "Give the β that every worker gets, from 0 to less than 1."}
    if not 0 <= beta < 1:
        return {"fixed_beta": "β is at least 0 and less than 1: with 1 nothing would ever fade."}
    return {}


def new_round(
    participant: Participant, position: int, trial: int, length: int, repeats: int | None = None
) -> MemoryRound:
    """A round, not yet stored: pictures that did not come in its trial yet, and the order in which they come back."""
    rng = participant.generator("memory", position)
    fresh = fresh_pictures(participant, trial, length)
    pictures = [str(name) for name in rng.choice(fresh, size=length, replace=False)]
    study = participant.study_as_joined
    return MemoryRound(
        participant=participant,
        position=position,
        trial=trial,
        length=length,
        pictures=pictures,
        # Any order may come back, the right one too: leaving it out would give hints for small n.
        shuffled=[str(name) for name in rng.permutation(pictures)],
        exposure_ms=round(1000 * (length + study.memory_extra_seconds)),
        repeats=repeats,
    )


def fresh_pictures(participant: Participant, trial: int, length: int) -> list[str]:
    """The pictures that did not come in this trial. If many rounds were played again and used them up, those that came
    longest ago come again."""
    played = MemoryRound.objects.filter(participant=participant.pk, trial=trial)
    rounds = list(played.order_by("position").values_list("pictures", flat=True))
    for first in range(len(rounds) + 1):
        used = set(chain.from_iterable(rounds[first:]))
        fresh = [name for name in pictograms.NAMES if name not in used]
        if len(fresh) >= length:
            break
    return fresh
