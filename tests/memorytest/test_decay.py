"""The β that a person gets by the study's mapping: what it rests on, and that it stays."""

import pytest

from memorytest.decay import measure
from memorytest.scoring import memory_decay
from memorytest.shrinkage import Shrinkage, estimate_shrinkage
from studies.models import Participant
from teaching.services import replay
from tests.builders import make_dataset, make_participant, make_study
from tests.worker import Worker

pytestmark = pytest.mark.django_db
TEST = {"memory_trials": 3, "memory_max_length": 9}


@pytest.fixture(scope="module")
def dataset(make_once):
    return make_once(lambda: make_dataset(teaching=12, evaluation=6))


def measured(study, lengths, **fields):
    person = make_participant(study)
    for name, value in (measure(person, lengths) | fields).items():
        setattr(person, name, value)
    person.save()
    return person


def test_each_mapping_gives_its_beta_and_says_which_it_was(dataset):
    given = {}
    for mapping, fixed in (("paper", None), ("shrunken", None), ("fixed", 0.4), ("fixed", 0.0)):
        study = make_study(dataset=dataset, beta_mapping=mapping, fixed_beta=fixed, **TEST)
        person = measured(study, [8, 8, 6])
        assert (person.memory_span, person.beta_mapping) == (8.0, mapping)
        given[mapping, fixed] = person.beta
        assert bool(person.beta_inputs) == (mapping == "shrunken")
    assert given["paper", None] == 0.875
    assert (given["fixed", 0.4], given["fixed", 0.0]) == (0.4, 0.0)
    assert given["shrunken", None] == memory_decay(estimate_shrinkage({}, 3).shrunken(8.0)) < 0.875


def test_a_shrunken_beta_can_be_worked_out_again_from_what_is_stored(dataset):
    study = make_study(dataset=dataset, beta_mapping="shrunken", **TEST)
    for lengths in ([3, 4, 4], [7, 5, 6], [7, 5, 6], [9, 9, 9]):
        measured(study, lengths)
    person = Participant.objects.get(pk=measured(study, [2, 3, 2]).pk)
    inputs = person.beta_inputs
    shrinkage = Shrinkage(3, *(inputs[name] for name in ("people", "mean", "within", "between")))
    assert shrinkage == estimate_shrinkage({(3, 4, 4): 1, (7, 5, 6): 2, (9, 9, 9): 1}, 3)
    assert (inputs["people"], inputs["weight"]) == (4, shrinkage.weight)
    assert person.beta == memory_decay(shrinkage.shrunken(2.5)) > memory_decay(2.5)


def test_only_people_who_count_and_took_the_same_test_enter(dataset):
    study = make_study(dataset=dataset, beta_mapping="shrunken", **TEST)
    measured(study, [4, 4, 4])
    measured(study, [9, 9, 9], is_excluded=True)
    measured(study, [9, 9, 9], purpose="pilot")
    measured(study, [9, 9, 9], stage="withdrawn")
    make_participant(study)
    study.memory_extra_seconds = 5
    study.save()
    measured(study, [9, 9, 9])
    study.memory_extra_seconds, study.welcome = 1, "Other words for the same test."
    study.save()
    assert measured(study, [5, 5, 5]).beta_inputs["people"] == 1
    assert measured(study, [5, 5, 5]).beta_inputs["people"] == 2


def test_whoever_was_tested_keeps_beta_and_replays_when_the_study_and_its_people_change(dataset):
    study = make_study(dataset=dataset, beta_mapping="shrunken", arms="jedi", **TEST)
    worker = Worker(study)
    while worker.participant.stage != "evaluation":
        worker.answer_current()
    before = worker.participant
    assert before.beta_mapping == "shrunken"
    assert before.beta == memory_decay(before.beta_inputs["shrunken_span"])
    study.refresh_from_db()
    study.beta_mapping, study.fixed_beta = "fixed", 0.1
    study.full_clean()
    study.save()
    newer = Worker(study)
    while newer.participant.stage != "evaluation":
        newer.answer_current()
    after = worker.participant
    assert (after.beta, after.beta_inputs) == (before.beta, before.beta_inputs)
    assert (newer.participant.beta, newer.participant.beta_mapping) == (0.1, "fixed")
    for person in (after, newer.participant):
        steps = replay(person)
        assert len(steps) > 5 and all(step.matches for step in steps)
