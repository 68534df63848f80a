"""Deleting people: one, a study's, or the old ones; each leaves a line in the record and nothing else."""

import io
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from desk.models import WebhookDelivery
from desk.privacy import purge_people
from evaluation.models import EvaluationItem
from memorytest.models import MemoryRound
from studies import sessions
from studies.answers import record_answer
from studies.errors import SessionOver
from studies.models import AuditEntry, Dataset, Participant, SessionEvent, Study
from teaching.models import TeachingStep
from tests.builders import make_dataset, make_participant, make_study
from tests.people import browser_of, make_researcher, share, study_address
from tests.worker import Worker

pytestmark = pytest.mark.django_db
BELONGINGS = (MemoryRound, TeachingStep, EvaluationItem, SessionEvent, WebhookDelivery)


@pytest.fixture
def study() -> Study:
    dataset = make_dataset(teaching=12, evaluation=6)
    hook = "https://hooks.example.org/"
    return make_study(dataset=dataset, arms="rt", owner=make_researcher("owner"), webhook_url=hook)


def finished(study: Study, **parameters: str) -> Participant:
    worker = Worker(study, **parameters)
    worker.go_to("done")
    SessionEvent.objects.create(participant=worker.participant, kind="opened", position=1)
    return worker.participant


def rows() -> list[int]:
    return [model.objects.count() for model in BELONGINGS]


def run(**options) -> str:
    output = io.StringIO()
    call_command("purge", stdout=output, **options)
    return output.getvalue()


def test_one_participant_goes_with_everything_and_nobody_else_does(study):
    stays = finished(study)
    before = rows()
    goes = finished(study, PROLIFIC_PID="5f1e")
    assert all(after > number for after, number in zip(rows(), before, strict=True))
    images = sorted(path.name for path in study.dataset.folder.rglob("*"))
    assert "deleted, with all their data: 1" in run(participant=goes.code)
    assert list(Participant.objects.all()) == [stays]
    assert rows() == before
    assert sorted(path.name for path in study.dataset.folder.rglob("*")) == images
    entry = AuditEntry.objects.get(action="delete")
    assert (entry.actor_name, entry.study) == ("command line", study)
    assert goes.code in entry.detail and "5f1e" not in entry.detail


def test_a_study_is_purged_when_nobody_can_join_it(study):
    finished(study)
    other = make_participant(make_study(dataset=study.dataset))
    with pytest.raises(CommandError, match="Pause or close it first"):
        run(study=study.slug)
    Study.objects.filter(pk=study.pk).update(state="closed")
    run(study=study.slug)
    assert list(Participant.objects.all()) == [other]
    assert rows() == [0] * len(BELONGINGS)
    study.refresh_from_db()
    assert (study.next_ticket, Dataset.objects.count()) == (1, 1)
    assert study.versions.count() == 1


@pytest.mark.parametrize(
    ("stage", "days", "goes"),
    [("done", 31, True), ("done", 29, False), ("teaching", 31, True), ("withdrawn", 31, True)],
)
def test_people_of_long_ago_go_by_age(study, stage, days, goes):
    person = make_participant(study)
    seen = timezone.now() - timedelta(days=days)
    Participant.objects.update(stage=stage, last_seen_at=seen)
    run(older_than=30)
    assert Participant.objects.filter(pk=person.pk).exists() is not goes


def test_who_can_still_go_on_is_not_purged_by_age(study):
    Study.objects.update(session_hours=24 * 90)
    make_participant(study)
    Participant.objects.update(last_seen_at=timezone.now() - timedelta(days=60))
    run(older_than=30)
    assert Participant.objects.count() == 1


def test_a_dry_run_counts_and_deletes_nothing(study):
    person = make_participant(study)
    assert run(participant=person.code, dry_run=True) == "Participants who would be deleted: 1\n"
    assert Participant.objects.count() == 1
    assert not AuditEntry.objects.exists()


@pytest.mark.parametrize(
    "options", [{"participant": "NOBODY"}, {"study": "nothing"}, {"older_than": 0}]
)
def test_a_mistake_on_the_command_line_is_told_and_deletes_nothing(study, options):
    make_participant(study)
    with pytest.raises(CommandError):
        run(**options)
    assert Participant.objects.count() == 1


def test_a_large_purge_is_cut_into_batches_that_are_each_on_record(study, monkeypatch):
    monkeypatch.setattr("desk.privacy.BATCH_SIZE", 2)
    for _ in range(5):
        make_participant(study)
    assert purge_people(study.participants.all(), why="a test", actor=study.owner) == 5
    told = list(AuditEntry.objects.order_by("pk").values_list("detail", flat=True))
    assert [detail.split()[3] for detail in told] == ["2", "2", "1"]


def test_a_worker_whose_session_was_purged_is_told_that_there_is_none(study):
    worker = Worker(study)
    worker.go_to("teaching")
    stale = sessions.find(worker.token)
    run(participant=stale.code)
    assert worker.get().status_code == 404
    with pytest.raises(SessionOver):
        record_answer(stale, stale.position, {"label": "wild"})


# The page of a study


def page(study: Study, part: str = "") -> str:
    return study_address(study, f"privacy/{part}")


def test_the_page_tells_what_is_kept_and_the_record(study):
    person = finished(study, PROLIFIC_PID="5f1e")
    Worker(study).post("withdrawal", {})
    text = browser_of(study.owner).get(page(study)).content.decode()
    assert "withdrew" in text
    assert "everything is deleted" in text
    confirm = browser_of(study.owner).get(page(study, f"participant/?code={person.code}"))
    assert "teaching steps: 6" in confirm.content.decode()
    assert Participant.objects.filter(pk=person.pk).exists(), "looking deletes nothing"


def test_an_owner_deletes_a_participant_after_a_question(study):
    person = finished(study)
    browser = browser_of(study.owner)
    browser.post(page(study, "participant/"), {"code": f" {person.code.lower()} "})
    assert not Participant.objects.exists()
    assert AuditEntry.objects.get(action="delete").actor == study.owner


def test_a_code_of_another_study_deletes_nobody(study):
    other = make_participant(make_study(dataset=study.dataset))
    reply = browser_of(study.owner).post(
        page(study, "participant/"), {"code": other.code}, follow=True
    )
    assert "There is no participant" in reply.content.decode()
    assert Participant.objects.exists()


def test_everybody_goes_only_by_the_typed_name_of_a_closed_study(study):
    finished(study)
    browser = browser_of(study.owner)
    browser.post(page(study, "everybody/"), {"name": study.slug})
    assert Participant.objects.exists(), "the study is open"
    Study.objects.update(state="closed")
    assert "Delete everybody" in browser.get(page(study, "everybody/")).content.decode()
    wrong = browser.post(page(study, "everybody/"), {"name": "something"}).content.decode()
    assert "Nothing was deleted" in wrong and Participant.objects.exists()
    browser.post(page(study, "everybody/"), {"name": study.slug})
    assert not Participant.objects.exists()


def test_who_may_only_look_deletes_nobody(study):
    person = make_participant(study)
    reader = browser_of(share(study, make_researcher("reader")))
    Study.objects.update(state="closed")
    assert reader.get(page(study)).status_code == 200
    assert reader.post(page(study, "participant/"), {"code": person.code}).status_code == 403
    assert reader.post(page(study, "everybody/"), {"name": study.slug}).status_code == 403
    assert Participant.objects.exists()
