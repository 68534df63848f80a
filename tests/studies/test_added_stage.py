"""A made-up stage, written in one file and named in the settings: sessions, pages and the API take it in."""

import re
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from desk.monitor import live_context
from studies import stages
from studies.head_counts import outcome_groups
from studies.models import Participant, Study
from studies.services import expire_sessions
from studies.withdrawal import withdraw
from tests.builders import make_dataset, make_study
from tests.quiz.models import Question, QuizStage
from tests.rehearsal.test_rehearsal import take_part
from tests.worker import Worker

pytestmark = pytest.mark.django_db


@pytest.fixture(params=[1, 2, 4], ids=["after-consent", "before-teaching", "at-the-end"])
def place(request, settings) -> Iterator[int]:
    """Where in the flow the quiz stands."""
    with_quiz = list(settings.JEDI_STAGES)
    with_quiz.insert(request.param, "tests.quiz.models.QuizStage")
    settings.JEDI_STAGES = with_quiz
    stages.clear_caches()
    yield request.param
    stages.clear_caches()


@pytest.fixture
def study(place) -> Study:
    return make_study(dataset=make_dataset(teaching=12, evaluation=8), arms="rt")


def page(researcher: Client, path: str) -> str:
    reply = researcher.get(path)
    assert reply.status_code == 200
    return reply.content.decode()


def test_a_session_goes_through_it(study, place):
    worker = Worker(study)
    names = [part["name"] for part in worker.get().json()["session"]["stages"]]
    assert names.index("quiz") == place - 1, "consent is not counted"
    assert worker.go_to("quiz")["text"] == "How old is the universe?"
    assert worker.participant.stage == "quiz"
    assert worker.get().json()["session"]["stages"][place - 1] == {
        "name": "quiz", "title": "Questions", "done": 0, "part": 0.0, "total": 2,
    }  # fmt: skip
    assert worker.go_to("done")["outcome"] == "completed"
    assert list(Question.objects.values_list("reply", flat=True)) == ["eight", "eight"]
    participant = worker.participant
    assert (participant.arm, participant.beta) == ("rt", pytest.approx(2 / 3))
    assert participant.teaching_gain is not None


def test_the_workers_page_names_its_module(study):
    text = Client().get(f"/w/{Worker(study).token}/").content.decode()
    link = '<link rel="modulepreload" href="/static/js/worker/quiz.js" data-stage="quiz">'
    assert link in text


def test_a_bot_goes_through_it_at_its_pace(study):
    slept: list[float] = []
    stayed, _ = take_part(study, is_paced=True, sleep=slept.append)
    assert stayed
    participant = study.participants.get()
    assert (participant.stage, participant.purpose) == ("done", "rehearsal")
    assert list(participant.questions.values_list("reply", flat=True)) == ["eight", "eight"]
    assert slept.count(1.2) == 2 + participant.teaching_steps
    assert participant.teaching_gain is not None


def test_its_answers_are_checked_and_taken_once(study):
    worker = Worker(study)
    position = worker.go_to("quiz")["position"]
    for body in ({}, {"reply": ["eight"]}, {"reply": "x" * 61}):
        reply = worker.answer(position=position, **body)
        assert (reply.status_code, set(reply.json()["error"]["fields"])) == (400, {"reply"})
    first = worker.answer(position=position, reply="eight").json()
    assert worker.answer(position=position, reply="eight").json() == first
    assert worker.answer(position=position, reply="six").status_code == 409


def test_the_monitor_shows_who_is_there_since_when_and_how_far(researcher, study):
    worker = Worker(study)
    worker.go_to("quiz")
    worker.answer_current()
    [row] = live_context(study, {"place": "quiz"})["people"]
    assert (row["where"], row["progress"]) == ("General quiz", "question 2 of 2")
    assert row["since"]["at"] <= Question.objects.order_by("position")[0].created_at
    text = page(researcher, f"/admin/studies/study/{study.pk}/monitor/")
    assert "General quiz" in text


@pytest.mark.parametrize("outcome", ["abandoned", "withdrawn"])
def test_who_left_there_came_so_far_and_no_further(study, outcome):
    worker = Worker(study)
    worker.go_to("quiz")
    if outcome == "withdrawn":
        Study.objects.update(on_withdrawal="keep")
        withdraw(worker.participant)
    else:
        Participant.objects.update(last_seen_at=timezone.now() - timedelta(days=9))
        assert expire_sessions(study) == 1
    [group] = outcome_groups(study)
    assert (group.reached, group.outcome) == ("quiz", outcome)


def test_a_preview_begins_there_and_after_it(researcher, study):
    path = f"/admin/studies/study/{study.pk}/preview/"
    text = page(researcher, path)
    assert "General quiz" in text
    assert "The first question of the quiz." in text
    assert preselected(text) == "teaching"
    for stage in [*stages.labels(), "done"]:
        reply = researcher.post(f"{path}open/", {"stage": stage, "teacher": "rt"})
        assert reply.status_code == 302
        token = reply["Location"].split("/")[2]
        assert Client().get(f"/api/sessions/{token}/").json()["session"]["stage"] == stage


@pytest.mark.parametrize("assigns_arm, chosen", [(False, "consent"), (True, "quiz")])
def test_a_preview_begins_where_a_teacher_is_assigned(
    researcher, study, settings, monkeypatch, assigns_arm, chosen
):
    monkeypatch.setattr(QuizStage, "assigns_arm", assigns_arm)
    settings.JEDI_STAGES = [path for path in settings.JEDI_STAGES if "teaching" not in path]
    stages.clear_caches()
    assert preselected(page(researcher, f"/admin/studies/study/{study.pk}/preview/")) == chosen


def preselected(text: str) -> str:
    [name] = re.findall(r'name="stage" value="(\w+)" checked', text)
    return name


def test_the_pages_about_people_name_it(researcher, study):
    worker = Worker(study)
    worker.go_to("quiz")
    people = page(researcher, "/admin/studies/participant/?stage__exact=quiz")
    assert worker.participant.code in people
    assert "general quiz" in people
    own = f"/admin/studies/participant/{worker.participant.pk}/change/"
    assert '<span class="state">general quiz</span>' in page(researcher, own)
    worker.go_to("done")
    text = page(researcher, own)
    assert "<h2>General quiz</h2>" in text
    assert text.count("answered in 1.2") == 2
    assert researcher.get("/admin/studies/participant/?stage__exact=moon").status_code == 200


def test_the_results_are_made_as_ever(researcher, study):
    Worker(study).go_to("done")
    assert "RT" in page(researcher, f"/admin/studies/study/{study.pk}/results/")


def test_the_schema_of_the_api_has_it(study):
    schema = Client().get("/api/schema/", headers={"Accept": "application/vnd.oai.openapi+json"})
    parts = schema.json()["components"]["schemas"]
    assert "reply" in parts["AnswerRequest"]["properties"]
    assert "reply" not in parts["AnswerRequest"]["required"]
    assert any("quiz" in part.get("enum", ()) for part in parts.values())


def test_more_people_in_it_ask_no_more_of_the_monitor(study):
    def cost() -> int:
        with CaptureQueriesContext(connection) as asked:
            live_context(study, {})
        return len(asked)

    Worker(study).go_to("quiz")
    # What is known of the data set is read once in a process.
    cost()
    one = cost()
    for _ in range(3):
        Worker(study).go_to("quiz")
    assert cost() == one
