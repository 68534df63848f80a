"""Module 3: images without feedback, and what came of the teaching."""

from django.utils import timezone

from studies.labels import LabelAnswer, describe_image, find_picture, image_address
from studies.models import Example, Participant, Study
from studies.seeds import generator
from studies.stages import Current, Json, Picture, Recorded, Stage, Taken
from teaching.models import TeachingStep
from teaching.stage import feedback

from . import metrics
from .models import EvaluationItem


class EvaluationStage(Stage):
    name = Participant.Stage.EVALUATION
    title = "Test"
    answer_serializer = LabelAnswer

    def problems_of(self, study: Study) -> dict[str, str]:
        if study.evaluation_size % 2:
            return {
                "evaluation_size": "Choose an even number: half of the images come from each class."
            }
        needed = study.evaluation_size // 2
        for label in (-1, 1):
            available = study.dataset.examples.filter(
                split=Example.Split.EVALUATION, label=label
            ).count()
            if available < needed:
                return {
                    "evaluation_size": f"{study.dataset} has {available} evaluation images of "
                    f"“{study.dataset.class_name(label)}”, and {needed} are needed. "
                    f"Choose at most {2 * available} or a larger data set."
                }
        return {}

    def begin(self, participant: Participant) -> None:
        participant.evaluation_started_at = timezone.now()
        EvaluationItem.objects.bulk_create(
            EvaluationItem(
                participant=participant,
                position=participant.position + place,
                item=place + 1,
                example_id=example_id,
            )
            for place, example_id in enumerate(draw_images(participant))
        )

    def total(self, participant: Participant) -> int:
        return participant.settings.evaluation_size

    def current(self, participant: Participant) -> Current:
        here = participant.position
        this, *after = EvaluationItem.objects.of(participant).filter(position__in=(here, here + 1))
        task = {
            "kind": "evaluation",
            "position": this.position,
            "item": this.item,
            "items": participant.settings.evaluation_size,
            "image": describe_image(participant, this.example),
            "prefetch": [image_address(participant, item.example) for item in after],
            "last_feedback": last_feedback(participant) if this.item == 1 else None,
        }
        return Current(task, done=this.item - 1)

    def plan(self, participant: Participant, answer: Json) -> EvaluationItem:
        this = EvaluationItem.objects.of(participant).get(position=participant.position)
        this.take_answer(answer["label"], answer["response_ms"])
        return this

    def record(self, participant: Participant, answer: Json, plan: EvaluationItem) -> Taken:
        plan.save(update_fields=EvaluationItem.ANSWER_FIELDS)
        return Taken(feedback=None, is_last=plan.item == participant.settings.evaluation_size)

    def recorded(self, participant: Participant, position: int) -> Recorded | None:
        this = (
            EvaluationItem.objects.of(participant)
            .filter(position=position, answered_at__isnull=False)
            .first()
        )
        return Recorded({"label": this.answer}, feedback=None) if this else None

    def finish(self, participant: Participant) -> None:
        """Leaves the accuracies and the teaching gain on the participant's row."""
        steps = TeachingStep.objects.of(participant).values_list("example_id", "is_correct")
        showings = [(example, bool(is_right)) for example, is_right in steps]
        items = EvaluationItem.objects.of(participant).values_list("is_correct", flat=True)
        participant.unique_examples = len({example for example, _ in showings})
        participant.first_seen_accuracy = metrics.accuracy(metrics.first_seen(showings))
        participant.evaluation_accuracy = metrics.accuracy([bool(is_right) for is_right in items])
        participant.teaching_gain = metrics.teaching_gain(
            participant.evaluation_accuracy, participant.first_seen_accuracy
        )

    def picture(self, participant: Participant, key: str) -> Picture | None:
        """Images up to the next one, which the page fetches ahead; the rest stay unseen."""
        within_reach = EvaluationItem.objects.of(participant).filter(
            position__lte=participant.position + 1
        )
        return find_picture(participant, within_reach, key)


def last_feedback(participant: Participant) -> Json | None:
    """The feedback of the last teaching step, for a page that was reloaded while it showed."""
    last = TeachingStep.objects.of(participant).last()
    return feedback(participant, last) if last else None


def draw_images(participant: Participant) -> list[int]:
    """The evaluation images of one worker: half of each class, in an order of its own."""
    study = participant.settings
    rng = generator(participant, "evaluation", 0)
    half = study.evaluation_size // 2
    drawn: list[int] = []
    for label in (-1, 1):
        rows = study.dataset.examples.filter(split=Example.Split.EVALUATION, label=label).order_by(
            "pk"
        )
        drawn.extend(rng.choice(list(rows.values_list("pk", flat=True)), size=half, replace=False))
    return [int(example) for example in rng.permutation(drawn)]
