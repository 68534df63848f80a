"""Many participants as rows, for pages that are about crowds: nobody answers anything to make them."""

from datetime import timedelta
from typing import Any

import numpy as np
from django.utils import timezone

from evaluation import metrics
from evaluation.models import EvaluationItem
from memorytest.models import MemoryRound
from studies.models import Example, Participant, SessionEvent, Study, StudyVersion
from teaching import decay
from teaching.models import TeachingStep

# How likely a worker is right at first, and how much of the rest teaching can bring.
SKILL = {"jedi": (0.5, 0.62), "imt": (0.56, 0.5), "eer": (0.58, 0.42), "rt": (0.55, 0.36)}


def make_finished(study: Study, count: int, seed: int = 5) -> list[Participant]:
    """Participants who went through all of it, as rows: the arms in turn, with answers of a learner."""
    rng = np.random.default_rng(seed)
    examples = {
        split: list(Example.objects.filter(dataset=study.dataset, split=split).order_by("pk"))
        for split in Example.Split.values
    }
    people, steps, items = [], [], []
    version = StudyVersion.freeze(study)
    for place in range(count):
        arm = study.arm_names[place % len(study.arm_names)]
        person = Participant(study=study, version=version, stage="done", arm=arm)
        person.memory_lengths = [int(n) for n in np.clip(rng.normal(6, 1.4, 3).round(), 2, 9)]
        person.memory_span = sum(sorted(person.memory_lengths)[1:]) / 2
        leave_decay(person, place)
        person.teaching_steps = teaching_length(person)
        own_steps = teaching_of(person, examples["teaching"], rng)
        own_items = evaluation_of(person, examples["evaluation"], study.evaluation_size, rng)
        leave_results(person, own_steps, own_items)
        people.append(person)
        steps += own_steps
        items += own_items
    Participant.objects.bulk_create(people)
    TeachingStep.objects.bulk_create(steps, batch_size=2000)
    EvaluationItem.objects.bulk_create(items, batch_size=2000)
    return people


def leave_decay(person: Participant, place: int) -> None:
    """The paper's β, and a fitted one all over its range."""
    person.beta, person.beta_mapping = 1 - 1 / person.memory_span, "paper"
    person.beta_fitted = fitted = round(0.025 * (17 * place % 39), 3)
    person.beta_fitted_low, person.beta_fitted_high = (
        max(0.0, fitted - 0.5),
        min(0.95, fitted + 0.5),
    )
    # The further from the fitted β, the less probable, at any learning rate.
    below = np.rint(-100 * (4 * (decay.BETAS - fitted)) ** 2).astype(int)
    person.beta_likelihood = np.repeat(below, decay.RATES.size).tolist()


def teaching_length(person: Participant) -> int:
    study = person.study
    lengths = (study.short_steps, study.medium_steps, study.long_steps)
    place = (person.memory_span > 4.5) + (person.memory_span > 6.5)
    return lengths[place] if person.arm == "jedi" else study.other_steps


def teaching_of(person: Participant, pool: list[Example], rng) -> list[TeachingStep]:
    start, rise = SKILL.get(person.arm, (0.55, 0.4))
    repeats = {"jedi": 0.35, "imt": 0.45}.get(person.arm, 0.0)
    order = list(rng.permutation(len(pool)))
    steps, seen = [], []
    for t in range(1, person.teaching_steps + 1):
        again = bool(seen) and rng.random() < repeats
        example = pool[rng.choice(seen) if again or not order else order.pop()]
        chance = start + (0.25 if again else 0.0) + rise * (1 - start) * t / 40
        label = example.label if rng.random() < chance else 1 - example.label
        steps.append(
            TeachingStep(
                participant=person, position=t, step=t, example=example, is_random=t <= 5,
                is_first_showing=pool.index(example) not in seen, probabilities=[0.5, 0.5], p=0.5, f=0.5,
                learning_rate=0.03, choice_ms=1.0, answer=label,
                is_correct=label == example.label, answered_at=timezone.now(),
                response_ms=float(rng.lognormal(7.3, 0.45)),
            )
        )  # fmt: skip
        seen.append(pool.index(example))
    return steps


def evaluation_of(person: Participant, pool: list[Example], size: int, rng) -> list[EvaluationItem]:
    start, rise = SKILL.get(person.arm, (0.55, 0.4))
    chance = np.clip(start + rise * (1 - start) + rng.normal(0, 0.08), 0, 1)
    items = []
    for item, place in enumerate(rng.permutation(len(pool))[:size], 1):
        example = pool[place]
        label = example.label if rng.random() < chance else 1 - example.label
        items.append(
            EvaluationItem(
                participant=person, position=100 + item, item=item, example=example, answer=label,
                is_correct=label == example.label, answered_at=timezone.now(),
                response_ms=float(rng.lognormal(6.9, 0.4)),
            )
        )  # fmt: skip
    return items


def leave_results(person: Participant, steps: list, items: list) -> None:
    showings = [(step.example_id, step.is_correct) for step in steps]
    person.unique_examples = len({example for example, _ in showings})
    person.first_seen_accuracy = metrics.accuracy(metrics.first_seen(showings))
    person.evaluation_accuracy = metrics.accuracy([item.is_correct for item in items])
    person.evaluation_macro_recall = person.evaluation_accuracy
    person.evaluation_kappa = metrics.kappa(person.evaluation_accuracy, 2)
    person.teaching_gain = metrics.teaching_gain(
        person.evaluation_accuracy, person.first_seen_accuracy
    )


