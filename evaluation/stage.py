"""Module 3: images without feedback, and what came of the teaching."""

from collections.abc import Collection
from functools import lru_cache
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from django.core.exceptions import ObjectDoesNotExist
from django.db.models import Count
from django.utils import timezone

from studies import database
from studies.images import SMALLEST
from studies.models import Dataset, Example, Participant, Study
from studies.stages import Json, LabelStage, Picture, describe_image, example_url, find_picture
from studies.summary import evaluation_seconds
from teaching.models import TeachingStep
from teaching.stage import TeachingStage, save_feedback_ms

from . import metrics
from .models import EvaluationItem


class Drawn(NamedTuple):
    """An image of a participant's test, by its id, and in an attention check the class that is asked for."""

    example: int
    instructed_label: int | None = None


class EvaluationStage(LabelStage):
    name = Participant.Stage.EVALUATION
    title = "Test"
    label = Participant.Stage.EVALUATION.label
    task_model = EvaluationItem
    began_column = "evaluation_started_at"
    preview = "The first evaluation image."
    script = "js/worker/evaluation.js"

    def get_task(self, participant: Participant, position: int) -> EvaluationItem:
        """An item with the two that follow it: the next task, and the image that its page loads ahead."""
        tasks: list[EvaluationItem] = self.get_tasks(participant, position, position + 2)
        item, *following = tasks
        if item.position != position:
            raise EvaluationItem.DoesNotExist
        item.following = following
        return item

    def next_task(self, participant: Participant, answered: EvaluationItem) -> Any:
        if not answered.following:
            return None
        item, *following = answered.following
        item.following = following
        return item

    def results(self, participant: Participant, answered: EvaluationItem) -> Json:
        """The accuracies, what follows from them, and the teaching gain."""
        steps = list(
            TeachingStep.objects.of(participant).values_list(
                "example_id", "is_correct", "is_first_showing"
            )
        )
        first_seen = [bool(is_correct) for _, is_correct, is_first in steps if is_first]
        items = EvaluationItem.objects.of(participant).counted().exclude(pk=answered.pk)
        answers = list(items.values_list("example__label", "answer"))
        if not answered.is_check:
            answers.append((answered.example.label, answered.answer))
        given = [(label, answer) for label, answer in answers if answer is not None]
        classes = len(participant.study_as_joined.dataset.class_names)
        accuracy = metrics.accuracy([answer == label for label, answer in given])
        first_seen_accuracy = metrics.accuracy(first_seen)
        return {
            "unique_examples": len({example for example, *_ in steps}),
            "first_seen_accuracy": first_seen_accuracy,
            "evaluation_accuracy": accuracy,
            "evaluation_macro_recall": metrics.macro_recall(metrics.confusion(given, classes)),
            "evaluation_kappa": metrics.kappa(accuracy, classes),
            "teaching_gain": metrics.teaching_gain(accuracy, first_seen_accuracy),
        }

    def save_answer(self, participant: Participant, task: EvaluationItem, answer: Json) -> None:
        super().save_answer(participant, task, answer)
        if task.item == 1:
            save_feedback_ms(participant, task.position - 1, answer)

    def begin(self, participant: Participant) -> Json:
        drawn = with_checks(participant, draw_images(participant))
        numbers = zip(count(participant.position), count(1), drawn, strict=False)
        EvaluationItem.objects.bulk_create(
            EvaluationItem(
                participant_id=participant.pk,
                position=position,
                item=item,
                example_id=image.example,
                instructed_label=image.instructed_label,
            )
            for position, item, image in numbers
        )
        return {"evaluation_started_at": timezone.now()}

    def describe(
        self, participant: Participant, task: EvaluationItem, feedback: Json | None
    ) -> Json:
        """The image without its label, and the URL of the next image, which the page loads ahead."""
        label, names = task.instructed_label, participant.study_as_joined.dataset.class_names
        if task.item == 1:
            feedback = feedback or last_teaching_feedback(participant, task.position - 1)
        return {
            "item": task.item,
            "items": length(participant.study_as_joined),
            "image": describe_image(participant, task.example),
            "instruction": None if label is None else names[label],
            "prefetch": [example_url(participant, item.example) for item in task.following[:1]],
            "last_feedback": feedback if task.item == 1 else None,
        }

    def check_settings(self, study: Study) -> dict[str, str]:
        return size_problems(study) or check_problems(study)

    def lengths(self, study: Study) -> Collection[int]:
        return (length(study),)

    def seconds(self, study: Study, units: float) -> float:
        return evaluation_seconds(units)

    def picture(self, participant: Participant, key: str, side: int = SMALLEST) -> Picture | None:
        """Images up to the next one, which the page loads ahead; the rest stay unseen."""
        shown = database.image_keys(EvaluationItem, participant.pk, participant.position + 1)
        return find_picture(participant, shown, key, side)


