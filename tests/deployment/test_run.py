"""`manage.py run`: the web server and the background worker as one command, however either of them ends."""

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from itertools import accumulate

import pytest
from django.core.management import CommandError

from jedi_web.management.commands import run
from tests.processes import children_of, find_child, is_alive, until
from tests.site import ROOT, Site, clean_environment, free_port

FORECAST = """
import django
django.setup()
from rehearsal.models import Rehearsal
from tests.builders import make_study
job = Rehearsal.objects.create(study=make_study(), kind="forecast", workers=1)
job.enqueue()
print(job.pk)
"""


class RunningSite:
    """A prepared site, and `manage.py run` on it as often as it is started."""

    def __init__(self, folder):
        self.port = free_port()
        variables = {"PORT": str(self.port), "WEB_CONCURRENCY": "1"}
        self.site = Site(self.port, folder, "", clean_environment(folder) | variables)
        self.site.prepare()
        self.log = folder / "run.log"
        self.start()

    def start(self):
        with self.log.open("a") as log:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "run", "--no-demo"],
                cwd=ROOT,
                env=self.site.environment,
                stdout=log,
                stderr=log,
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            )
        self.web_server = until(lambda: find_child(self.process.pid, "gunicorn"))
        self.worker = until(lambda: find_child(self.process.pid, "work"))
        until(self.is_ready)
        until((self.site.data_dir / "worker-heartbeat").exists)
        self.pids = [self.process.pid, self.web_server, self.worker, *children_of(self.web_server)]

    def is_ready(self):
        assert self.process.poll() is None, self.log.read_text()
        with suppress(OSError):
            return self.site.client().get("/healthz").status_code == 200
        return False


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """Every test leaves it running."""
    site = RunningSite(tmp_path_factory.mktemp("run"))
    yield site
    site.process.terminate()
    site.process.wait(60)


def test_a_killed_worker_is_replaced_and_the_work_goes_on(running):
    os.kill(running.worker, signal.SIGKILL)
    until(lambda: find_child(running.process.pid, "work") not in (None, running.worker))
    pk = running.site.python("-c", FORECAST).strip()
    done = "SELECT 1 FROM rehearsal_rehearsal WHERE state = 'done' AND id = %s"
    until(lambda: running.site.rows(done, pk))
    assert "The background worker ended (-9)" in running.log.read_text()


@pytest.mark.parametrize(
    ("name", "number", "code"),
    [
        ("run", signal.SIGINT, 0),
        pytest.param("run", signal.SIGTERM, 0, marks=pytest.mark.faults),
        ("run", signal.SIGKILL, -signal.SIGKILL),
        pytest.param("web_server", signal.SIGKILL, 1, marks=pytest.mark.faults),
    ],
)
def test_everything_ends_together_and_can_be_started_again_at_once(running, name, number, code):
    os.kill(running.process.pid if name == "run" else running.web_server, number)
    assert running.process.wait(60) == code
    before = running.pids
    if code == 0:
        assert not any(map(is_alive, before))
    running.start()
    assert not any(map(is_alive, before))
    assert "Traceback" not in running.log.read_text()


@pytest.mark.faults
def test_a_web_server_that_cannot_start_ends_the_run_with_its_sentence(sqlite_site):
    """The other server has the data folder."""
    ended = subprocess.run(
        [sys.executable, "manage.py", "run", "--no-demo"],
        cwd=ROOT,
        env=sqlite_site.environment | {"PORT": str(free_port())},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 1
    assert f"(process {sqlite_site.server_pid}). Stop that server first" in ended.stderr
    assert "Traceback" not in ended.stderr


class Clock:
    """Sleeping takes no time."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        monkeypatch.setattr(time, "monotonic", lambda: self.now)
        monkeypatch.setattr(time, "sleep", self.sleep)

    def sleep(self, seconds):
        self.now += seconds


class Process:
    """Ends after some seconds."""

    returncode = 7

    def __init__(self, clock, seconds):
        self.clock, self.ends_at = clock, clock.now + seconds

    def poll(self):
        return self.returncode if self.clock.now >= self.ends_at else None


@pytest.mark.parametrize(
    ("lifetime", "pauses"),
    [
        (0.0, [0.5, 1, 2, 4, 8, 16, 30, 30]),
        # It did not die of its start.
        (61.0, [0.5, 0.5, 0.5]),
    ],
)
def test_a_worker_that_dies_at_once_is_restarted_after_longer_and_longer_pauses(
    monkeypatch, lifetime, pauses
):
    clock, started = Clock(monkeypatch), []
    command = run.Command(stderr=sys.stdout)

    def start(name, command):
        started.append(clock.now)
        return Process(clock, lifetime)

    monkeypatch.setattr(command, "start", start)
    command.keep_worker_running(Process(clock, sum(pauses) + lifetime * len(pauses) + 0.1))
    assert started == list(accumulate((pause + lifetime for pause in pauses), initial=0))


def test_a_process_that_does_not_end_is_killed(monkeypatch):
    monkeypatch.setattr(run, "STOP_SECONDS", 0.1)
    command = run.Command()
    stubborn = (
        "import signal, time; signal.signal(15, signal.SIG_IGN); print(flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", stubborn], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        command.processes = {"worker": process}
        command.stop()
        assert process.returncode == -signal.SIGKILL


def test_a_port_that_is_taken_stops_the_start_with_the_remedy(monkeypatch):
    Clock(monkeypatch)
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(CommandError, match=f"PORT {port} is taken .*PORT=9000 make run"):
            run.refuse_taken_port("127.0.0.1", port)


def test_a_port_of_a_server_that_is_about_to_end_is_waited_for(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as other:
        monkeypatch.setattr(time, "sleep", lambda seconds: other.close())
        run.refuse_taken_port(*other.getsockname())


@pytest.mark.parametrize("host", ["127.0.0.1", "no such host", "::1"])
def test_a_port_that_is_free_and_a_host_that_gunicorn_will_refuse_are_left_to_it(host):
    run.refuse_taken_port(host, free_port())
