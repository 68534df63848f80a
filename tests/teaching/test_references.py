"""A picture of each class before the learning part, for studies that ask for it."""

import numpy as np
import pytest

from studies.models import Example
from studies.stages import example_url
from teaching.choice import load_pool
from teaching.models import TeachingStep
from teaching.references import references_of
from tests.builders import make_dataset, make_study
from tests.worker import Worker

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    return make_study(
        dataset=make_dataset(teaching=12, evaluation=6), arms="rt", shows_references=True
    )


def test_there_are_none_unless_a_study_asks_for_them(study):
    plain = make_study(dataset=study.dataset, arms="rt")
    assert "references" not in Worker(plain).go_to("teaching")


def test_the_first_step_carries_them_in_the_order_of_the_buttons_and_no_other_does(study):
    one = study.dataset.classes.get(index=0)
    one.description = "Sharper ears."
    one.save()
    worker = Worker(study)
    task = worker.go_to("teaching")
    names = [reference["name"] for reference in task["references"]]
    assert names == worker.get().json()["session"]["classes"]
    words = {reference["name"]: reference["description"] for reference in task["references"]}
    assert words == {"wild": "Sharper ears.", "domestic": ""}
    assert "references" not in worker.answer_current().json()["task"]
    assert "references" not in worker.task()


def test_the_pictures_are_served_to_whom_they_were_shown_and_to_nobody_else(study):
    worker, other = Worker(study), Worker(study)
    addresses = [one["image"]["url"] for one in worker.go_to("teaching")["references"]]
    for address, example in zip(addresses, shown_to(worker, study), strict=True):
        assert worker.client.get(address).content == study.dataset.image_path(example).read_bytes()
        assert other.client.get(address.replace(worker.token, other.token)).status_code == 404
    theirs = [one["image"]["url"] for one in other.go_to("teaching")["references"]]
    keys = [{address.rpartition("/")[2] for address in some} for some in (addresses, theirs)]
    assert not keys[0] & keys[1]


def shown_to(worker, study) -> list[Example]:
    pictures = references_of(study.dataset)
    return [pictures[study.dataset.class_names.index(name)] for name in worker.participant.classes]


def test_nobody_has_them_before_the_learning_part(study):
    worker = Worker(study)
    worker.go_to("memory")
    me, [first, *_] = worker.participant, references_of(study.dataset)
    address = example_url(me, first)
    assert worker.client.get(address).status_code == 404
    worker.go_to("teaching")
    assert worker.client.get(address).status_code == 200


def test_the_typical_image_stands_for_a_class_until_somebody_chooses_another(study):
    pool = load_pool(study.dataset).pool
    for label, example in enumerate(references_of(study.dataset)):
        own = [row for row in range(pool.n) if (pool.labels[row] > 0) == label]
        mean = pool.features[own].mean(axis=0)
        distances = [np.linalg.norm(pool.features[row] - mean) for row in own]
        assert example.label == label
        assert example.pool_index == own[int(np.argmin(distances))]
    chosen = study.dataset.examples.filter(split="teaching", label=1).last()
    study.dataset.classes.filter(index=1).update(reference=chosen)
    assert references_of(study.dataset)[1] == chosen


def test_an_image_that_stood_for_its_class_is_no_first_showing(study):
    dataset = study.dataset
    every = make_study(dataset=dataset, arms="eer", shows_references=True, other_steps=12)
    worker = Worker(every)
    worker.go_to("evaluation")
    again = TeachingStep.objects.filter(participant=worker.participant, is_first_showing=False)
    assert {step.example for step in again} == set(references_of(dataset))
    worker.go_to("done")
    first = TeachingStep.objects.filter(participant=worker.participant, is_first_showing=True)
    right = [step.is_correct for step in first]
    assert worker.participant.first_seen_accuracy == pytest.approx(sum(right) / 10)
    assert worker.participant.unique_examples == 12


def test_who_joined_before_the_setting_existed_never_sees_them(study):
    worker = Worker(study)
    version = worker.participant.version
    del version.configuration["shows_references"]
    version.save()
    study.welcome = "Another version."
    study.save()
    assert "references" not in worker.go_to("teaching")
