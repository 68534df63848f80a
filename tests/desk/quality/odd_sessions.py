"""Sessions as rows, with everything in them that a quality flag can find."""

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from evaluation.models import EvaluationItem
from memorytest.models import MemoryRound
from studies.models import Example, Participant, SessionEvent, Study, StudyVersion
from teaching.models import TeachingStep


def add(study: Study, **fields: Any) -> Participant:
    made = {
        "stage": "done",
        "arm": "rt",
        "evaluation_accuracy": 0.8,
        "consented_at": timezone.now(),
    }
    return Participant.objects.create(
        study=study, version=StudyVersion.freeze(study), **(made | fields)
    )


START = timezone.now() - timedelta(hours=1)


def at(seconds: float, took: float = 1) -> dict[str, datetime]:
    """When a task was answered, and when it was handed out."""
    answered = START + timedelta(seconds=seconds)
    return {"created_at": answered - timedelta(seconds=took), "answered_at": answered}


def take_part(person: Participant) -> None:
    """One practice round and two others, two steps, 40 images with one key, and a check that is failed."""
    pool, *rest = (
        list(Example.objects.filter(dataset=person.study.dataset, split=split).order_by("pk"))
        for split in ("teaching", "evaluation")
    )
    (unseen,) = rest
    for place, (trial, shown) in enumerate([(0, 9999.0), (1, 3001.0), (2, 4600.0)]):
        MemoryRound.objects.create(
            participant=person, position=2 + place, trial=trial, length=2, pictures=[], shuffled=[],
            exposure_ms=3000, shown_ms=shown, exposed_at=START + timedelta(seconds=place - 12), **at(place, 20),
        )  # fmt: skip
    for place in range(2):
        TeachingStep.objects.create(
            participant=person, position=5 + place, step=1 + place, example=pool[place], answer=1,
            is_correct=True, response_ms=None if place else 250.0, probabilities=[0.5, 0.5], p=0.5, f=0.5,
            learning_rate=0.1,
            choice_ms=1, is_random=True, is_first_showing=True, **at(10 + 400 * place),
        )  # fmt: skip
    for place in range(41):
        check = {"instructed_label": 0, "is_correct": None} if place == 20 else {"is_correct": True}
        EvaluationItem.objects.create(
            participant=person, position=7 + place, item=1 + place, example=unseen[place], answer=1,
            response_ms=500.0 + place, **check, **at(500 + place),
        )  # fmt: skip
    for kind, second in (("opened", 0), ("hidden", 100), ("shown", 160), ("hidden", 900)):
        SessionEvent.objects.create(
            participant=person, kind=kind, position=5, at=START + timedelta(seconds=second)
        )
