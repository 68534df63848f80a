"""Drives sessions through the API of a real server on loopback: `python -m bench.api [--postgres]`.

The server is the product's own gunicorn on a fresh data folder with the demo study. Every worker is a thread with
one connection that takes part as a page would, without waiting to think. Time is the client's; CPU and memory are
the server's, and beside the CPU stands how many times that of a Django view that does nothing, in the same run.
"""

from __future__ import annotations

import argparse
import signal
import statistics
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from bench.client import Connection
from bench.databases import database
from bench.servers import Server, bare_server, running_server
from rehearsal.http import Session

CONCURRENCY = (1, 8, 32)
# Of one worker in one stage: a whole evaluation adds time and no knowledge.
MOST_ANSWERS = 40
# Of each worker and kind.
MOST_READS = 20
KINDS = ("teaching", "evaluation", "image", "state", "health")


@dataclass
class Times:
    """The milliseconds of every request, by its kind."""

    by_kind: dict[str, list[float]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, kind: str, ms: float) -> None:
        with self.lock:
            self.by_kind.setdefault(kind, []).append(ms)


@dataclass(frozen=True)
class Cost:
    """What the requests of one kind took, all of them together."""

    ms: list[float]
    elapsed: float
    cpu: float

    @property
    def cpu_ms_each(self) -> float:
        return 1000 * self.cpu / len(self.ms)


class Worker:
    """Takes part in the demo study up to the end of a stage."""

    def __init__(self, address: str, times: Times) -> None:
        self.times = times
        self.session = Session(Connection(address), "demo", {})

    def timed(self, kind: str, action: Callable[[], Any]) -> None:
        started = time.perf_counter()
        action()
        self.times.add(kind, 1000 * (time.perf_counter() - started))

    def answer(self) -> None:
        kind, answer = self.session.task["kind"], self.choose(self.session.task)
        self.timed(kind, lambda: self.session.answer(answer))

    def choose(self, task: dict[str, Any]) -> dict[str, Any]:
        if task["kind"] == "consent":
            return {"agree": True}
        if task["kind"] == "memory":
            order = self.session.begin_exposure()
            # Three images in a trial: a medium memory costs the bench too many rounds.
            return {"order": order if task["length"] < 4 else order[::-1]}
        label = self.session.classes[task["position"] % 2]
        return {"label": label, "response_ms": 700.0, "feedback_ms": 900.0}

    def while_in(self, *kinds: str) -> None:
        for _ in range(MOST_ANSWERS):
            if self.session.task["kind"] not in kinds:
                break
            self.answer()

    def read(self, kind: str) -> None:
        """Asks for the image of the current task, for the state, or how the server is."""
        client = self.session.client
        image = self.session.task["image"]["url"]
        path = {"image": image, "state": self.session.address, "health": "/healthz"}[kind]
        for _ in range(MOST_READS):
            self.timed(kind, lambda: client.content(path))

    def do(self, kind: str) -> None:
        if kind in ("image", "state", "health"):
            self.read(kind)
        else:
            self.while_in(kind)


def in_threads(actions: list[Callable[[], Any]]) -> float:
    """Lets all of them act at once; returns the seconds it took. What one of them raises ends the benchmark."""
    started = time.perf_counter()
    with ThreadPoolExecutor(len(actions)) as threads:
        for done in [threads.submit(action) for action in actions]:
            done.result()
    return time.perf_counter() - started


def in_groups(workers: list[Worker], size: int, action: Callable[[Worker], Any]) -> float:
    """As many at once as a group has, one group after the other."""
    return sum(
        in_threads(
            [lambda worker=worker: action(worker) for worker in workers[first : first + size]]
        )  # type: ignore[misc]
        for first in range(0, len(workers), size)
    )


def measure(
    server: Server, concurrency: int, sessions: int, kinds: Sequence[str] = KINDS
) -> dict[str, Cost]:
    times = Times()
    workers = [Worker(server.address, times) for _ in range(max(concurrency, sessions))]
    in_groups(workers, concurrency, lambda worker: worker.while_in("consent", "memory"))
    costs = {}
    for kind in kinds:
        cpu = server.cpu_seconds()
        elapsed = in_groups(workers, concurrency, lambda worker, kind=kind: worker.do(kind))  # type: ignore[misc]
        costs[kind] = Cost(times.by_kind[kind], elapsed, server.cpu_seconds() - cpu)
    return costs


def measure_bare(bare: Server, concurrency: int) -> Cost:
    """The view that does nothing, by as many clients."""
    times: list[float] = []

    def ask() -> None:
        client = Connection(bare.address)
        for _ in range(max(MOST_READS, 400 // concurrency)):
            started = time.perf_counter()
            client.content("/healthz")
            times.append(1000 * (time.perf_counter() - started))

    cpu = bare.cpu_seconds()
    elapsed = in_threads([ask] * concurrency)
    return Cost(times, elapsed, bare.cpu_seconds() - cpu)


def best(rounds: list[dict[str, Cost]]) -> dict[str, Cost]:
    """Of each kind the round that took the least CPU: whatever else the machine does can only add to it."""
    return {kind: min((one[kind] for one in rounds), key=cpu_of) for kind in rounds[0]}


def cpu_of(cost: Cost) -> float:
    return cost.cpu_ms_each


def warm_up(server: Server) -> None:
    """Every process imports the engine and maps the pool at its first choice; that is no part of a step."""
    workers = [Worker(server.address, Times()) for _ in range(8)]
    in_groups(workers, 8, lambda worker: worker.while_in("consent", "memory", "teaching"))


def report(concurrency: int, costs: dict[str, Cost], memory: float) -> None:
    for kind, cost in costs.items():
        p50, p95 = statistics.median(cost.ms), statistics.quantiles(cost.ms, n=20)[-1]
        ratio = cost.cpu_ms_each / costs["bare view"].cpu_ms_each
        print(
            f"{concurrency:>8}  {kind:<10} {len(cost.ms):>7} {len(cost.ms) / cost.elapsed:>9.1f} {p50:>8.1f} "
            f"{p95:>8.1f} {cost.cpu_ms_each:>10.2f} {ratio:>10.1f} {memory:>7.0f}",
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
    parser.add_argument("--rounds", type=int, default=3, help="of which the cheapest counts")
    options = parser.parse_args()
    # A stopped benchmark takes its server with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    with ExitStack() as stack:
        url = stack.enter_context(database(options.postgres))
        server = stack.enter_context(running_server(url))
        bare = stack.enter_context(bare_server())
        print(f"{'Postgres' if options.postgres else 'SQLite'}, demo study, gunicorn on loopback\n")
        print(
            "sessions  request      count       per s   p50 ms   p95 ms  CPU ms each  x bare     MB"
        )
        warm_up(server)
        for concurrency in options.concurrency:
            rounds = [
                measure(server, concurrency, options.sessions)
                | {"bare view": measure_bare(bare, concurrency)}
                for _ in range(options.rounds)
            ]
            report(concurrency, best(rounds), server.memory_mb())


if __name__ == "__main__":
    main()
