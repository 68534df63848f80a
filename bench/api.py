"""Drives sessions through the API of a real server on loopback: `python -m bench.api [--postgres]`.

The server is the product's own gunicorn on a fresh data folder with the demo study. Every worker is a thread with
one connection that takes part as a page would, without waiting to think. Time is the client's, CPU and memory are
the server's, read from /proc.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from socket import socket
from typing import Any
from urllib.request import urlopen

from bench.databases import database
from rehearsal.http import Client, Session

ROOT = Path(__file__).resolve().parent.parent
CONCURRENCY = (1, 8, 32)
# Of one worker in one stage: a whole evaluation adds time and no knowledge.
MOST_ANSWERS = 40
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


@dataclass
class Server:
    port: int
    process: subprocess.Popen[bytes]

    def processes(self) -> list[int]:
        """The master and its workers."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return [self.process.pid, *map(int, children.split())]

    def cpu_seconds(self) -> float:
        return sum(cpu_seconds(pid) for pid in self.processes())

    def memory_mb(self) -> float:
        """Pages that are shared count once: the sum of the proportional set sizes."""
        return sum(proportional_kb(pid) for pid in self.processes()) / 1024


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND


def proportional_kb(pid: int) -> int:
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1])
    return 0


@contextmanager
def running_server(database_url: str) -> Iterator[Server]:
    with tempfile.TemporaryDirectory(prefix="jedi-bench-") as folder, closing(socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
        probe.close()
        environment = os.environ | {
            "DJANGO_SETTINGS_MODULE": "jedi_web.settings",
            "JEDI_DATA_DIR": folder,
            "DATABASE_URL": database_url,
            "JEDI_JOIN_RATE": "1000000/min",
            "HOST": "127.0.0.1",
            "PORT": str(port),
        }
        run = [sys.executable, "manage.py", "prepare"]
        subprocess.run(run, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)
        command = ["-m", "gunicorn", "-c", "jedi_web/gunicorn_conf.py", "--log-level", "error"]
        process = subprocess.Popen(
            [sys.executable, *command, "jedi_web.wsgi"], cwd=ROOT, env=environment
        )
        try:
            wait_until_ready(port)
            yield Server(port, process)
        finally:
            process.send_signal(signal.SIGQUIT)
            process.wait(120)


def wait_until_ready(port: int) -> None:
    for _ in range(300):
        try:
            urlopen(f"http://127.0.0.1:{port}/healthz", timeout=120).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise SystemExit("The server did not start.")


@dataclass
class Times:
    """The milliseconds of every answer, by the kind of the task."""

    by_kind: dict[str, list[float]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, kind: str, ms: float) -> None:
        with self.lock:
            self.by_kind.setdefault(kind, []).append(ms)


class Worker:
    """Takes part in the demo study up to the end of a stage."""

    def __init__(self, port: int, times: Times) -> None:
        self.times = times
        self.session = Session(Client(f"http://127.0.0.1:{port}"), "demo", {})

    def answer(self) -> None:
        kind, answer = self.session.task["kind"], self.choose(self.session.task)
        started = time.perf_counter()
        self.session.answer(answer)
        self.times.add(kind, 1000 * (time.perf_counter() - started))

    def choose(self, task: dict[str, Any]) -> dict[str, Any]:
        if task["kind"] == "consent":
            return {"agree": True}
        if task["kind"] == "memory":
            order = self.session.begin_exposure()
            # Three images in a trial: a medium memory costs the bench too many rounds.
            return {"order": order if task["length"] < 4 else order[::-1]}
        label = self.session.classes[task["position"] % 2]
        return {"label": label, "response_ms": 700.0}

    def while_in(self, *kinds: str) -> None:
        for _ in range(MOST_ANSWERS):
            if self.session.task["kind"] not in kinds:
                break
            self.answer()


def in_threads(workers: list[Worker], *kinds: str) -> float:
    """Lets all workers answer until they have left these stages or had enough; returns the seconds it took."""
    threads = [threading.Thread(target=worker.while_in, args=kinds) for worker in workers]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - started


def measure(server: Server, concurrency: int, sessions: int) -> None:
    times = Times()
    workers = [Worker(server.port, times) for _ in range(max(concurrency, sessions))]
    for first in range(0, len(workers), concurrency):
        in_threads(workers[first : first + concurrency], "consent", "memory")
    for kind in ("teaching", "evaluation"):
        cpu = server.cpu_seconds()
        elapsed = sum(
            in_threads(workers[first : first + concurrency], kind)
            for first in range(0, len(workers), concurrency)
        )
        cpu = server.cpu_seconds() - cpu
        report(concurrency, kind, times.by_kind[kind], elapsed, cpu, server.memory_mb())


def warm_up(server: Server) -> None:
    """Every process imports the engine and maps the pool at its first choice; that is no part of a step."""
    workers = [Worker(server.port, Times()) for _ in range(8)]
    in_threads(workers, "consent", "memory", "teaching")


def report(
    concurrency: int, kind: str, ms: list[float], elapsed: float, cpu: float, memory: float
) -> None:
    p50, p95 = statistics.median(ms), statistics.quantiles(ms, n=20)[-1]
    print(
        f"{concurrency:>8}  {kind:<10} {len(ms):>7} {len(ms) / elapsed:>9.1f} {p50:>8.1f} {p95:>8.1f} "
        f"{1000 * cpu / len(ms):>10.1f} {memory:>7.0f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--postgres", action="store_true", help="instead of SQLite")
    parser.add_argument(
        "--sessions",
        type=int,
        default=4,
        help="least number of sessions at each level (all four teachers)",
    )
    parser.add_argument("--concurrency", type=int, nargs="+", default=CONCURRENCY)
    options = parser.parse_args()
    # A stopped benchmark takes its server with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    with ExitStack() as stack:
        url = stack.enter_context(database(options.postgres))
        server = stack.enter_context(running_server(url))
        print(f"{'Postgres' if options.postgres else 'SQLite'}, demo study, gunicorn on loopback\n")
        print("sessions  answers to   count  answers/s   p50 ms   p95 ms  CPU ms each   MB")
        warm_up(server)
        for concurrency in options.concurrency:
            measure(server, concurrency, options.sessions)


if __name__ == "__main__":
    main()
