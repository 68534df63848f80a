"""A full disk, a database that only reads, lost files, a clock that jumps.

Each is told, nothing is lost, and the service comes back by itself when the cause is gone.
"""

import ctypes
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from http.client import HTTPException
from io import StringIO
from pathlib import Path

import psycopg
import pytest
from django.core.management import call_command
from django.utils import timezone

from jobs.worker import MAX_SILENCE_SECONDS, beat, seconds_since_heartbeat
from rehearsal.models import Rehearsal
from studies.api.views import JoinThrottle
from studies.verification import check_participant
from teaching.services import replay
from tests.builders import make_dataset, make_study
from tests.jobs.lost import make_rehearsal
from tests.processes import children_of
from tests.site import ROOT, Reply, Site, clean_environment
from tests.worker import Worker

# As linux/capability.h and linux/prctl.h have them.
DROP_CAPABILITY, PAST_PERMISSIONS = 24, 1


@contextmanager
def full_disk(site: Site) -> Iterator[None]:
    """No file can grow, of whatever the running processes write: the kernel refuses."""
    pids = children_of(site.server_pid)
    _, most = resource.prlimit(pids[0], resource.RLIMIT_FSIZE)
    for pid in pids:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, most))
    try:
        yield
    finally:
        for pid in pids:
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (most, most))


@contextmanager
def database_that_only_reads(site: Site) -> Iterator[None]:
    """As a standby is, or a server that was set so because its disk is nearly full."""
    with psycopg.connect(site.database_url, autocommit=True) as connection:
        connection.execute("SET default_transaction_read_only = off")
        connection.execute("ALTER SYSTEM SET default_transaction_read_only = on")
        connection.execute("SELECT pg_reload_conf()")
        try:
            yield
        finally:
            connection.execute("ALTER SYSTEM RESET default_transaction_read_only")
            connection.execute("SELECT pg_reload_conf()")


FAULTS = {"sqlite": full_disk, "postgres": database_that_only_reads}


def until_it_answers(worker: Worker, state: dict, *statuses: int) -> Reply:
    """Sends the answer to a task again until the reply is of such a status; a process may die over it."""
    for _ in range(200):
        with suppress(OSError, HTTPException):
            reply = worker.answer_task(state)
            if reply.status_code in statuses:
                return reply
        time.sleep(0.05)
    raise AssertionError(f"The answer was never any of {statuses}.")


@pytest.mark.parametrize("site", ["sqlite", "postgres"], indirect=True)
def test_what_cannot_be_stored_is_told_and_is_taken_when_there_is_room_again(site):
    slug = site.make_study()
    worker = Worker(slug, site.client())
    worker.go_to("teaching")
    state = worker.get().json()
    fault = FAULTS["postgres" if site.database_url else "sqlite"]
    with fault(site):
        refused = until_it_answers(worker, state, 503)
        page = site.client().request("POST", f"/s/{slug}/")
        ready = site.client().get("/readyz")
    error = refused.json()["error"]
    assert error["code"] == "not_writable"
    assert (
        "disk is full or cannot be written. What was answered before is safe." in error["message"]
    )
    assert refused.headers["Retry-After"] == "5"
    assert page.status_code == 503
    assert "disk is full or cannot be written" in page.content.decode()
    assert "Traceback" not in page.content.decode()
    assert ready.status_code == 503
    part = "database" if site.database_url else "disk"
    assert "cannot be written" in ready.json()[part]
    assert "or make it writable" in ready.json()[part]

    until_it_answers(worker, state, 200)
    worker.go_to("done")
    assert site.client().get("/readyz").json()[part] == "fine"
    assert [stage for (stage,) in site.participants(slug, "stage")] == ["done"]


def without_the_rights_of_root() -> None:
    """Root may write whatever the permissions say; a server without that right may not."""
    ctypes.CDLL(None).prctl(DROP_CAPABILITY, PAST_PERMISSIONS, 0, 0, 0)


