"""The learning rate follows the data set, unless a person set another."""

import pytest

from studies.models import Study
from studies.rates import factor_between, rate_question, rate_sentence
from teaching.choice import learning_rate_of, teacher_of
from tests.builders import make_dataset, make_study
from tests.worker import Worker

pytestmark = pytest.mark.django_db


def dataset_with(rate: float):
    dataset = make_dataset(teaching=12, evaluation=6)
    dataset.learning_rate = rate
    dataset.save()
    return dataset


def test_a_study_teaches_at_the_rate_that_its_data_set_suggests():
    study = make_study(dataset=dataset_with(0.894))
    assert study.learning_rate is None
    assert learning_rate_of(study).initial == 0.894
    assert rate_sentence(study).endswith("η₀ = 0.894, as the data set suggests.")


def test_another_data_set_brings_its_own_rate():
    study = make_study(dataset=dataset_with(0.894))
    study.dataset = dataset_with(2.02)
    study.save()
    assert learning_rate_of(study).initial == 2.02


def test_a_rate_that_was_set_stays_whatever_the_data_set_suggests():
    study = make_study(dataset=dataset_with(0.894), learning_rate=0.5)
    study.dataset = dataset_with(2.02)
    study.save()
    assert learning_rate_of(study).initial == 0.5
    assert "η₀ = 0.5, where the data set suggests 2.02" in rate_sentence(study)


def test_who_joined_is_taught_at_the_rate_of_that_time():
    study = make_study(dataset=dataset_with(0.894), arms="jedi")
    worker = Worker(study)
    worker.go_to("teaching")
    changed = Study.objects.get(pk=study.pk)
    changed.dataset = dataset_with(2.02)
    changed.save()
    assert teacher_of(worker.participant).learning_rate.initial == 0.894
    numbers = [version.configuration["learning_rate"] for version in study.versions.all()]
    assert numbers == [0.894, 2.02]


def test_setting_the_suggested_rate_by_hand_changes_nothing_for_sessions():
    study = make_study(dataset=dataset_with(0.894))
    before = study.configuration()
    study.learning_rate = 0.894
    assert study.configuration() == before


@pytest.mark.parametrize(
    ("rate", "suggested", "words"),
    [
        (0.03, 0.894, "29.8 times smaller than the 0.894"),
        (9.0, 0.894, "10.1 times as large as the 0.894"),
        (0.3, 0.894, ""),
        (2.6, 0.894, ""),
        (0.25, 0.894, "3.58 times smaller"),
        (2.7, 0.894, "3.02 times as large"),
    ],
)
def test_a_rate_is_questioned_beyond_a_factor_of_three(rate, suggested, words):
    question = rate_question(make_study(dataset=dataset_with(suggested), learning_rate=rate))
    assert words in question
    assert bool(question) == bool(words)


def test_the_factor_is_the_same_in_both_directions():
    assert factor_between(2.0, 0.5) == factor_between(0.5, 2.0) == 4.0
