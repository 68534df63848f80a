"""Images whose addresses a process has told are served without asking the database."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from studies import told_images
from tests.builders import make_dataset, make_study
from tests.worker import Worker

pytestmark = pytest.mark.django_db


@pytest.fixture
def worker() -> Worker:
    told_images._told.clear()
    return Worker(make_study(dataset=make_dataset(teaching=12, evaluation=10)))


def address_in(task: dict) -> str:
    return task["image"]["url"]


def statements_for(worker: Worker, address: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        assert worker.client.get(address).status_code == 200
    return len(captured)


@pytest.mark.parametrize("stage", ["teaching", "evaluation"])
def test_what_was_told_costs_no_statement_and_what_was_forgotten_is_found(worker, stage):
    address = address_in(worker.go_to(stage))
    assert statements_for(worker, address) == 0
    told = worker.client.get(address)

    told_images._told.clear()
    assert statements_for(worker, address) > 0
    found = worker.client.get(address)
    assert found.content == told.content
    assert found.headers.keys() == told.headers.keys()
    assert found["Cache-Control"] == told["Cache-Control"]


def test_an_image_that_is_fetched_ahead_costs_no_statement(worker):
    [ahead] = worker.go_to("evaluation")["prefetch"]
    assert statements_for(worker, ahead) == 0


def test_the_name_of_an_image_opens_it_in_no_other_session(worker):
    address = address_in(worker.go_to("teaching"))
    other = Worker(worker.participant.study)
    others = address.replace(worker.token, other.token)
    assert others != address
    assert other.client.get(others).status_code == 404


def test_a_file_that_is_gone_asks_for_patience_as_it_would_without_memory(worker):
    task = worker.go_to("teaching")
    dataset = worker.participant.study.dataset
    for file in dataset.image_folder().iterdir():
        file.unlink()
    worker.client.raise_request_exception = False
    assert worker.client.get(address_in(task)).status_code == 503


def test_an_image_of_a_deleted_session_is_served_for_some_minutes_at_most(worker, monkeypatch):
    address = address_in(worker.go_to("teaching"))
    worker.participant.delete()
    assert worker.client.get(address).status_code == 200
    later = told_images.monotonic() + told_images.KEPT_SECONDS
    monkeypatch.setattr(told_images, "monotonic", lambda: later)
    assert worker.client.get(address).status_code == 404


def test_no_more_is_kept_than_may_be(worker, monkeypatch):
    monkeypatch.setattr(told_images, "MOST", 5)
    for number in range(12):
        told_images.remember("token", f"name {number}", "data set", "image")
        assert len(told_images._told) <= 5
        assert told_images.find("token", f"name {number}") == ("data set", "image")
    assert told_images.find("token", "name 0") is None
