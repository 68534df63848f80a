"""Requests that take long are told to the log, with what the teacher took of them."""

import io
import json
import logging

import pytest
from django.test import Client

from jedi_web.logs import JsonFormatter
from jedi_web.watch import logger
from studies import request_ids
from tests.builders import make_study
from tests.worker import Worker

pytestmark = pytest.mark.django_db


@pytest.fixture
def told(settings):
    """What programs read of the log, when every request counts as slow."""
    settings.JEDI_SLOW_MS = 0
    log = logging.StreamHandler(io.StringIO())
    log.setFormatter(JsonFormatter())
    logger.addHandler(log)
    yield lambda: [json.loads(line) for line in log.stream.getvalue().splitlines()]
    logger.removeHandler(log)


def test_a_slow_step_is_told_with_the_time_of_its_teacher(told):
    study = make_study(arms="jedi")
    worker = Worker(study)
    worker.go_to("teaching")
    reply = worker.answer_current()
    line = told()[-1]
    assert line["request_id"] == reply.headers[request_ids.HEADER]
    assert (line["method"], line["route"]) == ("POST", "api/sessions/<str:token>/answers/")
    assert (line["status"], line["teacher"], line["study"]) == (200, "jedi", study.pk)
    assert 0 < line["teacher_ms"] < line["ms"]
    assert f"jedi chose for {line['teacher_ms']} ms, in study {study.pk}" in line["message"]

    worker.go_to("done")
    assert not {"teacher", "teacher_ms", "study"} & set(told()[-1])
    everything = json.dumps(told())
    assert worker.token not in everything
    assert worker.participant.code not in everything


def test_a_line_has_the_pattern_of_an_address_and_not_the_address(told):
    for path in ("/nothing/a-secret", "/static/a-secret.css", "/s/a-secret/"):
        Client().get(path)
    assert [line["route"] for line in told()] == ["unknown", "static", "s/<slug:slug>/"]
    assert "a-secret" not in json.dumps(told())


def test_a_quick_request_is_not_told(told, settings):
    settings.JEDI_SLOW_MS = 60_000
    assert Client().get("/healthz").status_code == 200
    assert told() == []
