"""What more processes and more web servers bring, and what a crowd needs: `python -m bench.scaling [--seconds 20]`.

The same clients take part without pauses in the demo study on Postgres: at one web server with 1, 2 and 4
processes, and at two web servers of one process each behind nginx, from the files in deploy/. Clients and database
are on the same cores, so the rate stops growing when those are busy; the CPU time that a step takes of each part is
the number to plan with. The last table is that arithmetic (docs/scale.md).
"""

from __future__ import annotations

import argparse
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from bench.api import Times, Worker, in_threads, warm_up
from bench.servers import Server, cpu_seconds, descendants, running_server
from tests.postgres import Postgres, running_postgres
from tests.topology import program, running_topology

PROCESSES = (1, 2, 4)
IMAGES = ("teaching", "evaluation")

# About ten rounds of the memory test, some 40 images of teaching and 100 of the evaluation.
STEPS_PER_SESSION = 150
SESSION_MINUTES = 20
# Workers come in eight hours of the day, and twice as many as usual at times.
PEAK = 6
BUSY = 2 / 3
CORES_PER_MACHINE = 8
WORKERS_A_DAY = (100, 1_000, 10_000, 100_000)

# The parts of a site and the process that each began with.
Parts = Mapping[str, list[int]]


@dataclass(frozen=True)
class Measured:
    """What showing one image and taking its answer brings and takes."""

    name: str
    per_second: float
    cpu_ms: Mapping[str, float]
    image_kb: float


class Client:
    """Somebody who answers at once, from the first image on."""

    def __init__(self, server: Server) -> None:
        self.worker = Worker(server.address, Times())
        self.worker.while_in("consent", "memory")
        self.count, self.bytes = 0, 0

    def take_part(self, until: float) -> None:
        session = self.worker.session
        while time.perf_counter() < until and session.task["kind"] in IMAGES:
            self.bytes += len(session.client.content(session.task["image"]["url"]))
            self.worker.answer()
            self.count += 1


def measure(name: str, server: Server, parts: Parts, clients: int, seconds: float) -> Measured:
    warm_up(server)
    people: list[Client] = []
    lock = threading.Lock()

    def join() -> None:
        client = Client(server)
        with lock:
            people.append(client)

    in_threads([join] * clients)
    before = {part: cpu_of(pids) for part, pids in parts.items()}
    until = time.perf_counter() + seconds
    elapsed = in_threads([lambda client=client: client.take_part(until) for client in people])  # type: ignore[misc]
    count = sum(client.count for client in people)
    spent = {part: 1000 * (cpu_of(pids) - before[part]) / count for part, pids in parts.items()}
    return Measured(
        name, count / elapsed, spent, sum(client.bytes for client in people) / count / 1024
    )


def cpu_of(pids: list[int]) -> float:
    return sum(cpu_seconds(one) for pid in pids for one in (pid, *descendants(pid)))


def database_pid(postgres: Postgres) -> int:
    return int((postgres.data / "postmaster.pid").read_text().splitlines()[0])


@contextmanager
def one_server(url: str, processes: int) -> Iterator[tuple[Server, list[int], list[int]]]:
    os.environ["WEB_CONCURRENCY"] = str(processes)
    with running_server(url) as server:
        yield server, [server.process.pid], []


@contextmanager
def two_servers(url: str) -> Iterator[tuple[Server, list[int], list[int]]]:
    with running_topology(url, JEDI_JOIN_RATE="1000000/min") as topology:
        topology.site.python("manage.py", "prepare")
        web = [replica.server.pid for replica in topology.replicas]
        yield Server(topology.site.port, topology.proxy), web, [topology.proxy.pid]


def scaling(postgres: Postgres, clients: int, seconds: float) -> Iterator[Measured]:
    database = [database_pid(postgres)]
    for processes in PROCESSES:
        with one_server(postgres.create_database(f"with{processes}"), processes) as (
            server,
            web,
            _,
        ):
            name = f"1 web server, {processes} process{'es' * (processes > 1)}"
            yield measure(name, server, {"web": web, "database": database}, clients, seconds)
    with two_servers(postgres.create_database("two")) as (server, web, proxy):
        parts = {"web": web, "database": database, "proxy": proxy}
        yield measure("2 web servers behind nginx", server, parts, clients, seconds)


def report(measured: Measured) -> None:
    web, database = measured.cpu_ms["web"], measured.cpu_ms["database"]
    proxy = measured.cpu_ms.get("proxy", 0.0)
    print(
        f"{measured.name:<28} {measured.per_second:>9.1f} {web:>8.2f} {database:>12.2f} {proxy:>9.2f} "
        f"{100 * database / (web + database + proxy):>15.0f} %",
        flush=True,
    )


def sizing(measured: Measured) -> None:
    """Cores for so many workers a day, if each part may be busy for two thirds of the time at the peak."""
    print("\nworkers a day  at once  images/s   MB/s  web cores  database cores  what that is")
    for workers in WORKERS_A_DAY:
        rate = PEAK * workers * STEPS_PER_SESSION / 86_400
        at_once = PEAK * workers * SESSION_MINUTES / 1440
        front = measured.cpu_ms["web"] + measured.cpu_ms.get("proxy", 0.0)
        web, database = (rate * ms / 1000 / BUSY for ms in (front, measured.cpu_ms["database"]))
        megabytes = rate * measured.image_kb / 1024
        print(
            f"{workers:>13,} {at_once:>8,.0f} {rate:>9,.1f} {megabytes:>6.1f} {web:>10.1f} {database:>15.1f}  "
            f"{in_words(web, database)}"
        )


def in_words(web: float, database: float) -> str:
    if web + database <= 1:
        return "a laptop, SQLite"
    if web + database <= CORES_PER_MACHINE:
        return f"one machine with {math.ceil(web + database)} cores, Postgres"
    machines = math.ceil(web / CORES_PER_MACHINE)
    return (
        f"{max(2, machines)} web servers of {CORES_PER_MACHINE} cores, "
        f"Postgres on {math.ceil(database)} cores of its own"
    )


def refuse_without_servers() -> None:
    """Now, not after minutes of measuring."""
    try:
        for names in (("nginx",), ("valkey-server", "redis-server")):
            program(*names)
    except RuntimeError as error:
        sys.exit(f"{error} Or install both with: make servers")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20, help="of each measurement")
    parser.add_argument("--clients", type=int, default=16)
    options = parser.parse_args()
    # A stopped benchmark takes its servers with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    refuse_without_servers()
    print(
        f"Postgres, demo study, {options.clients} clients without pauses, {os.cpu_count()} cores\n"
    )
    print(f"{'':<28}  images/s   web ms  database ms  proxy ms  database share")
    with running_postgres() as postgres:
        for measured in scaling(postgres, options.clients, options.seconds):
            report(measured)
    sizing(measured)


if __name__ == "__main__":
    main()
