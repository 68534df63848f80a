"""Withdrawing: the worker stops, and what was answered goes or stays, as the study said."""

import pytest
from django.core.exceptions import ObjectDoesNotExist
from django.db import models
from django.test import Client

from evaluation.models import EvaluationItem
from memorytest.models import MemoryRound
from studies import sessions
from studies.answers import record_answer
from studies.errors import SessionOver
from studies.models import AuditEntry, Participant, SessionEvent, Study
from studies.withdrawal import KEPT, deletes, withdraw
from teaching.models import TeachingStep
from tests.builders import make_study
from tests.worker import Worker

pytestmark = pytest.mark.django_db
TASKS = (MemoryRound, TeachingStep, EvaluationItem)
# Too long to stand by chance in a digest or a code.
RECRUITERS_ID = "5f1e" * 6


def worker_at(stage: str, **fields) -> Worker:
    worker = Worker(make_study(arms="rt", **fields), PROLIFIC_PID=RECRUITERS_ID, SESSION_ID="s1")
    worker.go_to(stage)
    SessionEvent.objects.create(participant=worker.participant, kind="opened", position=1)
    return worker


def rows_of(participant: Participant) -> list[int]:
    mine = {"participant": participant}
    return [model.objects.filter(**mine).count() for model in (*TASKS, SessionEvent)]


def test_withdrawing_deletes_everything_but_a_bare_row():
    worker = worker_at("evaluation")
    before = worker.participant
    assert all(rows_of(before))
    reply = worker.post("withdrawal", {})
    assert reply.status_code == 200
    task = reply.json()["task"]
    assert (task["outcome"], task["keeps_answers"]) == ("withdrawn", False)

    after = worker.participant
    assert rows_of(after) == [0, 0, 0, 0]
    for field in Participant._meta.concrete_fields:
        value = getattr(after, field.attname)
        if field.name not in KEPT:
            assert value == field.get_default(), field.name
        elif field.name not in {"stage", "last_seen_at", "finished_at", "seal"}:
            assert value == getattr(before, field.attname), field.name
    assert after.stage == "withdrawn"
    assert (after.arm, after.ticket, after.code) == ("rt", 0, before.code)
    assert after.finished_at is not None


def test_withdrawing_keeps_the_answers_where_the_study_said_so():
    worker = worker_at("teaching", on_withdrawal=Study.Withdrawal.KEEP)
    before = rows_of(worker.participant)
    task = worker.post("withdrawal", {}).json()["task"]
    assert (task["outcome"], task["keeps_answers"]) == ("withdrawn", True)
    after = worker.participant
    assert rows_of(after) == before
    assert (after.stage, after.external_id) == ("withdrawn", RECRUITERS_ID)
    assert after.memory_span is not None


def test_the_promise_that_stood_when_somebody_joined_is_kept():
    worker = worker_at("memory", on_withdrawal=Study.Withdrawal.KEEP)
    study = worker.participant.study
    study.on_withdrawal = Study.Withdrawal.DELETE
    study.save()
    assert not deletes(worker.participant)
    assert worker.client.get(f"/api/sessions/{worker.token}/withdrawal/").json() == {
        "deletes": False
    }
    assert deletes(Worker(study).participant)


def test_looking_at_what_a_withdrawal_would_do_does_nothing():
    worker = worker_at("teaching")
    reply = worker.client.get(f"/api/sessions/{worker.token}/withdrawal/")
    assert reply.json() == {"deletes": True}
    assert worker.participant.stage == "teaching"


def test_withdrawing_again_changes_nothing_and_gets_the_same_reply():
    worker = worker_at("teaching")
    first = worker.post("withdrawal", {})
    moment = worker.participant.finished_at
    again = worker.post("withdrawal", {})
    assert (again.status_code, again.json()) == (200, first.json())
    assert worker.participant.finished_at == moment
    assert AuditEntry.objects.count() == 1
    assert worker.get().json() == first.json()


@pytest.mark.parametrize("stage", ["done", "declined", "abandoned"])
def test_a_session_that_has_ended_cannot_be_withdrawn_from(stage):
    worker = worker_at("teaching")
    Participant.objects.update(stage=stage)
    assert worker.post("withdrawal", {}).status_code == 410
    assert worker.participant.stage == stage
    assert all(rows_of(worker.participant)[:2])


def test_an_answer_after_the_withdrawal_is_refused():
    for setting in Study.Withdrawal.values:
        worker = worker_at("teaching", on_withdrawal=setting)
        task = worker.task()
        worker.post("withdrawal", {})
        reply = worker.answer(position=task["position"], label="wild")
        assert (reply.status_code, reply.json()["error"]["code"]) == (410, "session_over")
        assert worker.answer(position=1, agree=True).status_code == 410
        assert worker.expose(2).status_code == 410


@pytest.mark.parametrize("stage", ["memory", "teaching", "evaluation"])
def test_an_answer_that_is_under_way_meanwhile_writes_nothing(stage):
    worker = worker_at(stage)
    stale = sessions.find(worker.token)
    payload = worker.obvious(worker.get().json())
    withdraw(worker.participant)
    with pytest.raises(SessionOver):
        record_answer(stale, stale.position, payload)
    with pytest.raises(SessionOver):
        sessions.session_state(stale)
    assert rows_of(worker.participant) == [0, 0, 0, 0]


def test_a_task_that_is_missing_for_another_reason_is_not_taken_for_a_withdrawal():
    worker = worker_at("memory")
    MemoryRound.objects.all().delete()
    with pytest.raises(ObjectDoesNotExist):
        sessions.session_state(sessions.find(worker.token))


def test_a_withdrawal_is_on_record_without_naming_the_person():
    worker = worker_at("memory")
    worker.post("withdrawal", {})
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.actor, entry.actor_name) == ("withdraw", None, "the worker")
    assert entry.study == worker.participant.study
    assert worker.participant.code in entry.detail
    assert RECRUITERS_ID not in entry.detail


def test_the_place_of_who_withdrew_is_free_again():
    study = make_study(max_participants=1)
    worker = Worker(study)
    assert study.is_full()
    worker.post("withdrawal", {})
    assert not study.is_full()


def test_a_stranger_withdraws_nobody():
    for method in ("get", "post"):
        reply = getattr(Client(), method)("/api/sessions/nobody/withdrawal/")
        assert reply.status_code == 404


def test_coming_back_by_the_link_tells_who_withdrew_so():
    study = make_study(on_withdrawal=Study.Withdrawal.KEEP)
    client = Client()
    page = client.post(f"/s/{study.slug}/")
    token = page["Location"].split("/")[2]
    client.post(f"/api/sessions/{token}/withdrawal/")
    text = client.get(f"/s/{study.slug}/").content.decode()
    assert "You have withdrawn from this study" in text
    assert "entry-begin" not in text


def test_every_row_that_belongs_to_a_participant_goes_with_it_or_says_why_not():
    """What is not deleted with a participant outlives a withdrawal: nothing may do so by accident."""
    kept = [
        relation.related_model
        for relation in Participant._meta.related_objects
        if relation.on_delete is not models.CASCADE
    ]
    assert kept == []
