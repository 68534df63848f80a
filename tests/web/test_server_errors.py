"""An error of the server: its number is in the reply, on the page, in the log and on the monitor."""

import json
import logging
import sys

import pytest

from jedi_web.logs import JsonFormatter, LineFormatter
from studies import request_ids
from studies.events import MAX_SERVER_ERRORS
from studies.models import SessionEvent
from studies.views import server_error
from teaching.models import TeachingStep
from tests.builders import make_dataset, make_study
from tests.worker import Worker

pytestmark = pytest.mark.django_db


@pytest.fixture
def worker() -> Worker:
    """At a step that somebody has deleted from the database, which nothing provides for."""
    study = make_study(arms="jedi", dataset=make_dataset(teaching=12, evaluation=8))
    worker = Worker(study)
    worker.go_to("teaching")
    TeachingStep.objects.all().delete()
    return worker


def test_the_number_of_an_error_is_told_logged_and_on_the_monitor(worker, researcher, caplog):
    reply = worker.get()
    assert reply.status_code == 500
    number = reply.headers[request_ids.HEADER]
    assert f"tell us this number: {number}." in reply.json()["error"]["message"]
    assert any(record.exc_info for record in caplog.records)
    [event] = SessionEvent.objects.filter(kind="server")
    assert event.detail.startswith(f"{number}: ")
    page = researcher.get(f"/admin/studies/study/{worker.participant.study_id}/monitor/")
    assert event.detail in page.content.decode()

    for _ in range(MAX_SERVER_ERRORS):
        assert worker.get().status_code == 500
    assert SessionEvent.objects.count() == MAX_SERVER_ERRORS


def test_a_page_cannot_report_an_error_of_the_server(worker):
    assert worker.post("events", {"events": [{"kind": "server"}]}).status_code == 400


def test_the_page_of_an_error_tells_the_number_of_its_own_request(rf):
    answer = request_ids.RequestIdMiddleware(server_error)
    first, second = (answer(rf.get("/")) for _ in range(2))
    assert first.status_code == 500
    assert f"<code>{first.headers[request_ids.HEADER]}</code>" in first.content.decode()
    assert first.headers[request_ids.HEADER] != second.headers[request_ids.HEADER]
    assert request_ids.current() == ""


def record(message: str, *args: object, exc_info=None) -> logging.LogRecord:
    return logging.LogRecord("a.logger", logging.ERROR, __file__, 1, message, args, exc_info)


def test_no_line_of_the_log_has_the_key_of_a_session_or_of_an_image():
    said = record("%s and %s", "/api/sessions/s3cret-key/answers/", "/w/s3cret-key/images/an0ther")
    try:
        raise ValueError("/w/s3cret-key/")
    except ValueError:
        failed = record("an error", exc_info=sys.exc_info())
    for formatter in (LineFormatter("{message}", style="{"), JsonFormatter()):
        lines = [formatter.format(one) for one in (said, failed)]
        assert "/api/sessions/…/answers/ and /w/…/images/…" in lines[0]
        assert "ValueError" in lines[1]
        assert not any(key in line for line in lines for key in ("s3cret", "an0ther"))
    assert json.loads(lines[1])["level"] == "ERROR"
