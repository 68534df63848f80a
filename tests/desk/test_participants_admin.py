"""Participants in the admin: everything can be read and nothing can be changed."""

import pytest
from django.test import Client

from studies.models import Participant
from tests.builders import database_snapshot, make_study
from tests.worker import Worker

pytestmark = pytest.mark.django_db


@pytest.fixture
def finished() -> Participant:
    worker = Worker(make_study(arms="rt"), PROLIFIC_PID="5f1e")
    worker.go_to("done")
    return worker.participant


@pytest.mark.parametrize(("gain", "shown"), [(0.25, "+25.0"), (-0.125, "-12.5"), (0.0, "+0.0")])
def test_the_list_shows_where_everybody_stands(researcher, finished, gain, shown):
    Participant.objects.update(teaching_gain=gain)
    page = researcher.get("/admin/studies/participant/").content.decode()
    assert finished.code in page
    assert "rt" in page
    assert shown in page
    assert f"{100 * finished.evaluation_accuracy:.1f}" in page
    assert f"{finished.beta:.3f}" in page
    filtered = researcher.get("/admin/studies/participant/?stage__exact=memory").content.decode()
    assert finished.code not in filtered


def test_the_page_of_a_participant_shows_the_whole_history(researcher, finished):
    page = researcher.get(f"/admin/studies/participant/{finished.pk}/change/").content.decode()
    for step in finished.teachingsteps.all():
        assert step.example.key in page
    for row in finished.memoryrounds.all():
        assert row.pictures[0] in page
    answered = finished.teachingsteps.count() + finished.evaluationitems.count()
    # Each has the true class and the class that was answered.
    assert page.count("wild") + page.count("domestic") >= 2 * answered


def test_the_secret_of_a_session_is_not_on_its_page(researcher, finished):
    for address in ("", f"{finished.pk}/change/"):
        page = researcher.get(f"/admin/studies/participant/{address}").content.decode()
        assert finished.token not in page


def test_histories_can_be_neither_changed_nor_deleted_nor_invented(researcher, finished):
    before = database_snapshot(but=["django_session", "django_admin_log"])
    address = f"/admin/studies/participant/{finished.pk}"
    assert researcher.post(f"{address}/change/", {"stage": "consent"}).status_code == 403
    assert researcher.post(f"{address}/delete/", {"post": "yes"}).status_code == 403
    assert researcher.post("/admin/studies/participant/add/", {}).status_code == 403
    assert researcher.post(
        "/admin/studies/participant/",
        {"action": "delete_selected", "_selected_action": [finished.pk], "post": "yes"},
    ).status_code in {200, 302, 403}
    assert database_snapshot(but=["django_session", "django_admin_log"]) == before


def test_a_study_with_participants_cannot_be_deleted(researcher, finished):
    address = f"/admin/studies/study/{finished.study.pk}/delete/"
    researcher.post(address, {"post": "yes"})
    assert Participant.objects.filter(pk=finished.pk).exists()


def test_strangers_are_sent_to_the_sign_in(finished):
    for address in ("", "studies/participant/", f"studies/participant/{finished.pk}/change/"):
        reply = Client().get(f"/admin/{address}")
        assert reply.status_code == 302
        assert reply["Location"].startswith("/admin/login/")
