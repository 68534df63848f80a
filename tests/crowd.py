"""Many participants as rows, for pages that are about crowds: nobody answers anything to make them."""

import numpy as np
from django.utils import timezone

from evaluation import metrics
from evaluation.models import EvaluationItem
from studies.models import Example, Participant, Study, StudyVersion
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


def teaching_of(person: Participant, pool: list[Example], rng) -> list[TeachingStep]:
    study = person.study
    lengths = (study.short_steps, study.medium_steps, study.long_steps)
    place = (person.memory_span > 4.5) + (person.memory_span > 6.5)
    person.teaching_steps = lengths[place] if person.arm == "jedi" else study.other_steps
    start, rise = SKILL.get(person.arm, (0.55, 0.4))
    repeats = {"jedi": 0.35, "imt": 0.45}.get(person.arm, 0.0)
    order = list(rng.permutation(len(pool)))
    steps, seen = [], []
    for t in range(1, person.teaching_steps + 1):
        again = bool(seen) and rng.random() < repeats
        example = pool[rng.choice(seen) if again or not order else order.pop()]
        chance = start + (0.25 if again else 0.0) + rise * (1 - start) * t / 40
        label = example.label if rng.random() < chance else -example.label
        steps.append(
            TeachingStep(
                participant=person, position=t, step=t, example=example, is_random=t <= 5,
                is_first_showing=pool.index(example) not in seen, p=0.5, f=0.5,
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
        label = example.label if rng.random() < chance else -example.label
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
    person.teaching_gain = metrics.teaching_gain(
        person.evaluation_accuracy, person.first_seen_accuracy
    )
