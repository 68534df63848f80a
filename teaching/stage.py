"""Module 2: the teacher picks an image, the participant answers, the true label is shown."""

from collections.abc import Collection, Iterable, Sequence
from itertools import chain, takewhile

from django.db.models import Q
from django.utils import timezone

from studies import database
from studies.images import SMALLEST
from studies.models import Example, Participant, Study
from studies.stages import Json, LabelStage, Picture, describe_image, find_picture
from studies.summary import TYPICAL_SPAN, teaching_seconds

from .assignment import assign, teaching_lengths
from .choice import Answered, choose_step, load_pool, read_history
from .engine import TEACHERS
from .models import TeachingStep
from .references import describe_references, references_of
from .services import fit_memory_decay


class TeachingStage(LabelStage):
    name = Participant.Stage.TEACHING
    title = "Learning"
    label = Participant.Stage.TEACHING.label
    task_model = TeachingStep
    began_column = "teaching_started_at"
    # Of a participant who withdrew, nothing but the arm may be left.
    also_reached = ~Q(arm="")
    assigns_arm = True
    preview = f"The first image, for a memory span n̄ of {TYPICAL_SPAN}."
    script = "js/worker/teaching.js"

    def next_task(self, participant: Participant, answered: TeachingStep) -> TeachingStep | None:
        answered.history = read_history(answered)
        if answered.step == participant.teaching_steps:
            return None
        history = [step.shown for step in answered.history]
        return choose_step(participant, answered.position + 1, history)

    def results(self, participant: Participant, answered: TeachingStep) -> Json:
        return fit_memory_decay(participant, [step.shown for step in answered.history])

    def prepare(self, study: Study) -> None:
        load_pool(study.dataset)

    def save_answer(self, participant: Participant, task: TeachingStep, answer: Json) -> None:
        super().save_answer(participant, task, answer)
        save_feedback_ms(participant, task.position - 1, answer)

    def begin(self, participant: Participant) -> Json:
        columns = assign(participant)
        choose_step(participant, participant.position, history=[]).save(force_insert=True)
        return columns | {"teaching_started_at": timezone.now()}

    def feedback(self, participant: Participant, task: TeachingStep) -> Json:
        """What the participant learns after the answer, and not before."""
        study = participant.study_as_joined
        names = study.dataset.class_names
        return {
            "kind": "teaching",
            "position": task.position,
            "is_correct": task.is_correct,
            "answer": names[task.answer or 0],
            "label": names[task.example.label],
            "image": describe_image(participant, task.example),
            "min_look_ms": study.min_look_ms,
            "auto_advance_ms": study.auto_advance_ms,
            "score": score(task.history or read_history(task)) if study.shows_streak else None,
        }

    def describe(self, participant: Participant, task: TeachingStep, feedback: Json | None) -> Json:
        """The image without its label, and the feedback to the step before, for a page that was reloaded."""
        if feedback is None and task.step > 1:
            feedback = self.feedback(participant, self.get_task(participant, task.position - 1))
        described: Json = {
            "step": task.step,
            "steps": participant.teaching_steps,
            "image": describe_image(participant, task.example),
            "last_feedback": feedback if task.step > 1 else None,
        }
        if task.step == 1 and participant.study_as_joined.shows_references:
            described["references"] = describe_references(participant)
        return described

    def check_settings(self, study: Study) -> dict[str, str]:
        return arm_problems(study) | length_problems(study)

    def lengths(self, study: Study) -> Collection[int]:
        return teaching_lengths(study)

    def seconds(self, study: Study, units: float) -> float:
        return teaching_seconds(study, units)

    def picture(self, participant: Participant, key: str, side: int = SMALLEST) -> Picture | None:
        study = participant.study_as_joined
        shown: Iterable[str] = database.image_keys(
            TeachingStep, participant.pk, participant.position
        )
        if study.shows_references and participant.teaching_started_at:
            shown = chain(shown, (example.key for example in references_of(study.dataset)))
        return find_picture(participant, shown, key, side)


def score(history: Sequence[Answered]) -> Json:
    """How many answers were correct, of how many, and how many in a row at the end."""
    verdicts = [step.is_correct for step in history]
    in_a_row = len(list(takewhile(bool, reversed(verdicts))))
    return {"right": sum(verdicts), "answers": len(verdicts), "in_a_row": in_a_row}


def save_feedback_ms(participant: Participant, position: int, answer: Json) -> None:
    """Store how long the feedback to a step was in sight, which the page reports with its next answer."""
    feedback_ms = answer.get("feedback_ms")
    if feedback_ms is not None:
        steps = TeachingStep.objects.filter(participant=participant.pk, position=position)
        steps.update(feedback_ms=feedback_ms)


def arm_problems(study: Study) -> dict[str, str]:
    names = study.arm_names
    unknown = [name for name in names if name not in TEACHERS]
    if unknown or not names:
        known = ", ".join(TEACHERS)
        return {
            "arms": f"Name at least one of {known}; not known: {', '.join(unknown) or 'none given'}."
        }
    if len(set(names)) < len(names):
        return {"arms": "Name each teacher once."}
    pool_size = size_of_pool(study)
    for name in names:
        teacher = TEACHERS[name]
        if not teacher.serves(pool_size):
            return {
                "arms": f"{teacher.title} serves pools of up to {teacher.largest_pool} images, and this one has "
                f"{pool_size}. Leave it out, or choose a smaller data set."
            }
    return {}


def size_of_pool(study: Study) -> int:
    return study.dataset.examples.filter(split=Example.Split.TEACHING).count()


def length_problems(study: Study) -> dict[str, str]:
    problems = {}
    pool_size, classes = size_of_pool(study), len(study.dataset.class_names)
    # Two classes have always been allowed a shorter start than one image of each.
    if classes > max(2, study.cold_start):
        problems["cold_start"] = (
            f"The data set has {classes} classes, and the start shows every one: choose at least {classes}."
        )
    if study.short_memory_up_to >= study.medium_memory_up_to:
        problems["medium_memory_up_to"] = "This must be more than the limit of a short memory."
    for field in ("short_steps", "medium_steps", "long_steps", "other_steps"):
        steps = getattr(study, field)
        if steps < study.cold_start:
            problems[field] = (
                f"There are {study.cold_start} random images at the start; teach at least as many."
            )
        elif steps > pool_size:
            problems[field] = (
                f"The teaching pool of {study.dataset} has {pool_size} images, fewer than {steps}. "
                "Choose fewer or a larger data set."
            )
    return problems
