"""Servers that are killed at any moment lose no acknowledged answer, double none, and keep nobody from finishing."""

import os
import random
import signal
import subprocess
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from studies.keys import digest_of
from tests.site import HttpClient, Reply, Site, running_site
from tests.worker import Json, Worker

JOURNEYS = 24
KILLS = 20
CLASSES = ("wild", "domestic")

# Of a session and a position: the class that the server has acknowledged.
Acknowledged = dict[tuple[str, int], int]


class PatientClient(HttpClient):
    """Sends a request again until it is answered, as the worker's page does."""

    def request(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> Reply:
        for _ in range(600):
            with suppress(OSError, HTTPException):
                reply = super().request(method, path, body, headers)
                if reply.status_code < 500:
                    return reply
            time.sleep(0.1)
        raise AssertionError(f"{method} {path} was never answered.")


class Servers:
    """The server of a site, which can be killed and started again."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.started: list[subprocess.Popen[bytes]] = []

    def kill_one(self, rng: random.Random) -> None:
        """Mostly one of the processes, which the master replaces; now and then the master with all of them."""
        with suppress(ProcessLookupError, FileNotFoundError):
            processes = children(self.site.server_pid)
            if processes and rng.random() < 0.85:
                os.kill(rng.choice(processes), signal.SIGKILL)
            else:
                self.restart(processes)

    def restart(self, processes: list[int]) -> None:
        for pid in (self.site.server_pid, *processes):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with (self.site.data_dir / "restarted.log").open("a") as log:
            self.started.append(self.site.start_server(log))

    def stop(self) -> None:
        for server in self.started:
            server.send_signal(signal.SIGQUIT)
            server.wait(30)


def children(pid: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def take_part(site: Site, slug: str, number: int, over: Event) -> tuple[list[Worker], Acknowledged]:
    """Whole sessions, one after the other, until it is over."""
    workers: list[Worker] = []
    acknowledged: Acknowledged = {}
    rng = random.Random(number)
    while not over.is_set():
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


@pytest.mark.faults
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_killed_servers_lose_and_double_no_answer(request, database):
    is_postgres = database == "postgres"
    url = request.getfixturevalue("postgres").create_database("killed") if is_postgres else ""
    with running_site(url) as site:
        slug = site.make_study(evaluation_size=20)
        servers, over, rng = Servers(site), Event(), random.Random(database)
        try:
            with ThreadPoolExecutor(JOURNEYS) as threads:
                journeys: list[Future[Any]] = [
                    threads.submit(take_part, site, slug, number, over)
                    for number in range(JOURNEYS)
                ]
                for _ in range(KILLS):
                    time.sleep(rng.uniform(0.2, 1.5))
                    servers.kill_one(rng)
                over.set()
            workers = [worker for journey in journeys for worker in journey.result()[0]]
            acknowledged: Acknowledged = {}
            for journey in journeys:
                acknowledged |= journey.result()[1]
        finally:
            over.set()
            servers.stop()

        assert len(workers) >= JOURNEYS
        assert stored_answers(site) == acknowledged
        stages = site.participants(slug, "stage", "code")
        assert {stage for stage, _ in stages} == {"done"}
        assert len(stages) == len(workers)
        site.python("manage.py", "verify_log")
        for _, code in stages[:8]:
            site.python("manage.py", "replay_session", code)
