"""What sessions are made of is frozen when people join; an edit is a new version."""

import pytest

from studies.models import Study, StudyVersion
from studies.models.versions import configuration_hash
from tests.builders import make_dataset, make_participant, make_study
from tests.worker import Worker

OTHER_VALUES = {
    "seed": 12, "memory_trials": 3, "memory_max_length": 4, "arms": "rt,jedi", "cold_start": 2,
    "other_steps": 5, "learning_rate": 0.5, "repeat_window": 1, "evaluation_size": 8,
    "consent": "Do you still agree?", "welcome": "Hello again.",
}  # fmt: skip


@pytest.mark.django_db
def test_a_study_that_nobody_joined_has_no_version():
    study = make_study()
    study.other_steps = 7
    study.save()
    assert not StudyVersion.objects.exists()


@pytest.mark.django_db
def test_the_first_participant_freezes_the_settings():
    study = make_study()
    first, second = make_participant(study), make_participant(study)
    version = StudyVersion.objects.get()
    assert (version.number, first.version, second.version) == (1, version, version)
    assert version.configuration == study.configuration()
    assert version.hash == configuration_hash(study.configuration())


@pytest.mark.django_db
@pytest.mark.parametrize(("field", "value"), OTHER_VALUES.items())
def test_an_edit_makes_a_version_and_people_under_way_keep_theirs(field, value):
    study = make_study(learning_rate=0.2)
    before = make_participant(study)
    old = getattr(study, field)
    study.refresh_from_db()
    setattr(study, field, value)
    study.full_clean()
    study.save()
    after = make_participant(study)
    before = type(before).objects.get(pk=before.pk)
    assert (before.version.number, after.version.number) == (1, 2)
    assert (getattr(before.study_as_joined, field), getattr(after.study_as_joined, field)) == (
        old,
        value,
    )
    assert before.version.hash != after.version.hash


@pytest.mark.django_db
def test_what_no_session_is_made_of_changes_without_a_version():
    study = make_study()
    make_participant(study)
    study.refresh_from_db()
    study.state, study.max_participants, study.completion_code = "closed", 7, "C0FFEE"
    study.save()
    assert StudyVersion.objects.count() == 1


@pytest.mark.django_db
def test_the_order_of_settings_does_not_change_their_hash():
    configuration = make_study().configuration()
    assert configuration_hash(dict(reversed(configuration.items()))) == configuration_hash(
        configuration
    )


@pytest.mark.django_db
def test_a_session_goes_through_with_the_settings_and_images_it_began_with():
    """A larger evaluation half-way would leave a session without a next image."""
    study = make_study(evaluation_size=6)
    worker = Worker(study)
    worker.go_to("teaching")
    changed = Study.objects.get(pk=study.pk)
    changed.evaluation_size, changed.dataset, changed.seed = 10, make_dataset(seed=8), 99
    changed.full_clean()
    changed.save()
    assert worker.go_to("done")["outcome"] == "completed"
    items = list(worker.participant.evaluationitems.select_related("example"))
    assert {item.example.dataset_id for item in items} == {study.dataset_id}
    assert len(items) == 6
    newcomer = Worker(study)
    newcomer.go_to("done")
    items = list(newcomer.participant.evaluationitems.select_related("example"))
    assert {item.example.dataset_id for item in items} == {changed.dataset_id}
    assert len(items) == 10


@pytest.mark.django_db
def test_a_form_that_was_opened_earlier_sets_no_ticket_and_no_version_back():
    study = make_study(arms="jedi,rt")
    opened_earlier = Study.objects.get(pk=study.pk)
    Worker(study).go_to("teaching")
    opened_earlier.other_steps = 5
    opened_earlier.save()
    worker = Worker(study)
    worker.go_to("teaching")
    assert (worker.participant.ticket, worker.participant.version.number) == (1, 2)
