"""Choosing, storing and replaying the steps of teaching."""

import pytest

from studies.models import Participant, Study
from teaching import services
from teaching.choice import (
    _load_pool,
    choose,
    choose_step,
    history_of,
    learner_kinds,
    load_pool,
    teacher_of,
)
from teaching.engine import LearningRate, Tracked, make_teacher
from teaching.models import TeachingStep
from tests.teaching.sessions import taught_by

pytestmark = pytest.mark.django_db


def test_a_teacher_has_the_settings_of_the_study_and_the_memory_of_the_worker():
    participant = taught_by(
        "imt", answers=0, learning_rate=0.5, learning_rate_decay=9, repeat_window=2
    )
    assert teacher_of(participant) == make_teacher(
        "imt",
        beta=0.75,
        learning_rate=LearningRate(0.5, 9),
        repeat_window=2,
        cold_start=participant.study.cold_start,
    )


def test_who_took_no_memory_test_is_taught_as_if_without_memory():
    participant = taught_by("jedi", answers=0)
    participant.beta = None
    assert teacher_of(participant).beta == 0


def test_only_jedi_takes_the_regularised_estimate_and_sessions_keep_theirs():
    participant = taught_by("jedi", answers=6, jedi_estimator="mended")
    assert teacher_of(participant).estimator == "regularised"
    assert teacher_of(taught_by("imt", answers=0, jedi_estimator="mended")).estimator == "paper"
    assert [step.matches for step in services.replay(participant)] == [True] * 7
    study = Study.objects.get(pk=participant.study_id)
    study.jedi_estimator = "paper"
    study.save()
    participant = Participant.objects.get(pk=participant.pk)
    assert teacher_of(participant).estimator == "regularised"
    assert all(step.matches for step in services.replay(participant))


def test_tracked_makes_every_choice_again_from_the_stored_answers_alone():
    participant = taught_by("tracked", answers=9)
    _load_pool.cache_clear()
    again = services.replay(Participant.objects.get(pk=participant.pk))
    assert [step.matches for step in again] == [True] * 10
    assert all(step.choice.score == step.stored.score for step in again)
    changed = again[3].stored
    TeachingStep.objects.filter(pk=changed.pk).update(answer=1 - changed.answer)
    assert [step.matches for step in services.replay(participant)][:4] == [True] * 4
    assert not any(step.matches for step in services.replay(participant)[4:])


def test_a_step_keeps_everything_that_the_teacher_knew():
    participant = taught_by("jedi", answers=4)
    *before, step = TeachingStep.objects.of(participant)
    history = history_of(before)
    pool = load_pool(participant.study.dataset).pool
    rng = participant.generator("teaching", 5)
    choice = teacher_of(participant).choose(pool, history, rng)
    assert (step.step, step.position, step.example.pool_index) == (5, 5, choice.example)
    for name in ("p", "f", "score", "diversity", "usefulness", "learning_rate"):
        assert getattr(step, name) == getattr(choice, name)
    assert not step.is_random
    assert step.choice_ms > 0


def test_the_first_steps_are_random_and_a_first_showing_is_the_first():
    participant = taught_by("jedi", answers=9, repeat_window=0)
    steps = list(TeachingStep.objects.of(participant))
    assert [step.is_random for step in steps] == [True] * 3 + [False] * 7
    seen: set[int] = set()
    for step in steps:
        assert step.is_first_showing == (step.example_id not in seen)
        seen.add(step.example_id)


def test_choosing_writes_nothing():
    participant = taught_by("jedi", answers=2)
    steps = list(TeachingStep.objects.of(participant))
    choose_step(participant, 9, history_of(steps))
    assert TeachingStep.objects.of(participant).count() == 3


def test_a_replay_makes_every_choice_from_the_history_before_it():
    replayed = services.replay(taught_by("jedi", answers=6))
    assert len(replayed) == 7
    assert all(step.matches for step in replayed)


def test_a_replay_finds_another_image_and_another_belief():
    participant = taught_by("jedi", answers=6)
    *_, moved, last = TeachingStep.objects.of(participant)
    spare = participant.study.dataset.examples.filter(split="teaching").exclude(pk=last.example_id)
    last.example = spare[0]
    last.save()
    assert [step.matches for step in services.replay(participant)] == [True] * 6 + [False]
    moved.probabilities[0] += 1e-6
    moved.probabilities[1] -= 1e-6
    moved.save()
    assert [step.matches for step in services.replay(participant)][5:] == [False, False]


@pytest.mark.parametrize("column", ["p", *services.SCORED])
def test_a_replay_finds_every_stored_number_that_was_changed(column):
    participant = taught_by("jedi", answers=6)
    *_, last = TeachingStep.objects.of(participant)
    before = getattr(last, column)
    setattr(last, column, before + 1e-6)
    last.save()
    *others, found = services.replay(participant)
    assert all(step.matches for step in others)
    assert not found.matches
    assert found.is_same_image
    assert found.other_numbers == {column: (pytest.approx(before + 1e-6), pytest.approx(before))}


def test_the_likeliest_kind_of_learner_is_stored_with_a_step_and_verified_by_a_replay():
    participant = taught_by("tracked", answers=6)
    *_, changed, last = steps = list(TeachingStep.objects.of(participant))
    for place, step in enumerate(steps):
        choice = choose(participant, history_of(steps[:place]))
        kinds = learner_kinds(choice)
        assert kinds[step.learner_kind] == step.learner_kind_p == max(kinds.values())
    assert all(step.matches for step in services.replay(participant))
    changed.learner_kind_p += 1e-6
    changed.save()
    last.learner_kind = "nobody"
    last.save()
    assert [step.matches for step in services.replay(participant)] == [True] * 5 + [False] * 2
    assert all(step.is_same_image for step in services.replay(participant))
    # Steps of before it was stored, and teachers that weigh no kinds, have none.
    TeachingStep.objects.update(learner_kind="", learner_kind_p=None)
    assert all(step.matches for step in services.replay(participant))
    assert {step.learner_kind for step in TeachingStep.objects.of(taught_by("rt"))} == {""}


def test_the_last_bits_of_a_belief_may_differ_between_machines():
    step = services.replay(taught_by("jedi", answers=4))[-1]
    step.stored.probabilities[0] += 1e-12
    assert step.matches


def test_choices_of_an_earlier_version_of_the_teacher_are_not_compared():
    participant = taught_by("tracked", answers=6)
    steps = TeachingStep.objects.of(participant)
    assert {step.teacher_version for step in steps} == {Tracked.version}
    steps.filter(step__lte=2).update(teacher_version=1, learner_kind="exemplar", learner_kind_p=0.4)
    assert [step.is_comparable for step in services.replay(participant)] == [False] * 2 + [True] * 5
