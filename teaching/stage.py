"""Module 2: the teacher picks an image, the worker answers, the true label is shown."""

from collections.abc import Iterable, Sequence
from itertools import chain, takewhile
from typing import NamedTuple

from django.db.models import Q
from django.utils import timezone

from studies import rows, sessions
from studies.image_sides import SMALLEST
from studies.labels import LabelStage, describe_image, find_picture
from studies.models import Example, Participant, Study
from studies.stages import Current, Json, Picture, Recorded, SimulatedPerson, Taken, Told
from studies.summary import TYPICAL_SPAN, teaching_seconds, teaching_words

from . import pools, services
from .assignment import assign, teaching_lengths
from .decay import Fit
from .engine import TEACHERS
from .models import TeachingStep
from .references import describe_references, references_of

Verdicts = Sequence[bool | None]


class Plan(NamedTuple):
    """The answered step, the one that follows it, and what was right so far. After the last answer nothing follows,
    and there is the β that fits all of them."""

    answered: TeachingStep
    following: TeachingStep | None
    verdicts: Verdicts
    fit: Fit | None = None


# What a simulated worker takes to look at the true label.
LOOKING_MS = 1200


class TeachingStage(LabelStage):
    name = Participant.Stage.TEACHING
    title = "Learning"
    label = Participant.Stage.TEACHING.label
    tasks = TeachingStep
    columns = ("ticket", "arm", "teaching_steps", "teaching_started_at", *services.FITTED)
    began_column = "teaching_started_at"
    preview = f"The first image, for a memory span n̄ of {TYPICAL_SPAN}."
    script = "js/worker/teaching.js"

    def problems_of(self, study: Study) -> dict[str, str]:
        return arm_problems(study) | length_problems(study)

    def warm_up(self, study: Study) -> None:
        pools.load(study.dataset)

    def begin(self, participant: Participant) -> None:
        assign(participant)
        participant.teaching_started_at = timezone.now()
        rows.insert(services.next_step(participant, participant.position, history=[]))

    def total(self, participant: Participant) -> int | None:
        return participant.teaching_steps

    def expected_seconds(self, participant: Participant) -> float:
        study = participant.study_as_joined
        return teaching_seconds(study, participant.teaching_steps or study.other_steps)

    def in_numbers(self, study: Study) -> str:
        return teaching_words(teaching_lengths(study), "picture")

    def current(self, participant: Participant) -> Current:
        here = participant.position
        *earlier, this = sessions.tasks(TeachingStep, participant, here - 1, here)
        return describe(participant, this, feedback(participant, earlier[0]) if earlier else None)

    def plan(self, participant: Participant, answer: Json) -> Plan:
        """Takes the answer into the history and lets the teacher choose, all before the transaction."""
        here = participant.position
        [this] = sessions.tasks(TeachingStep, participant, here, here)
        this.take_answer(answer["label"], answer["response_ms"])
        earlier = pools.answered_before(participant, here)
        verdicts = [*(is_correct for _, is_correct in earlier), this.is_correct]
        history = [*(shown for shown, _ in earlier), *pools.history([this])]
        if this.step == participant.teaching_steps:
            return Plan(this, None, verdicts, services.fit(participant, history))
        return Plan(this, services.next_step(participant, here + 1, history), verdicts)

    def answered(self, plan: Plan) -> TeachingStep:
        return plan.answered

    def record(self, participant: Participant, answer: Json, plan: Plan) -> Taken:
        answered, following, _, fit = plan
        rows.save(answered, TeachingStep.ANSWER_FIELDS)
        TeachingStep.objects.note_look(
            participant, answered.position - 1, answer.get("feedback_ms")
        )
        if following:
            following.created_at = timezone.now()
            rows.insert(following)
        if fit:
            services.keep_fit(participant, fit)
        return Taken(is_last=following is None)

    def tell(self, participant: Participant, plan: Plan) -> Told:
        shown = feedback(participant, plan.answered, plan.verdicts)
        following = plan.following
        return Told(shown, describe(participant, following, shown) if following else None)

    def recorded(self, participant: Participant, position: int) -> Recorded | None:
        this = TeachingStep.objects.of(participant).answered(position)
        return Recorded({"label": this.answer}, feedback(participant, this)) if this else None

    def reached(self) -> Q:
        # Who withdrew may have left nothing but a teacher.
        return super().reached() | ~Q(arm="")

    def skip(self, participant: Participant) -> None:
        assign(participant)
        participant.teaching_started_at = timezone.now()

    def picture(self, participant: Participant, key: str, side: int = SMALLEST) -> Picture | None:
        study = participant.study_as_joined
        shown: Iterable[str] = sessions.image_keys(TeachingStep, participant, participant.position)
        if study.shows_references and participant.teaching_started_at:
            shown = chain(shown, (example.key for example in references_of(study.dataset)))
        return find_picture(participant, shown, key, side)

    def simulated_answer(self, task: Json, person: SimulatedPerson) -> Json:
        """Whoever is shown a picture of each class looks at them first."""
        for reference in task.get("references", ()):
            person.learn(reference["image"], reference["name"])
            person.wait(LOOKING_MS)
        return super().simulated_answer(task, person)

    def simulated_look(self, task: Json, feedback: Json, person: SimulatedPerson) -> None:
        person.learn(task["image"], feedback["label"])
        person.wait(LOOKING_MS)


def describe(participant: Participant, this: TeachingStep, last_feedback: Json | None) -> Current:
    """A step as the browser may see it: the image without its label."""
    task = {
        "kind": "teaching",
        "position": this.position,
        "step": this.step,
        "steps": participant.teaching_steps,
        "image": describe_image(participant, this.example),
        "last_feedback": last_feedback,
    }
    if this.step == 1 and participant.study_as_joined.shows_references:
        task["references"] = describe_references(participant)
    return Current(task, done=this.step - 1)


def feedback(
    participant: Participant, step: TeachingStep, verdicts: Verdicts | None = None
) -> Json:
    """What the worker learns after the answer, and not before. `verdicts` are those of all steps up to this one."""
    study = participant.study_as_joined
    dataset = study.dataset
    return {
        "kind": "teaching",
        "position": step.position,
        "is_correct": step.is_correct,
        "answer": dataset.class_name(step.answer or 0),
        "label": dataset.class_name(step.example.label),
        "image": describe_image(participant, step.example),
        "min_look_ms": study.min_look_ms,
        "auto_advance_ms": study.auto_advance_ms,
        "score": score(verdicts or verdicts_up_to(participant, step))
        if study.shows_streak
        else None,
    }


def verdicts_up_to(participant: Participant, step: TeachingStep) -> Verdicts:
    return [is_correct for _, is_correct in pools.answered_before(participant, step.position + 1)]


def score(verdicts: Verdicts) -> Json:
    """How many answers were right, of how many, and how many at the end of the row."""
    in_a_row = len(list(takewhile(bool, reversed(verdicts))))
    return {"right": sum(map(bool, verdicts)), "answers": len(verdicts), "in_a_row": in_a_row}


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
