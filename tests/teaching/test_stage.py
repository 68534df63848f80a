"""The stage of teaching: what it refuses of a study, what it shows, and what it takes."""

from typing import Any

import pytest

from studies import sessions
from studies.answers import record_answer
from studies.errors import NotCurrent
from studies.models import Participant, Study
from teaching.engine import TEACHERS
from teaching.models import TeachingStep
from teaching.stage import TeachingStage, arm_problems, length_problems
from tests.builders import make_dataset, make_participant, make_study

pytestmark = pytest.mark.django_db
STAGE = TeachingStage()


@pytest.fixture
def study() -> Study:
    return make_study(dataset=make_dataset(teaching=12, evaluation=6), arms="rt")


@pytest.fixture
def participant(study) -> Participant:
    """Somebody who sees the first image."""
    participant = make_participant(study)
    participant.stage, participant.position = "teaching", 4
    for name, value in STAGE.begin(participant).items():
        setattr(participant, name, value)
    participant.save()
    return participant


def answer(participant: Participant, label: int) -> dict[str, Any]:
    session = sessions.find(participant.token)
    class_name = participant.study.dataset.class_names[label]
    return record_answer(session, session.position, {"label": class_name, "response_ms": 600.0})


# What a study may ask for


@pytest.mark.parametrize(
    ("arms", "complaint"),
    [
        ("", "not known: none given"),
        ("jedi,oracle", "not known: oracle"),
        ("jedi,rt,jedi", "each teacher once"),
    ],
)
def test_arms_that_cannot_be_taught_are_refused(study, arms, complaint):
    study.arms = arms
    assert complaint in arm_problems(study)["arms"]


def test_a_pool_as_large_as_a_teacher_serves_is_accepted_and_a_larger_one_refused(
    study, monkeypatch
):
    study.arms = "rt,eer"
    monkeypatch.setattr(TEACHERS["eer"], "largest_pool", 12)
    assert arm_problems(study) == {}
    monkeypatch.setattr(TEACHERS["eer"], "largest_pool", 11)
    complaint = arm_problems(study)["arms"]
    assert complaint.startswith("EER serves pools of up to 11 images, and this one has 12.")


@pytest.mark.parametrize("field", ["short_steps", "medium_steps", "long_steps", "other_steps"])
def test_lengths_lie_between_the_cold_start_and_the_size_of_the_pool(study, field):
    for steps, is_wrong in ((2, True), (3, False), (12, False), (13, True)):
        setattr(study, field, steps)
        assert (field in length_problems(study)) == is_wrong


def test_the_limit_of_a_medium_memory_is_above_that_of_a_short_one(study):
    study.short_memory_up_to = study.medium_memory_up_to = 5
    assert "medium_memory_up_to" in length_problems(study)
    study.short_memory_up_to = 4.9
    assert length_problems(study) == {}


# A session


def test_it_begins_with_a_teacher_a_length_and_the_first_image(participant):
    assert (participant.arm, participant.teaching_steps) == ("rt", participant.study.other_steps)
    assert participant.teaching_started_at is not None
    [step] = TeachingStep.objects.of(participant)
    assert (step.step, step.position, step.answer) == (1, 4, None)


def test_an_image_is_shown_without_its_label(participant):
    task = sessions.session_state(sessions.find(participant.token))["task"]
    assert set(task) == {"kind", "position", "step", "steps", "image", "last_feedback"}
    assert (task["step"], task["last_feedback"]) == (1, None)


def test_an_answer_is_stored_and_the_next_image_with_it(participant):
    step = TeachingStep.objects.of(participant).get()
    wrong = 1 - step.example.label
    reply = answer(participant, wrong)
    step.refresh_from_db()
    assert (step.answer, step.response_ms, step.is_correct) == (wrong, 600.0, False)
    names = participant.study.dataset.class_names
    assert reply["feedback"]["label"] == names[step.example.label]
    assert reply["feedback"]["answer"] == names[wrong]
    assert [one.position for one in TeachingStep.objects.of(participant)] == [4, 5]
    assert reply["task"]["last_feedback"] == reply["feedback"]
    reloaded = sessions.session_state(sessions.find(participant.token))
    assert reloaded["task"] == reply["task"]


def test_choosing_the_next_image_writes_nothing(participant):
    session = sessions.find(participant.token)
    step = STAGE.get_task(session, 4)
    step.set_answer({"label": 1, "response_ms": 600.0})
    assert STAGE.next_task(session, step).position == 5
    [stored] = TeachingStep.objects.of(participant)
    assert stored.answer is None


def test_the_last_answer_ends_the_stage(participant):
    for number in range(participant.teaching_steps):
        reply = answer(participant, 1)
        is_last = number == participant.teaching_steps - 1
        assert reply["session"]["stage"] == ("evaluation" if is_last else "teaching")
    assert reply["task"]["last_feedback"] == reply["feedback"]
    assert TeachingStep.objects.of(participant).count() == participant.teaching_steps


def test_a_repeated_answer_gets_the_same_feedback_and_a_later_position_is_refused(participant):
    first = answer(participant, 1)
    session = sessions.find(participant.token)
    repeated = {"label": participant.study.dataset.class_names[1]}
    assert record_answer(session, 4, repeated) == first
    with pytest.raises(NotCurrent):
        record_answer(session, 6, repeated)
