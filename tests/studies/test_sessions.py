"""What a step reads: everything that may change from the database, and only what cannot from memory."""

import pytest

from studies.classes import describe_classes
from studies.models import Participant
from tests.builders import make_study
from tests.worker import Worker

pytestmark = pytest.mark.django_db


def test_a_step_follows_the_study_as_it_is_and_the_settings_as_they_were():
    study = make_study(min_look_ms=700)
    early = Worker(study)
    early.go_to("teaching")
    study.title, study.min_look_ms = "Renamed", 1900
    study.save()
    late = Worker(study)
    late.go_to("teaching")
    for worker, expected in ((early, 700), (late, 1900)):
        reply = worker.answer_current().json()
        assert (reply["session"]["study"], reply["feedback"]["min_look_ms"]) == (
            "Renamed",
            expected,
        )
    study.session_hours = 1
    study.save()
    Participant.objects.update(last_seen_at=early.participant.created_at.replace(year=2000))
    assert early.get().status_code == late.get().status_code == 410


def test_a_preview_reads_the_names_of_classes_as_they_are_now():
    study = make_study()
    worker = Worker(study)
    Participant.objects.update(purpose=Participant.Purpose.PREVIEW)
    assert set(worker.get().json()["session"]["classes"]) == {"wild", "domestic"}
    classes = list(study.dataset.classes.all())
    classes[0].display_name = "untamed"
    describe_classes(study.dataset, classes)
    assert set(worker.get().json()["session"]["classes"]) == {"untamed", "domestic"}


def test_names_that_a_person_reads_stay_until_nobody_is_left():
    study = make_study()
    person = Worker(study)
    assert set(person.get().json()["session"]["classes"]) == {"wild", "domestic"}
    classes = list(study.dataset.classes.all())
    classes[0].display_name = "untamed"
    describe_classes(study.dataset, classes)
    assert set(person.get().json()["session"]["classes"]) == {"wild", "domestic"}
    person.participant.delete()
    describe_classes(study.dataset, classes)
    assert set(Worker(study).get().json()["session"]["classes"]) == {"untamed", "domestic"}
