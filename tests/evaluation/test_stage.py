"""The evaluation as a stage: which images are drawn, in which order, and what it leaves on the row."""

from itertools import pairwise

import pytest

from evaluation.models import EvaluationItem
from evaluation.stage import EvaluationStage, draw_checks, draw_images, spare_images, with_checks
from studies import sessions
from studies.answers import record_answer
from studies.errors import AlreadyAnswered
from studies.models import Example, Participant
from studies.stages import example_url, image_key
from teaching.models import TeachingStep
from tests.builders import make_dataset, make_participant, make_study

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def study(make_once):
    return make_once(
        lambda: make_study(
            dataset=make_dataset(teaching=12, evaluation=40), evaluation_size=24, attention_checks=4
        )
    )


@pytest.fixture
def participant(study) -> Participant:
    return made(study, seed=1)


def made(study, seed: int) -> Participant:
    person = make_participant(study)
    Participant.objects.filter(pk=person.pk).update(seed=seed)
    person.seed = seed
    return person


def labels_of(examples: list[int]) -> list[int]:
    labels = dict(Example.objects.values_list("pk", "label"))
    return [labels[example] for example in examples]


# The images of the test


def test_half_of_the_images_come_from_each_class_and_none_comes_twice(participant):
    drawn = draw_images(participant)
    assert sorted(labels_of(drawn)) == [0] * 12 + [1] * 12
    assert len(set(drawn)) == 24
    splits = Example.objects.filter(pk__in=drawn).values_list("split", flat=True)
    assert set(splits) == {"evaluation"}


def test_the_classes_are_mixed_and_not_shown_one_after_the_other(study):
    for seed in range(20):
        labels = labels_of(draw_images(made(study, seed)))
        changes = sum(one != other for one, other in pairwise(labels))
        # One change if the classes stood in blocks; twelve are to be expected, with a deviation of about 2.4.
        assert 4 <= changes <= 20, seed


def test_the_order_is_a_permutation_of_what_was_drawn_class_by_class(participant):
    """The draw again by its definition: its first half is one class, its second half the other."""
    rng = participant.generator("evaluation", 0)
    by_class = []
    for label in (0, 1):
        rows = Example.objects.filter(
            dataset=participant.study.dataset, split="evaluation", label=label
        )
        keys = list(rows.order_by("pk").values_list("pk", flat=True))
        by_class += [int(key) for key in rng.choice(keys, size=12, replace=False)]
    drawn = draw_images(participant)
    assert sorted(drawn) == sorted(by_class)
    assert drawn != by_class


def test_the_same_seed_draws_the_same_and_another_seed_does_not(study):
    assert draw_images(made(study, 5)) == draw_images(made(study, 5))
    assert draw_images(made(study, 5)) != draw_images(made(study, 6))


# Attention checks


def test_checks_are_spread_among_the_images_and_never_come_first(study):
    places = set()
    for seed in range(30):
        person = made(study, seed)
        items = with_checks(person, draw_images(person))
        own = [place for place, item in enumerate(items) if item.instructed_label is not None]
        assert (len(items), len(own)) == (28, 4)
        assert own[0] > 0
        places.add(tuple(own))
    assert len(places) > 25
    used = {place for own in places for place in own}
    assert (min(used), max(used)) == (1, 27)
    assert len(used) > 20


def test_checks_leave_the_order_of_the_test_as_it_is(participant):
    drawn = draw_images(participant)
    items = with_checks(participant, drawn)
    assert [item.example for item in items if item.instructed_label is None] == drawn


def test_the_images_of_checks_are_permuted_and_belong_to_no_test(study):
    sorted_ones = 0
    for seed in range(10):
        person = made(study, seed)
        drawn = draw_images(person)
        spare = spare_images(person, drawn, person.generator("attention", 0))
        assert len(set(spare) - set(drawn)) == len(spare) == 4
        sorted_ones += spare == sorted(spare)
    # One in 24 by chance; all of them if they stood in the order of the database.
    assert sorted_ones <= 3


