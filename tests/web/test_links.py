"""The secret of a worker's link: a database that was stolen has none of them."""

import pytest
from django.conf import settings
from django.test import Client, override_settings

from studies.keys import session_tokens
from studies.models import Participant
from tests.builders import database_snapshot, make_study
from tests.worker import Worker

pytestmark = pytest.mark.django_db

NEW_KEY = "a new key of the server"


def opens(token: str) -> bool:
    statuses = {
        Client().get(f"/w/{token}/").status_code,
        Client().get(f"/api/sessions/{token}/").status_code,
    }
    assert statuses in ({200}, {404})
    return statuses == {200}


def test_nothing_in_the_database_lets_anybody_answer_for_a_worker():
    worker = Worker(make_study(), PROLIFIC_PID="p")
    worker.go_to("teaching")
    assert len(worker.token) * 6 >= 128
    assert opens(worker.token)
    assert worker.token not in str(database_snapshot())
    person = worker.participant
    for stored in (person.token_digest, person.code, str(person.seed), str(person.pk)):
        assert not opens(stored)
    with override_settings(SECRET_KEY="somebody else's"):
        [forged] = session_tokens(f"{person.code} {person.seed}")
    assert not opens(forged)


def test_who_comes_back_from_the_recruiter_gets_the_same_link():
    study = make_study()
    worker = Worker(study, PROLIFIC_PID="p")
    assert Worker(study, PROLIFIC_PID="p").token == worker.token
    page = Client().post(f"/s/{study.slug}/?PROLIFIC_PID=p")
    assert page["Location"] == f"/w/{worker.token}/"


def test_links_outlive_a_key_that_is_named_as_an_earlier_one():
    study = make_study()
    worker = Worker(study, PROLIFIC_PID="p")
    with override_settings(SECRET_KEY=NEW_KEY, SECRET_KEY_FALLBACKS=[settings.SECRET_KEY]):
        assert opens(worker.token)
        assert Worker(study, PROLIFIC_PID="p").token == worker.token


def test_a_link_whose_key_is_gone_works_until_the_recruiter_sends_the_worker_again():
    study = make_study()
    worker = Worker(study, PROLIFIC_PID="p")
    worker.go_to("teaching")
    with override_settings(SECRET_KEY=NEW_KEY):
        assert opens(worker.token)
        door = Client().get(f"/s/{study.slug}/?PROLIFIC_PID=p")
        assert worker.token not in door.content.decode()
        again = Worker(study, PROLIFIC_PID="p")
        assert again.token != worker.token
        assert again.task()["kind"] == "teaching"
        assert not opens(worker.token)
    assert Participant.objects.count() == 1
