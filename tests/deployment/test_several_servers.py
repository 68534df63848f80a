"""The cache that several web servers share may be unreachable."""

import logging
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest

from desk.api.views import ResearcherThrottle
from jedi_web import environment
from studies.api import throttling
from studies.api.throttling import CacheTolerantThrottle
from studies.api.views import JoinThrottle
from studies.models import Study
from tests.builders import make_study
from tests.desk.api.test_researchers_api import Program
from tests.people import make_researcher
from tests.processes import until
from tests.site import free_port
from tests.topology import running_cache
from tests.worker import Worker

UseCache = Callable[[str], None]


@pytest.fixture
def use_cache(settings: Any, monkeypatch: Any) -> UseCache:
    """Takes the shared cache at an address."""
    monkeypatch.setattr(CacheTolerantThrottle, "logged_at", -throttling.LOG_SECONDS)

    def use(address: str) -> None:
        monkeypatch.setenv("JEDI_CACHE_URL", address)
        settings.CACHES = {"default": environment.cache()}
        settings.JEDI_SHARES_CACHE = True

    return use


class SilentServer:
    """Takes every connection, and never says a word."""

    def __init__(self, listener: socket.socket) -> None:
        listener.setblocking(False)
        self.listener = listener
        self.address = f"redis://127.0.0.1:{listener.getsockname()[1]}/0"

    def connections(self) -> int:
        """How many were made since the last look."""
        count = 0
        try:
            while True:
                self.listener.accept()[0].close()
                count += 1
        except BlockingIOError:
            return count


@pytest.fixture
def silent(use_cache: UseCache) -> Iterator[SilentServer]:
    with closing(socket.create_server(("127.0.0.1", 0), backlog=100)) as listener:
        server = SilentServer(listener)
        use_cache(server.address)
        yield server


def what_is_said_of_the_cache(client: Any) -> str:
    return str(client.get("/readyz").json()["cache"])


@pytest.mark.django_db
def test_participants_take_part_without_a_cache_and_the_operator_learns_of_it(
    client, use_cache, caplog
):
    use_cache(f"redis://127.0.0.1:{free_port()}/0")
    study = make_study()
    for _ in range(2):
        worker = Worker(study)
        assert worker.joined.status_code == 201
        assert worker.answer_current().status_code == 200
    assert "shared cache does not answer (ConnectionError)" in what_is_said_of_the_cache(client)
    [record] = [record for record in caplog.records if record.name == throttling.logger.name]
    assert record.levelno == logging.WARNING


@pytest.mark.django_db
def test_a_cache_that_never_answers_delays_only_who_joins(client, silent):
    study = make_study()
    started = time.monotonic()
    worker = Worker(study)
    assert worker.joined.status_code == 201
    assert time.monotonic() - started < 5
    assert silent.connections() == 1
    assert worker.answer_current().status_code == 200
    assert silent.connections() == 0
    assert "shared cache does not answer (TimeoutError)" in what_is_said_of_the_cache(client)


@pytest.mark.django_db
def test_programs_of_researchers_work_without_a_cache(use_cache):
    use_cache(f"redis://127.0.0.1:{free_port()}/0")
    assert Program(make_researcher("ada")).get().status_code == 200


@pytest.mark.faults
@pytest.mark.django_db
def test_limits_hold_again_when_a_cache_that_had_stopped_goes_on(client, use_cache, monkeypatch):
    monkeypatch.setitem(JoinThrottle.THROTTLE_RATES, "join", "1/min")
    with running_cache() as (address, server):
        use_cache(address)
        study = make_study()
        assert [join(client, study) for _ in range(2)] == [201, 429]
        server.send_signal(signal.SIGSTOP)
        assert [join(client, study) for _ in range(2)] == [201, 201]
        assert "shared cache does not answer" in what_is_said_of_the_cache(client)
        server.send_signal(signal.SIGCONT)
        until(lambda: what_is_said_of_the_cache(client) == "fine")
        assert join(client, study) == 429


def join(client: Any, study: Study) -> int:
    address = f"/api/studies/{study.slug}/sessions/"
    return int(client.post(address, {}, content_type="application/json").status_code)


def test_without_an_address_every_process_has_its_own_cache(monkeypatch):
    monkeypatch.delenv("JEDI_CACHE_URL", raising=False)
    assert "locmem" in environment.cache()["BACKEND"]
    monkeypatch.setenv("JEDI_CACHE_URL", "rediss://:secret@cache.example.org:6380/2")
    assert environment.cache()["BACKEND"].endswith(".redis.RedisCache")


@pytest.mark.parametrize("throttle", [JoinThrottle, ResearcherThrottle])
def test_servers_that_share_a_cache_count_by_the_same_clock(settings, monkeypatch, throttle):
    monkeypatch.setattr(time, "time", lambda: 1e9)
    settings.JEDI_SHARES_CACHE = True
    assert throttle.timer() == 1e9
    settings.JEDI_SHARES_CACHE = False
    assert throttle.timer() != 1e9