def test_checks_ask_for_both_classes_equally_often_in_an_order_of_their_own(study):
    asked = set()
    for seed in range(20):
        person = made(study, seed)
        checks = draw_checks(person, draw_images(person), person.generator("attention", 0))
        labels = tuple(check.instructed_label for check in checks)
        assert sorted(labels) == [0, 0, 1, 1]
        asked.add(labels)
    assert len(asked) > 2


def test_a_check_may_ask_for_the_class_that_the_image_is_not(study):
    agreeing = set()
    for seed in range(20):
        person = made(study, seed)
        checks = draw_checks(person, draw_images(person), person.generator("attention", 0))
        truth = labels_of([check.example for check in checks])
        agreeing |= {c.instructed_label == label for c, label in zip(checks, truth, strict=True)}
    assert agreeing == {True, False}


# The stage


def begun(person: Participant) -> Participant:
    """The participant at the first image of the evaluation, as read for a step."""
    person.stage, person.position = "evaluation", 10
    for name, value in EvaluationStage().begin(person).items():
        setattr(person, name, value)
    person.save()
    return sessions.find(person.token)


def test_beginning_writes_every_image_in_order(participant):
    begun(participant)
    items = list(EvaluationItem.objects.of(participant))
    assert [item.position for item in items] == list(range(10, 38))
    assert [item.item for item in items] == list(range(1, 29))
    assert [i.example_id for i in items if not i.is_check] == draw_images(participant)
    assert participant.evaluation_started_at is not None


def test_an_answer_gets_no_feedback_and_the_last_one_ends_the_session(participant):
    session = begun(participant)
    for position in range(10, 38):
        reply = record_answer(session, position, {"label": "wild"})
        assert reply["feedback"] is None
        assert reply["session"]["stage"] == ("evaluation" if position < 37 else "done")
    again = sessions.find(participant.token)
    assert record_answer(again, 10, {"label": "wild"})["feedback"] is None
    with pytest.raises(AlreadyAnswered):
        record_answer(again, 10, {"label": "domestic"})


def test_a_task_names_the_next_image_and_no_later_one(participant):
    session, stage = begun(participant), EvaluationStage()
    here, following, later = (item.example for item in EvaluationItem.objects.of(participant)[:3])
    task = sessions.session_state(session)["task"]
    assert task["image"]["url"] == example_url(participant, here)
    assert task["prefetch"] == [example_url(participant, following)]
    assert stage.picture(session, image_key(participant, following)) is not None
    assert stage.picture(session, image_key(participant, later)) is None
    session.position = 37
    assert sessions.session_state(session)["task"]["prefetch"] == []


def test_finishing_leaves_the_accuracies_without_the_checks(participant):
    session = begun(participant)
    example = participant.study.dataset.examples.filter(split="teaching")[0]
    for step, label in enumerate((1 - example.label, example.label), start=1):
        row = TeachingStep(
            participant=participant, position=step, step=step, example=example, is_random=True,
            is_first_showing=step == 1, probabilities=[0.5, 0.5], p=0.5, f=0.5, learning_rate=0.03,
            choice_ms=1.0,
        )  # fmt: skip
        row.set_answer({"label": label, "response_ms": 700})
        row.save()
    names = participant.study.dataset.class_names
    items = list(EvaluationItem.objects.of(participant))
    for item in items:
        label = item.example.label if item.item % 4 else 1 - item.example.label
        record_answer(session, item.position, {"label": names[label]})
    participant.refresh_from_db()
    accuracy = sum(bool(item.item % 4) for item in items if not item.is_check) / 24
    assert participant.unique_examples == 1
    assert participant.first_seen_accuracy == 0
    assert participant.evaluation_accuracy == pytest.approx(accuracy)
    assert participant.teaching_gain == pytest.approx(accuracy)