def last_teaching_feedback(participant: Participant, position: int) -> Json | None:
    """The feedback to the last teaching step, for a page that was reloaded while it showed it."""
    teaching = TeachingStage()
    try:
        return teaching.feedback(participant, teaching.get_task(participant, position))
    except ObjectDoesNotExist:
        # A preview may begin with the evaluation.
        return None


def length(study: Study) -> int:
    """How many images a worker sees: those of the test, and the attention checks among them."""
    return study.evaluation_size + study.attention_checks


def size_problems(study: Study) -> dict[str, str]:
    names = study.dataset.class_names
    needed, rest = divmod(study.evaluation_size, len(names))
    if rest:
        return {"evaluation_size": uneven(study.evaluation_size, len(names))}
    images = study.dataset.examples.filter(split=Example.Split.EVALUATION).order_by()
    available = dict(images.values_list("label").annotate(Count("pk")))
    fewest = min(range(len(names)), key=lambda label: available.get(label, 0))
    if (least := available.get(fewest, 0)) >= needed:
        return {}
    return {
        "evaluation_size": f"{study.dataset} has {least} evaluation images of “{names[fewest]}”, and {needed} are "
        f"needed. Choose at most {len(names) * least} or a larger data set."
    }


def uneven(size: int, classes: int) -> str:
    """What is wrong with a size that the number of classes does not divide, and the nearest that are right."""
    below = size - size % classes
    nearest = f"{below} or {below + classes}" if below else str(classes)
    if classes == 2:
        return f"Choose an even number, such as {nearest}: half of the images come from each class."
    return f"Choose {nearest}: each of the {classes} classes has the same number of images."


def check_problems(study: Study) -> dict[str, str]:
    spare = study.dataset.examples.count() - study.evaluation_size
    if study.attention_checks <= spare:
        return {}
    return {
        "attention_checks": f"{study.dataset} has {spare} images beside those of the evaluation. "
        f"Choose at most {spare}, or a smaller evaluation."
    }


def draw_images(participant: Participant) -> list[int]:
    """The evaluation images of one worker: equally many of each class, in a different order for each."""
    study = participant.study_as_joined
    rng = participant.generator("evaluation", 0)
    by_class = images_by_class(study.dataset.pk, study.dataset.key)
    each = study.evaluation_size // len(by_class)
    drawn = [rng.choice(images, size=each, replace=False) for images in by_class]
    return [int(example) for example in rng.permutation(np.concatenate(drawn))]


@lru_cache(maxsize=64)
def images_by_class(dataset_id: int, key: str) -> list[list[int]]:
    """The evaluation images of each class, class 0 first. They never change; the key is here because a data set may be
    made again under the same number."""
    dataset = Dataset.objects.get(pk=dataset_id, key=key)
    images = dataset.examples.filter(split=Example.Split.EVALUATION).order_by("pk")
    found: list[list[int]] = [[] for _ in dataset.class_names]
    for example, label in images.values_list("pk", "label"):
        found[label].append(example)
    return found


def with_checks(participant: Participant, drawn: list[int]) -> list[Drawn]:
    """The images of the test in their order, and attention checks between them. The draw of the images does not
    depend on the checks; the first image is never one."""
    items = [Drawn(example) for example in drawn]
    checks = participant.study_as_joined.attention_checks
    if not checks:
        return items
    rng = participant.generator("attention", 0)
    places = sorted(rng.choice(np.arange(1, len(drawn) + checks), size=checks, replace=False))
    for place, check in zip(places, draw_checks(participant, drawn, rng), strict=True):
        items.insert(place, check)
    return items


def draw_checks(
    participant: Participant, drawn: list[int], rng: np.random.Generator
) -> list[Drawn]:
    """Images that the test leaves, and the class to choose for each. It is drawn independently of the image, because
    an instruction that followed from the true class would reveal it."""
    study = participant.study_as_joined
    checks, classes = study.attention_checks, len(study.dataset.class_names)
    labels = rng.permutation(np.tile(np.arange(classes), -(-checks // classes)))[:checks]
    return [
        Drawn(example, int(label))
        for example, label in zip(spare_images(participant, drawn, rng), labels, strict=True)
    ]


def spare_images(participant: Participant, drawn: list[int], rng: np.random.Generator) -> list[int]:
    """Of the evaluation set as long as it lasts, then of the teaching pool."""
    study = participant.study_as_joined
    chosen: list[int] = []
    for split in (Example.Split.EVALUATION, Example.Split.TEACHING):
        rows = study.dataset.examples.filter(split=split).exclude(pk__in=drawn).order_by("pk")
        left = list(rows.values_list("pk", flat=True))
        chosen += (int(example) for example in rng.permutation(left))
        if len(chosen) >= study.attention_checks:
            break
    return chosen[: study.attention_checks]
