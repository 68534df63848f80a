"""Module 3: images without feedback, and what came of the teaching."""

from contextlib import suppress
from functools import lru_cache
from itertools import count
from typing import NamedTuple

import numpy as np
from django.db.models import Count
from django.utils import timezone

from studies import rows, sessions
from studies.image_sides import SMALLEST
from studies.labels import LabelStage, describe_image, find_picture, image_address
from studies.models import Dataset, Example, Participant, Study
from studies.seeds import generator
from studies.stages import Current, Json, Picture, Recorded, SimulatedPerson, Taken, Told
from studies.summary import TYPICAL_ACCURACY, counted, evaluation_seconds
from teaching.models import TeachingStep
from teaching.stage import feedback

from . import metrics
from .models import EvaluationItem

Items = list[EvaluationItem]


class Drawn(NamedTuple):
    """An image of a worker's test, by its number, and in an attention check the class that is asked for."""

    example: int
    instructed_label: int | None = None


class EvaluationStage(LabelStage):
    name = Participant.Stage.EVALUATION
    title = "Test"
    label = Participant.Stage.EVALUATION.label
    tasks = EvaluationItem
    columns = (
        "evaluation_started_at", "unique_examples", "first_seen_accuracy", "evaluation_accuracy",
        "evaluation_macro_recall", "evaluation_kappa", "teaching_gain",
    )  # fmt: skip
    began_column = "evaluation_started_at"
    preview = "The first evaluation image."
    script = "js/worker/evaluation.js"

    def problems_of(self, study: Study) -> dict[str, str]:
        return size_problems(study) or check_problems(study)

    def begin(self, participant: Participant) -> None:
        participant.evaluation_started_at = timezone.now()
        drawn = with_checks(participant, draw_images(participant))
        names = ("position", "item", "example", "instructed_label")
        items = zip(count(participant.position), count(1), *zip(*drawn, strict=True), strict=False)
        rows.insert_alike(EvaluationItem(participant=participant), names, items)

    def total(self, participant: Participant) -> int:
        return length(participant.study_as_joined)

    def expected_seconds(self, participant: Participant) -> float:
        return evaluation_seconds(self.total(participant))

    def in_numbers(self, study: Study) -> str:
        return counted(length(study), "picture")

    def current(self, participant: Participant) -> Current:
        here = participant.position
        this, *after = sessions.tasks(EvaluationItem, participant, here, here + 1)
        return self.describe(participant, this, after)

    def describe(self, participant: Participant, this: EvaluationItem, after: Items) -> Current:
        """An item as the browser may see it, and the address of the next one's image."""
        task = {
            "kind": "evaluation",
            "position": this.position,
            "item": this.item,
            "items": self.total(participant),
            "image": describe_image(participant, this.example),
            "instruction": instruction(participant, this),
            "prefetch": [image_address(participant, item.example) for item in after[:1]],
            "last_feedback": feedback_before(participant, this) if this.item == 1 else None,
        }
        return Current(task, done=this.item - 1)

    def plan(self, participant: Participant, answer: Json) -> Items:
        """The item that is answered, and the two that follow it."""
        here = participant.position
        this, *after = sessions.tasks(EvaluationItem, participant, here, here + 2)
        this.take_answer(answer["label"], answer["response_ms"])
        return [this, *after]

    def answered(self, plan: Items) -> EvaluationItem:
        return plan[0]

    def record(self, participant: Participant, answer: Json, plan: Items) -> Taken:
        this, *after = plan
        rows.save(this, EvaluationItem.ANSWER_FIELDS)
        if this.item == 1:
            looked_ms = answer.get("feedback_ms")
            TeachingStep.objects.note_look(participant, this.position - 1, looked_ms)
        return Taken(is_last=not after)

    def tell(self, participant: Participant, plan: Items) -> Told:
        _, *after = plan
        return Told(current=self.describe(participant, after[0], after[1:]) if after else None)

    def recorded(self, participant: Participant, position: int) -> Recorded | None:
        this = EvaluationItem.objects.of(participant).answered(position)
        return Recorded({"label": this.answer}, feedback=None) if this else None

    def finish(self, participant: Participant) -> None:
        """Leaves the accuracies, what follows from them, and the teaching gain on the participant's row."""
        fields = ("example_id", "is_correct", "is_first_showing")
        steps = list(TeachingStep.objects.of(participant).values_list(*fields))
        first_seen = [bool(is_right) for _, is_right, is_first in steps if is_first]
        rows = (
            EvaluationItem.objects.of(participant).counted().values_list("example__label", "answer")
        )
        answers = [(true, said) for true, said in rows if said is not None]
        classes = len(participant.study_as_joined.dataset.class_names)
        participant.unique_examples = len({example for example, *_ in steps})
        participant.first_seen_accuracy = metrics.accuracy(first_seen)
        participant.evaluation_accuracy = metrics.accuracy([said == true for true, said in answers])
        participant.evaluation_macro_recall = metrics.macro_recall(
            metrics.confusion(answers, classes)
        )
        participant.evaluation_kappa = metrics.kappa(participant.evaluation_accuracy, classes)
        participant.teaching_gain = metrics.teaching_gain(
            participant.evaluation_accuracy, participant.first_seen_accuracy
        )

    def skip(self, participant: Participant) -> None:
        participant.evaluation_started_at = timezone.now()
        participant.evaluation_accuracy = TYPICAL_ACCURACY

    def picture(self, participant: Participant, key: str, side: int = SMALLEST) -> Picture | None:
        """Images up to the next one, which the page fetches ahead; the rest stay unseen."""
        within_reach = sessions.image_keys(EvaluationItem, participant, participant.position + 1)
        return find_picture(participant, within_reach, key, side)

    def simulated_answer(self, task: Json, person: SimulatedPerson) -> Json:
        """Whoever is told what to answer does as told."""
        answer = super().simulated_answer(task, person)
        return answer | ({"label": task["instruction"]} if task["instruction"] else {})


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


def instruction(participant: Participant, item: EvaluationItem) -> str | None:
    """The class that an attention check asks for, by its name."""
    label = item.instructed_label
    return None if label is None else participant.study_as_joined.dataset.class_name(label)


def feedback_before(participant: Participant, item: EvaluationItem) -> Json | None:
    """That of the last teaching step, for a page that was reloaded while it showed."""
    last = item.position - 1
    # A preview may begin here.
    with suppress(TeachingStep.DoesNotExist):
        [step] = sessions.tasks(TeachingStep, participant, last, last)
        return feedback(participant, step)
    return None


def draw_images(participant: Participant) -> list[int]:
    """The evaluation images of one worker: equally many of each class, in a different order for each."""
    study = participant.study_as_joined
    rng = generator(participant, "evaluation", 0)
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
    rng = generator(participant, "attention", 0)
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
