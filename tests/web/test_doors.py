"""The study's public link: which door opens to whom. Looking creates nothing."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from studies.models import Participant, Study
from tests.builders import database_snapshot, make_dataset, make_study

pytestmark = pytest.mark.django_db

PROLIFIC = "?PROLIFIC_PID=5f1e&STUDY_ID=60aa&SESSION_ID=61bb"
MTURK = "?workerId=A1&assignmentId=3C4D&hitId=3E5F"
# Each way in: the link's parameters; the anonymous one is known by its cookie alone.
WAYS = {"cookie": "", "Prolific": PROLIFIC, "Mechanical Turk": MTURK}


@pytest.fixture
def study() -> Study:
    return make_study(dataset=make_dataset(teaching=12, evaluation=6))


@pytest.fixture(params=WAYS)
def address(request, study) -> str:
    return f"/s/{study.slug}/{WAYS[request.param]}"


def door(client: Client, address: str) -> str:
    before = database_snapshot()
    reply = client.get(address)
    assert reply.status_code == 200
    assert database_snapshot() == before, "a GET wrote something"
    return re.search(r'data-door="(\w+)"', reply.content.decode())[1]


def enter(client: Client, address: str) -> Participant:
    reply = client.post(address)
    assert reply.status_code == 302
    return Participant.objects.with_token(reply["Location"].split("/")[2]).get()


def test_a_new_worker_can_start_and_comes_to_the_session(address):
    client = Client()
    assert door(client, address) == "start"
    participant = enter(client, address)
    page = client.get(participant.get_absolute_url())
    assert page.status_code == 200
    assert f"/api/sessions/{participant.token}/" in page.content.decode()


def test_a_worker_who_comes_back_resumes_the_same_session(address):
    client = Client()
    first = enter(client, address)
    assert door(client, address) == "resume"
    assert enter(client, address) == first
    assert Participant.objects.count() == 1


def test_the_recruiters_ids_are_kept(study):
    Client().post(f"/s/{study.slug}/{PROLIFIC}")
    Client().post(f"/s/{study.slug}/{MTURK}")
    fields = ["recruiter", "external_id", "external_study", "external_session"]
    assert list(Participant.objects.order_by("pk").values_list(*fields)) == [
        ("prolific", "5f1e", "60aa", "61bb"),
        ("mturk", "A1", "3E5F", "3C4D"),
    ]


def test_an_external_id_resumes_on_another_device(study):
    first = enter(Client(), f"/s/{study.slug}/{PROLIFIC}")
    other_visit = PROLIFIC.replace("61bb", "another-session")
    assert enter(Client(), f"/s/{study.slug}/{other_visit}") == first


def test_the_same_id_of_another_recruiter_or_study_is_another_person(study):
    people = {
        enter(Client(), f"/s/{study.slug}/?PROLIFIC_PID=same").pk,
        enter(Client(), f"/s/{study.slug}/?workerId=same&assignmentId=x").pk,
        enter(Client(), f"/s/{make_study(dataset=study.dataset).slug}/?PROLIFIC_PID=same").pk,
    }
    assert len(people) == 3


def test_an_anonymous_worker_without_the_cookie_is_a_new_one(study):
    first = enter(Client(), f"/s/{study.slug}/")
    assert enter(Client(), f"/s/{study.slug}/") != first


def test_a_cookie_opens_no_session_of_another_study_or_recruiter(study):
    client = Client()
    stranger = enter(Client(), f"/s/{study.slug}/{PROLIFIC}")
    client.cookies[f"jedi_session_{study.pk}"] = stranger.token
    assert door(client, f"/s/{study.slug}/") == "start"
    client.cookies[f"jedi_session_{study.pk}"] = '"\\000"'
    assert door(client, f"/s/{study.slug}/") == "start"


def test_the_cookie_is_hidden_from_scripts(study):
    client = Client()
    enter(client, f"/s/{study.slug}/")
    cookie = client.cookies[f"jedi_session_{study.pk}"]
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"
    assert f"jedi_session_{study.pk}" not in enter_cookies(study)


def enter_cookies(study: Study) -> set[str]:
    client = Client()
    enter(client, f"/s/{study.slug}/{PROLIFIC}")
    return set(client.cookies)


@pytest.mark.parametrize("state", ["draft", "paused", "closed"])
def test_a_study_that_is_not_open_says_so_and_lets_nobody_in(study, address, state):
    Study.objects.update(state=state)
    client = Client()
    assert door(client, address) == state
    before = database_snapshot()
    reply = client.post(address)
    assert reply.status_code == 200
    assert f'data-door="{state}"' in reply.content.decode()
    assert database_snapshot() == before


@pytest.mark.parametrize("state", ["paused", "closed"])
def test_a_worker_under_way_can_finish_when_the_study_takes_nobody_new(address, state):
    client = Client()
    enter(client, address)
    Study.objects.update(state=state)
    assert door(client, address) == "resume"


def test_a_full_study_says_so_but_lets_its_own_workers_back_in(study, address):
    Study.objects.update(max_participants=1)
    client = Client()
    enter(client, address)
    assert door(Client(), f"/s/{study.slug}/?PROLIFIC_PID=late") == "full"
    reply = Client().post(f"/s/{study.slug}/?PROLIFIC_PID=late")
    assert 'data-door="full"' in reply.content.decode()
    assert door(client, address) == "resume"
    assert Participant.objects.count() == 1


@pytest.mark.parametrize("stage", ["done", "declined", "abandoned"])
def test_a_worker_whose_session_has_ended_is_told_how(address, stage):
    client = Client()
    enter(client, address)
    Participant.objects.update(stage=stage)
    assert door(client, address) == {"abandoned": "expired"}.get(stage, stage)
    assert enter(client, address)
    assert Participant.objects.count() == 1


def test_a_worker_who_stayed_away_too_long_is_told_so(address):
    client = Client()
    enter(client, address)
    Participant.objects.update(last_seen_at=timezone.now() - timedelta(hours=25))
    assert door(client, address) == "expired"


def test_a_preview_shows_the_study_and_starts_nothing(study):
    client = Client()
    preview = f"/s/{study.slug}/?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&workerId=A1&hitId=H"
    assert door(client, preview) == "preview"
    before = database_snapshot()
    assert 'data-door="preview"' in client.post(preview).content.decode()
    assert database_snapshot() == before


def test_an_unknown_study_gets_a_friendly_404():
    reply = Client().get("/s/no-such-study/")
    assert reply.status_code == 404
    assert "There is nothing at this address" in reply.content.decode()


def test_parameters_are_trimmed_and_never_break_the_page(study):
    for value in (
        "%20%20",
        "x" * 5000,
        "%00",
        "a%00b",
        "%ed%a0%80",
        "%3Cscript%3E",
        "%F0%9F%A6%8B",
    ):
        address = f"/s/{study.slug}/?PROLIFIC_PID={value}"
        assert door(Client(), address) == "start"
        participant = enter(Client(), address)
        assert len(participant.external_id) <= 120
        assert "\0" not in participant.external_id
        assert b"<script>" not in Client().get(address).content


def test_the_texts_of_a_researcher_are_shown_as_text(study):
    Study.objects.update(title="<b>bold</b>", welcome="<script>alert(1)</script>")
    page = Client().get(f"/s/{study.slug}/").content
    assert b"<script>alert" not in page
    assert b"<b>bold" not in page


def test_the_button_works_in_a_frame_without_cookies(study):
    client = Client(enforce_csrf_checks=True)
    reply = client.post(f"/s/{study.slug}/?workerId=W1&assignmentId=A1&hitId=H1")
    assert reply.status_code == 302
    assert Participant.objects.get().external_id == "W1"


@pytest.mark.parametrize("method", ["put", "patch", "delete"])
def test_pages_refuse_other_methods(study, method):
    participant = enter(Client(), f"/s/{study.slug}/")
    for address in (f"/s/{study.slug}/", participant.get_absolute_url(), "/", "/healthz"):
        assert getattr(Client(), method)(address).status_code == 405


def test_a_nul_in_an_address_or_a_parameter_is_no_error_on_either_database(site):
    slug = site.make_study()
    client = site.client()
    assert client.get(f"/s/{slug}/?PROLIFIC_PID=%00").status_code == 200
    assert client.get(f"/s/{slug}/?workerId=a%00&assignmentId=b").status_code == 200
    for path in ("/w/%00/", "/w/a%00/images/b%00", "/api/sessions/%00/", f"/s/%00{slug}/"):
        assert client.get(path).status_code == 404
    [(number,)] = site.rows("SELECT id FROM studies_study WHERE slug = %s", slug)
    cookie = {"Cookie": f'jedi_session_{number}="\\000"'}
    assert client.get(f"/s/{slug}/", headers=cookie).status_code == 200


def test_the_deployed_home_page_and_health_check_answer(site):
    assert site.client().get("/").status_code == 200
    assert site.client().get("/healthz").content == b"ok\n"