# What becomes of people, and of how many in a hundred.
FATES = {
    "consent": 2, "memory": 6, "teaching": 8, "evaluation": 6, "done": 66, "abandoned": 7,
    "declined": 2, "withdrawn": 2, "overdue": 1,
}  # fmt: skip
TROUBLES = (
    ("error", "TypeError: image is null at classify.js:41"),
    ("error", "The answer cannot be used."),
    ("offline", ""),
)


def make_crowd(study: Study, count: int, seed: int = 5, **fields: Any) -> list[Participant]:
    """A study in full swing: people everywhere, each with the times and the task of where they are."""
    rng = np.random.default_rng(seed)
    version, now = StudyVersion.freeze(study), timezone.now()
    fates = rng.choice([*FATES], p=np.array([*FATES.values()]) / sum(FATES.values()), size=count)
    people = [
        somebody(study, version, str(fate), now, place / count, rng, fields)
        for place, fate in enumerate(fates)
    ]
    Participant.objects.bulk_create(people, batch_size=1000)
    going = [person for person in people if person.is_under_way]
    give_tasks(study, going, rng)
    give_events(people, rng, now)
    return people


def somebody(
    study: Study, version: StudyVersion, fate: str, now: Any, place: float, rng: Any, fields: Any
) -> Participant:
    """Joined at this place of the last two days; with times for every stage that they came to."""
    stages = ["consent", "memory", "teaching", "evaluation", "done"]
    ended = {
        "abandoned": rng.integers(0, 4),
        "withdrawn": rng.integers(1, 4),
        "declined": 0,
        "overdue": 2,
    }
    reached = int(ended.get(fate, 0)) if fate in ended else stages.index(fate)
    is_going = fate in stages[:4]
    # Those who are under way joined lately, whatever their place.
    start = now - timedelta(
        minutes=float(rng.uniform(1, 25)) if is_going else 30 + 2880 * (1 - place)
    )
    if fate == "overdue":
        start = now - timedelta(hours=study.session_hours + 5)
    marks = [start + timedelta(minutes=m) for m in np.cumsum(rng.uniform(0.5, 7, size=4))]
    if is_going:
        step = (now - start) / (reached + 1)
        marks = [start + step * (k + 1) for k in range(4)]
    person = Participant(
        study=study, version=version, stage="teaching" if fate == "overdue" else fate,
        created_at=start, last_seen_at=marks[min(reached, 3)], **fields,
    )  # fmt: skip
    names = ("consented_at", "teaching_started_at", "evaluation_started_at", "finished_at")
    for name, mark in list(zip(names, marks, strict=True))[:reached]:
        setattr(person, name, mark)
    if is_going:
        person.last_seen_at = now - timedelta(seconds=float(rng.exponential(60)))
    elif fate != "overdue":
        person.finished_at = marks[min(reached, 3)]
        person.is_excluded = fate == "done" and rng.random() < 0.02
    if reached >= 2:
        person.arm = study.arm_names[int(rng.integers(len(study.arm_names)))]
        person.teaching_steps = study.other_steps
    return person


def give_tasks(study: Study, people: list[Participant], rng: Any) -> None:
    """To each the rows of the stage that they are in."""
    examples = {
        split: list(Example.objects.filter(dataset=study.dataset, split=split).order_by("pk"))
        for split in Example.Split.values
    }
    rounds, steps, items = [], [], []
    for person in people:
        if person.stage == "memory":
            rounds += [
                MemoryRound(
                    participant=person, position=k, trial=k, length=2, pictures=["key", "cup"],
                    shuffled=["cup", "key"], exposure_ms=3000,
                )
                for k in range(1, int(rng.integers(1, study.memory_trials + 1)) + 1)
            ]  # fmt: skip
        elif person.stage == "teaching" and examples["teaching"]:
            own = teaching_of(person, examples["teaching"], rng)
            steps += own[: int(rng.integers(1, len(own) + 1))]
        elif person.stage == "evaluation":
            own_items = evaluation_of(person, examples["evaluation"], study.evaluation_size, rng)
            for item in own_items[int(rng.integers(0, len(own_items))) :]:
                item.answer = item.is_correct = item.answered_at = item.response_ms = None
            items += own_items
    MemoryRound.objects.bulk_create(rounds, batch_size=2000)
    TeachingStep.objects.bulk_create(steps, batch_size=2000)
    EvaluationItem.objects.bulk_create(items, batch_size=2000)


def give_events(people: list[Participant], rng: Any, now: Any) -> None:
    """Some had trouble in the last day; everybody opened the page."""
    rows = [
        SessionEvent(participant=person, kind="opened", position=1, at=person.created_at)
        for person in people
    ]
    for person in people:
        if rng.random() < 0.02:
            kind, detail = TROUBLES[int(rng.integers(len(TROUBLES)))]
            at = now - timedelta(hours=float(rng.uniform(0, 30)))
            rows.append(
                SessionEvent(participant=person, kind=kind, detail=detail, position=3, at=at)
            )
    SessionEvent.objects.bulk_create(rows, batch_size=2000)
