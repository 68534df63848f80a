"""Slow requests are logged without anything that identifies a session."""

import io
import json
import logging

import pytest
from django.test import Client

from jedi_web.logs import JsonFormatter
from jedi_web.middleware import logger
from studies import request_ids
from tests.builders import make_study
from tests.worker import Worker

pytestmark = pytest.mark.django_db


@pytest.fixture
def logged(settings):
    """The log as JSON while every request counts as slow."""
    settings.JEDI_SLOW_MS = 0
    log = logging.StreamHandler(io.StringIO())
    log.setFormatter(JsonFormatter())
    logger.addHandler(log)
    yield lambda: [json.loads(line) for line in log.stream.getvalue().splitlines()]
    logger.removeHandler(log)


def test_a_slow_answer_is_logged_by_its_route_and_request_id(logged):
    worker = Worker(make_study(arms="jedi"))
    worker.go_to("teaching")
    reply = worker.answer_current()
    line = logged()[-1]
    assert line["request_id"] == reply.headers[request_ids.HEADER]
    assert (line["method"], line["route"]) == ("POST", "api/sessions/<str:token>/answers/")
    assert (line["status"], line["level"]) == (200, "WARNING")
    everything = json.dumps(logged())
    assert worker.token not in everything
    assert worker.participant.code not in everything


def test_a_line_has_the_url_pattern_and_not_the_url(logged):
    for path in ("/nothing/a-secret", "/static/a-secret.css", "/s/a-secret/"):
        Client().get(path)
    assert [line["route"] for line in logged()] == ["unknown", "static", "s/<slug:slug>/"]
    assert "a-secret" not in json.dumps(logged())


def test_a_fast_request_is_not_logged(logged, settings):
    settings.JEDI_SLOW_MS = 60_000
    assert Client().get("/healthz").status_code == 200
    assert logged() == []
