"""A study of five classes through the session API: what workers get, what is stored, and what bots make of it."""

from typing import Any

import numpy as np
import pytest
from django.core.exceptions import ValidationError

from evaluation.models import EvaluationItem
from studies.models import Participant, Study, digest_of
from teaching.choice import load_pool
from teaching.engine import TEACHERS, LearningRate, Shown
from teaching.models import TeachingStep
from teaching.services import replay
from tests.builders import make_dataset, make_participant, make_study
from tests.worker import Worker

pytestmark = pytest.mark.django_db

SPECIES = ("Ash", "Birch", "Cedar", "Dogwood", "Elm")
SETTINGS: dict[str, Any] = {
    "cold_start": 5, "short_steps": 12, "medium_steps": 12, "long_steps": 12, "other_steps": 12,
    "evaluation_size": 15, "attention_checks": 5,
}  # fmt: skip


@pytest.fixture(scope="module")
def dataset(make_once):
    return make_once(lambda: make_dataset(teaching=40, evaluation=30, classes=SPECIES))


def five_classes(dataset, **fields: Any) -> Study:
    return make_study(dataset=dataset, **(SETTINGS | fields))


class Pupil(Worker):
    """Is told the true class of what was answered, and wrong about every third image."""

    def answer_like_a_pupil(self, task: dict[str, Any]) -> dict[str, Any]:
        if task["kind"] not in ("teaching", "evaluation"):
            return self.obvious({"task": task})
        model = TeachingStep if task["kind"] == "teaching" else EvaluationItem
        example = model.objects.get(
            participant__token_digest=digest_of(self.token), position=task["position"]
        ).example
        shift = int(task["position"] % 3 == 0)
        return {"label": SPECIES[(example.label + shift) % 5], "response_ms": 700.0}


@pytest.mark.parametrize("arm", ["jedi", "eer"])
def test_a_whole_session_is_stored_as_a_second_calculation_gives_it(dataset, arm):
    pupil = Pupil(five_classes(dataset, arms=arm))
    pupil.go_to("done", pupil.answer_like_a_pupil)
    person = pupil.participant
    steps = list(TeachingStep.objects.of(person))
    assert {step.example.label for step in steps[:5]} == {0, 1, 2, 3, 4}
    teacher = TEACHERS[arm](
        beta=person.beta,
        learning_rate=LearningRate(dataset.learning_rate, 20.0),
        cold_start=5,
    )
    history: list[Shown] = []
    for step in steps:
        t = len(history) + 1
        choice = teacher.choose(load_pool(dataset).pool, history, person.generator("teaching", t))
        assert choice.example == step.example.pool_index
        assert step.probabilities == pytest.approx(list(choice.probabilities))
        assert sum(step.probabilities) == pytest.approx(1)
        assert step.p is None
        assert step.f == pytest.approx(1 - step.probabilities[step.example.label], abs=5.1e-6)
        wrong = step.position % 3 == 0
        assert step.answer == (step.example.label + wrong) % 5
        assert step.is_correct == (not wrong)
        history.append(Shown(choice.example, step.answer, step.probabilities))
    assert all(step.matches for step in replay(person))
    items = EvaluationItem.objects.of(person)
    counted = list(items.counted())
    assert np.bincount([item.example.label for item in counted]).tolist() == [3] * 5
    assert sorted(item.instructed_label for item in items.checks()) == [0, 1, 2, 3, 4]
    right = [item.answer == item.example.label for item in counted]
    assert person.evaluation_accuracy == pytest.approx(sum(right) / 15)


def test_another_belief_about_any_class_is_found_by_a_replay(dataset):
    pupil = Pupil(five_classes(dataset, arms="jedi"))
    pupil.go_to("evaluation", pupil.answer_like_a_pupil)
    last = TeachingStep.objects.of(pupil.participant).last()
    last.probabilities[1] += 1e-6
    last.probabilities[3] -= 1e-6
    last.save()
    assert [step.matches for step in replay(pupil.participant)] == [True] * 11 + [False]


def test_everybody_has_an_order_of_their_own_and_keeps_it(dataset):
    study = five_classes(dataset)
    orders = []
    for _ in range(60):
        person = make_participant(study)
        orders.append(tuple(person.classes))
        assert person.classes == Participant.objects.get(pk=person.pk).classes
    assert all(sorted(order) == sorted(SPECIES) for order in orders)
    assert len(set(orders)) > 30
    # Each of five classes is first for about one in five: 12 of 60, with a deviation of about 3.
    for name in SPECIES:
        assert 2 <= sum(order[0] == name for order in orders) <= 26


def test_feedback_names_what_was_chosen_and_what_was_true(dataset):
    worker = Worker(five_classes(dataset, arms="rt"))
    worker.go_to("teaching")
    step = TeachingStep.objects.get(participant=worker.participant)
    wrong = SPECIES[(step.example.label + 2) % 5]
    feedback = worker.answer(position=step.position, label=wrong).json()["feedback"]
    names = (feedback["answer"], feedback["label"], feedback["is_correct"])
    assert names == (wrong, SPECIES[step.example.label], False)


@pytest.mark.parametrize("name", ["Fir", "ash", "0", "Ash Birch"])
def test_a_name_that_is_no_class_is_refused_with_those_that_are(dataset, name):
    worker = Worker(five_classes(dataset, arms="rt"))
    position = worker.go_to("teaching")["position"]
    reply = worker.answer(position=position, label=name)
    assert reply.status_code == 400
    [why] = reply.json()["error"]["fields"]["label"]
    assert "'Ash', 'Birch', 'Cedar', 'Dogwood' or 'Elm'" in why
    assert TeachingStep.objects.get(participant=worker.participant).answer is None


@pytest.mark.parametrize(("size", "nearest"), [(12, "10 or 15"), (3, "5"), (16, "15 or 20")])
def test_a_test_that_the_classes_do_not_divide_is_refused_with_the_nearest(dataset, size, nearest):
    with pytest.raises(ValidationError, match=f"Choose {nearest}: each of the 5 classes"):
        five_classes(dataset, evaluation_size=size)


def test_a_test_of_more_images_than_a_class_has_is_refused(dataset):
    with pytest.raises(ValidationError, match=r"has 6 evaluation images .* Choose at most 30"):
        five_classes(dataset, evaluation_size=35)


def test_a_start_that_cannot_show_every_class_is_refused(dataset):
    with pytest.raises(ValidationError, match=r"has 5 classes.*choose at least 5"):
        five_classes(dataset, cold_start=4)