@pytest.mark.parametrize(
    "command",
    [
        ["manage.py", "prepare", "--no-demo"],
        ["-m", "gunicorn", "-c", "jedi_web/gunicorn_conf.py", "jedi_web.wsgi"],
    ],
    ids=["prepare", "gunicorn"],
)
def test_a_start_on_a_folder_that_cannot_be_written_is_refused_with_the_remedy(tmp_path, command):
    (tmp_path / "secret_key").write_text("a key " * 12)
    tmp_path.chmod(0o555)
    done = subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env=clean_environment(tmp_path),
        capture_output=True,
        text=True,
        preexec_fn=without_the_rights_of_root,
    )
    tmp_path.chmod(0o755)
    assert done.returncode != 0
    assert "cannot be written (Permission denied). Make room on its disk" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_pool_and_images_that_are_lost_or_cut_are_told_and_taken_when_they_are_back(sqlite_site):
    site = sqlite_site
    slug = site.make_study(arms="jedi")
    [(key,)] = site.rows(
        "SELECT d.key FROM studies_dataset d JOIN studies_study s ON s.dataset_id = d.id WHERE s.slug = %s",
        slug,
    )
    folder = site.data_dir / "datasets" / key
    features = folder / "pool" / "features.npy"
    worker = Worker(slug, site.client())
    worker.go_to("memory")
    whole = features.read_bytes()

    features.write_bytes(whole[: len(whole) // 2])
    while (reply := worker.answer_current()).status_code == 200:
        pass
    assert reply.status_code == 503
    assert reply.json()["error"]["code"] == "files_lost"
    assert "cannot be read at the moment" in reply.json()["error"]["message"]
    assert "1 of the data sets" in site.client().get("/readyz").json()["pools"]
    features.write_bytes(whole)
    worker.go_to("teaching")

    # A process that reads a page of a file that was cut after it was mapped is killed; another takes the answer.
    while (state := worker.get().json())["task"]["step"] < 5:
        worker.answer_task(state)
    with features.open("r+b") as file:
        file.truncate(10)
    until_it_answers(worker, state, 200, 503)
    features.write_bytes(whole)
    until_it_answers(worker, state, 200)

    address = worker.task()["image"]["url"]
    images = {path: path.read_bytes() for path in (folder / "images").iterdir()}
    for damage in (Path.unlink, lambda path: path.write_bytes(images[path][:-20])):
        for path in images:
            damage(path)
        picture = site.client().get(address)
        assert picture.status_code == 503
        assert "cannot be read at the moment" in picture.content.decode()
        for path, content in images.items():
            path.write_bytes(content)
        assert site.client().get(address).status_code == 200
    assert "1 of the data sets" not in site.client().get("/readyz").json()["pools"]
    noted = [detail for (detail,) in site.rows("SELECT detail FROM studies_sessionevent")]
    assert any("PoolLost in Answers" in detail for detail in noted)
    assert any("FilesLost in image" in detail for detail in noted)
    worker.go_to("done")


class Clock(datetime):
    """The clock of the server, which can be set."""

    offset = timedelta()

    @classmethod
    def now(cls, tz=None) -> datetime:
        return datetime.now(tz) + cls.offset


@pytest.fixture
def clock(monkeypatch) -> type[Clock]:
    true_time = time.time
    monkeypatch.setattr(Clock, "offset", timedelta())
    monkeypatch.setattr(timezone, "datetime", Clock)
    monkeypatch.setattr(time, "time", lambda: true_time() + Clock.offset.total_seconds())
    return Clock


@pytest.mark.django_db
def test_a_session_goes_on_while_the_clock_jumps_by_hours(clock, researcher):
    study = make_study(arms="jedi", dataset=make_dataset(teaching=12, evaluation=8))
    worker, jumps = Worker(study), [-5, 3, 0, -9, 7]
    state = worker.get().json()
    while state["task"]["kind"] != "done":
        clock.offset = timedelta(hours=jumps[state["task"]["position"] % len(jumps)])
        reply = worker.answer_task(state)
        assert reply.status_code == 200, reply.content
        state = reply.json()
    person = worker.participant
    assert check_participant(person).findings == ()
    assert all(step.matches for step in replay(person))
    for page in ("monitor/", "results/", "quality/", "payment/"):
        address = f"/admin/studies/study/{study.pk}/{page}"
        assert researcher.get(address).status_code == 200, page
    assert researcher.get(f"/admin/studies/participant/{person.pk}/change/").status_code == 200


@pytest.mark.django_db
def test_a_session_that_a_wrong_clock_ended_goes_on_when_the_clock_is_right(clock):
    worker = Worker(make_study(session_hours=2))
    clock.offset = timedelta(hours=3)
    assert worker.get().status_code == 410
    clock.offset = timedelta()
    assert worker.answer_current().status_code == 200


@pytest.mark.django_db
def test_a_slow_clock_is_reported_before_it_ends_sessions(clock, client):
    def said() -> str:
        return client.get("/readyz").json()["clock"]

    assert said() == "fine"
    Worker(make_study())
    clock.offset = timedelta(minutes=-4)
    assert said() == "fine"
    clock.offset = timedelta(hours=-25)
    assert "Set the clock before participants join" in said()
    output = StringIO()
    call_command("prepare", "--no-demo", stdout=StringIO(), stderr=output)
    assert "Set the clock" in output.getvalue()


@pytest.mark.django_db
def test_a_heartbeat_from_the_future_holds_no_job_and_hides_no_dead_worker(
    clock, settings, tmp_path
):
    settings.JEDI_DATA_DIR = tmp_path
    beat()
    job = make_rehearsal()
    clock.offset = timedelta(hours=4)
    assert job.claim()
    clock.offset = timedelta(hours=-1)
    assert seconds_since_heartbeat() > MAX_SILENCE_SECONDS
    assert list(Rehearsal.rows().orphaned()) == [job]
    assert job.is_orphaned


@pytest.mark.django_db
def test_the_limit_of_joining_does_not_depend_on_the_clock(clock, monkeypatch):
    monkeypatch.setattr(JoinThrottle, "get_rate", lambda self: "1/min")
    study = make_study()
    assert Worker(study).joined.status_code == 201
    clock.offset = timedelta(hours=-3)
    a_minute_later = time.monotonic() + 61
    monkeypatch.setattr(JoinThrottle, "timer", lambda self: a_minute_later)
    assert Worker(study).joined.status_code == 201


def test_a_worker_works_on_without_a_place_for_its_heartbeat(settings, tmp_path, caplog):
    settings.JEDI_DATA_DIR = tmp_path / "gone"
    beat()
    assert "no heartbeat of the background worker" in caplog.text
