"""The worker of `make run`: started again when it dies, and gone with the server, however that ends."""

import os
import signal
import subprocess
import sys

import pytest

from jobs import supervision
from jobs.supervision import Supervisor
from tests.processes import children_of, find_child, is_alive, until
from tests.site import ROOT, running_site


@pytest.fixture
def supervisor(sqlite_site):
    """A supervisor that we are the server of."""
    with subprocess.Popen(
        [sys.executable, "-m", "jobs.supervision", str(os.getpid())],
        cwd=ROOT,
        env=sqlite_site.environment,
        stderr=subprocess.DEVNULL,
    ) as process:
        yield process
        process.terminate()


def worker_of(supervisor):
    return until(lambda: find_child(supervisor.pid, "work"))


def test_a_worker_that_is_killed_is_started_again_and_works(sqlite_site, supervisor):
    worker = worker_of(supervisor)
    os.kill(worker, signal.SIGKILL)
    until(lambda: find_child(supervisor.pid, "work") not in (None, worker))
    order_is_carried_out(sqlite_site)


def order_is_carried_out(site):
    number = site.python("-c", ORDER).strip()
    done = "SELECT 1 FROM rehearsal_rehearsal WHERE state = 'done' AND id = %s"
    until(lambda: site.rows(done, number))


ORDER = """
import django
django.setup()
from rehearsal.models import Rehearsal
from tests.builders import make_study
job = Rehearsal.objects.create(study=make_study(), kind="forecast", workers=1)
job.enqueue()
print(job.pk)
"""


def test_the_worker_ends_also_when_its_supervisor_is_killed(supervisor):
    worker = worker_of(supervisor)
    supervisor.kill()
    until(lambda: not is_alive(worker))


@pytest.fixture
def site_with_worker():
    with running_site(processes=1, threads=2, JEDI_EMBEDDED_WORKER="1") as site:
        yield site


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_supervisor_and_worker_end_with_the_server(site_with_worker, number):
    server = site_with_worker.server_pid
    supervisor = until(lambda: find_child(server, "jobs.supervision"))
    worker = until(lambda: find_child(supervisor, "work"))
    os.kill(server, number)
    until(lambda: not any(map(is_alive, [server, supervisor, worker])))


def test_a_supervisor_that_is_killed_is_replaced_and_the_work_goes_on(site_with_worker):
    server = site_with_worker.server_pid
    supervisor = until(lambda: find_child(server, "jobs.supervision"))
    worker = until(lambda: find_child(supervisor, "work"))
    os.kill(supervisor, signal.SIGKILL)
    until(lambda: not is_alive(supervisor))
    another = until(lambda: find_child(server, "jobs.supervision"))
    until(lambda: find_child(another, "work"))
    until(lambda: not is_alive(worker))
    order_is_carried_out(site_with_worker)
    log = (site_with_worker.data_dir / "server.log").read_text()
    assert "The supervisor of the background worker was gone" in log
    os.kill(server, signal.SIGTERM)
    until(lambda: not any(map(is_alive, [server, another])))


def test_only_the_server_itself_starts_supervisors(site_with_worker):
    server = site_with_worker.server_pid
    supervisor = until(lambda: find_child(server, "jobs.supervision"))
    [web] = set(children_of(server)) - {supervisor}
    os.kill(supervisor, signal.SIGKILL)
    until(lambda: not is_alive(supervisor))
    os.kill(web, signal.SIGALRM)
    until(lambda: find_child(server, "jobs.supervision"))
    assert is_alive(web)
    assert children_of(web) == []


def test_a_command_that_dies_at_once_is_started_again_after_longer_and_longer_pauses(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(supervision, "POLL_SECONDS", 0.001)
    monkeypatch.setattr(supervision, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(supervision, "LONGEST_PAUSE", 0.004)
    pauses = []
    supervisor = Supervisor([sys.executable, "-c", "raise SystemExit(7)"], os.getppid())
    wait = supervisor.is_to_restart_after

    def recorded(pause, code):
        pauses.append((pause, code))
        return wait(pause, code) and len(pauses) < 5

    monkeypatch.setattr(supervisor, "is_to_restart_after", recorded)
    supervisor.run()
    assert pauses == [(0.001, 7), (0.002, 7), (0.004, 7), (0.004, 7), (0.004, 7)]


def test_a_command_that_lived_for_long_is_started_again_soon(monkeypatch):
    monkeypatch.setattr(supervision, "HEALTHY_SECONDS", 0.0)
    pauses = []
    supervisor = Supervisor([sys.executable, "-c", ""], os.getppid())

    def recorded(pause, code):
        pauses.append(pause)
        return len(pauses) < 3

    monkeypatch.setattr(supervisor, "is_to_restart_after", recorded)
    supervisor.run()
    assert pauses == [supervision.FIRST_PAUSE] * 3


def test_nothing_is_started_again_while_the_server_shuts_down():
    supervisor = Supervisor([sys.executable, "-c", ""], os.getppid())
    supervisor.stopping.set()
    assert not supervisor.is_to_restart_after(60, 0)


STUBBORN = """
import signal, time
signal.signal(signal.SIGTERM, lambda *_: None)
print("ready", flush=True)
while True:
    time.sleep(1)
"""


def test_a_worker_that_does_not_want_to_end_is_killed(monkeypatch):
    monkeypatch.setattr(supervision, "PATIENCE_SECONDS", (0.01, 0.01))
    with subprocess.Popen(
        [sys.executable, "-c", STUBBORN], cwd=ROOT, stdout=subprocess.PIPE
    ) as process:
        process.stdout.readline()
        supervision.end(process)
        assert process.returncode == -signal.SIGKILL
