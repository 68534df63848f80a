"""Sessions that go on while processes of their site are killed at any moment."""

import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cached_property
from http.client import HTTPException
from threading import Event
from typing import Any

from studies.models import digest_of
from tests.jobs.real import fall_silent, start_worker, write
from tests.postgres import Postgres
from tests.processes import children_of, until
from tests.site import HttpClient, Reply, Site
from tests.worker import Json, Worker

CLASSES = ("wild", "domestic")

# Of a session and a position: the class that the server has acknowledged.
Acknowledged = dict[tuple[str, int], int]


class PatientClient(HttpClient):
    """Sends a request again until it is answered, as the worker's page does."""

    def request(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> Reply:
        over_at = time.monotonic() + 120
        while time.monotonic() < over_at:
            with suppress(OSError, HTTPException):
                reply = super().request(method, path, body, headers)
                if reply.status_code < 500:
                    return reply
            time.sleep(0.1)
        raise AssertionError(f"{method} {path} was never answered.")


class Killer:
    """Kills processes of a site, and starts again what nobody else does."""

    def __init__(self, site: Site, slug: str, postgres: Postgres | None, seed: str) -> None:
        self.site, self.slug, self.postgres = site, slug, postgres
        self.rng = random.Random(seed)
        self.started: list[subprocess.Popen[bytes]] = []
        self.jobs: list[int] = []
        self.worker: subprocess.Popen[bytes] | None = None

    def kill(self, what: str) -> None:
        time.sleep(self.rng.uniform(0.1, 1.2))
        getattr(self, f"kill_{what}")()

    def kill_web(self) -> None:
        """One of the processes that answer requests; its master replaces it."""
        if answering := children_of(self.site.server_pid):
            kill_at_once(self.rng.choice(answering))

    def kill_server(self) -> None:
        """The master and all of its processes, as when a machine has no memory left."""
        processes = children_of(self.site.server_pid)
        kill_at_once(self.site.server_pid, *processes)
        with (self.site.data_dir / "restarted.log").open("a") as log:
            self.started.append(self.site.start_server(log))

    def kill_worker(self) -> None:
        """The background worker, in the middle of a long forecast, which is a short one for the next."""
        self.jobs.append(self.ask("rehearse", self.slug, {"kind": "forecast", "workers": 2000}))
        self.worker = self.worker or start_worker(self.site)
        until(lambda: self.has_begun(self.jobs[-1]))
        kill_at_once(self.worker.pid)
        self.worker.wait(60)
        self.worker = start_worker(self.site)
        write(self.site, "UPDATE rehearsal_rehearsal SET workers = 3 WHERE id = %s", self.jobs[-1])

    def kill_postgres(self) -> None:
        assert self.postgres
        self.postgres.kill()
        self.postgres.start()

    def has_begun(self, job: int) -> bool:
        sql = (
            "SELECT 1 FROM rehearsal_rehearsal WHERE state = 'running' AND finished > 0 AND id = %s"
        )
        return bool(self.site.rows(sql, job))

    def finish_jobs(self) -> None:
        """Lets the leases lapse that dead workers held."""
        fall_silent(self.site, "rehearsal_rehearsal")
        until(lambda: {state for (state,) in self.job_states()} <= {"done", "failed"})

    def job_states(self) -> list[tuple[Any, ...]]:
        return self.site.rows("SELECT state FROM rehearsal_rehearsal ORDER BY id")

    def ask(self, *errand: Any) -> Any:
        """A process of its own, because what it makes belongs to the site's database and not to ours."""
        self.messenger.stdin.write(json.dumps(errand) + "\n")
        self.messenger.stdin.flush()
        return json.loads(self.messenger.stdout.readline())

    @cached_property
    def messenger(self) -> subprocess.Popen[str]:
        return self.site.conversation("-m", "tests.jobs.errands")

    def close(self) -> None:
        if "messenger" in self.__dict__:
            self.messenger.communicate()
        if self.worker:
            self.worker.kill()
            self.worker.wait(60)
        for server in self.started:
            server.send_signal(signal.SIGQUIT)
            server.wait(60)


def kill_at_once(*pids: int) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def sessions_under_kills(
    site: Site, slug: str, killer: Killer, *, journeys: int, kills: Sequence[str]
) -> tuple[list[Worker], Acknowledged]:
    """Whole sessions side by side for as long as there are kills: who took part, and what was acknowledged."""
    over = Event()
    with ThreadPoolExecutor(journeys) as threads:
        running = [
            threads.submit(take_part, site, slug, number, over) for number in range(journeys)
        ]
        try:
            for what in kills:
                killer.kill(what)
        finally:
            over.set()
    taken = [journey.result() for journey in running]
    acknowledged = {place: label for _, answers in taken for place, label in answers.items()}
    return [worker for workers, _ in taken for worker in workers], acknowledged


def take_part(site: Site, slug: str, number: int, over: Event) -> tuple[list[Worker], Acknowledged]:
    """Whole sessions, one after the other, until it is over."""
    workers: list[Worker] = []
    acknowledged: Acknowledged = {}
    rng = random.Random(number)
    while not workers or not over.is_set():
        person = f"person-{number}-{len(workers)}"
        workers.append(Worker(slug, PatientClient(site.port), PROLIFIC_PID=person))
        acknowledged |= answers_of(workers[-1], rng)
    return workers, acknowledged


def answers_of(worker: Worker, rng: random.Random) -> Acknowledged:
    acknowledged: Acknowledged = {}
    state = worker.get().json()
    while state["task"]["kind"] != "done":
        position, label = state["task"]["position"], rng.choice(CLASSES)

        def choose(task: Json, state: Json = state, label: str = label) -> Json:
            return {"label": label} if "image" in task else worker.obvious(state)

        reply = worker.answer_task(state, choose)
        assert reply.status_code == 200, reply.content
        if "image" in state["task"]:
            acknowledged[digest_of(worker.token), position] = CLASSES.index(label)
        state = reply.json()
    return acknowledged


def stored_answers(site: Site) -> Acknowledged:
    tables = ("teaching_teachingstep", "evaluation_evaluationitem")
    return {
        (digest, position): answer
        for table in tables
        for digest, position, answer in site.rows(
            f"SELECT p.token_digest, t.position, t.answer FROM {table} t "
            "JOIN studies_participant p ON p.id = t.participant_id WHERE t.answer IS NOT NULL"
        )
    }


# In one process of the site: every chain, and every choice of every teacher.
VERIFICATION = """
import django
django.setup()
from django.core.management import call_command
from studies.models import Participant
call_command("verify_log")
for code in Participant.objects.values_list("code", flat=True):
    call_command("replay_session", code)
"""


def assert_nothing_is_lost(
    site: Site, slug: str, workers: Sequence[Worker], acknowledged: Acknowledged
) -> None:
    assert stored_answers(site) == acknowledged
    stages = [stage for (stage,) in site.participants(slug, "stage")]
    assert stages == ["done"] * len(workers)
    assert f"of {len(workers)} participants are as they were given." in site.python(
        "-c", VERIFICATION
    )
