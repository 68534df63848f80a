"""How many workers at a human pace one machine carries: `python -m bench.crowd [--postgres] [--workers 100 200 …]`.

Every worker looks at an image for two to five seconds, answers, and asks for the next task's images, as a page does.
They have joined one after the other, over as long as a session takes: when the clock starts, everybody is somewhere
between the first image of the teaching and the last of the test. With `--together` everybody is at the first images of
the teaching instead, whose answers cost most. Whoever finishes is followed by somebody new, who takes the memory test
in a hurry. The clients are on the same cores as the server, and the table says how much of them they take, how much
other programs did (Postgres among them), and how much the host of a virtual machine took away for others. A level holds
if 95 % of its answers take less than 250 ms and nothing fails; the last line is the largest that holds.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import statistics
import sys
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field

from bench.servers import (
    END_OF_HEAD,
    TRIES,
    Head,
    Json,
    OwnCPU,
    Refused,
    Server,
    busy_seconds,
    check,
    database,
    prepared_site,
    request_bytes,
    serving,
    stolen_seconds,
)

LEVELS = (100, 250, 500, 750, 1000)
PROCESSES = int(os.environ.get("WEB_CONCURRENCY", "2"))
THINKING_SECONDS = (2.0, 5.0)
# The first image is shown within five seconds and answered within five more.
SETTLING_SECONDS = 2 * THINKING_SECONDS[1]
MOST_MS = 250
# How many join and take the memory test at once before the clock starts.
JOINING = 8


@dataclass
class Record:
    """What happened since the clock started."""

    answers_ms: list[float] = field(default_factory=list)
    images_ms: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    elapsed: float = 0.0
    server_cpu: float = 0.0
    client_cpu: float = 0.0
    all_cpu: float = 0.0
    stolen: float = 0.0

    @property
    def others_cpu(self) -> float:
        return max(0.0, self.all_cpu - self.server_cpu - self.client_cpu)

    @property
    def holds(self) -> bool:
        return not self.errors and percentile(self.answers_ms) < MOST_MS


class Connection:
    """A connection that is kept open as long as the server does; a request that got no reply is sent again."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def send(self, method: str, path: str, body: Json | None = None) -> bytes:
        content = b"" if body is None else json.dumps(body).encode()
        request = request_bytes(method, path, content)
        for _ in range(TRIES):
            try:
                head, reply = await self._exchange(request)
            except (ConnectionError, asyncio.IncompleteReadError):
                # The server has closed the connection while the worker was thinking.
                self.close()
                continue
            check(head, reply, f"{method} {path}")
            return reply
        raise Refused(f"{method} {path}: no reply")

    async def _exchange(self, request: bytes) -> tuple[Head, bytes]:
        if self.streams is None:
            self.streams = await asyncio.open_connection("127.0.0.1", self.port)
        reader, writer = self.streams
        writer.write(request)
        head = Head.of(await reader.readuntil(END_OF_HEAD))
        content = await reader.readexactly(head.length)
        if head.closes:
            self.close()
        return head, content

    def close(self) -> None:
        if self.streams:
            self.streams[1].close()
            self.streams = None


class Worker:
    """Takes part in the demo study, again and again."""

    def __init__(self, port: int, record: Record) -> None:
        self.connection = Connection(port)
        self.record = record
        self.state: Json = {}
        self.seen: set[str] = set()

    def go_on_at(self, server: Server) -> None:
        self.connection.close()
        self.connection = Connection(server.port)

    async def join(self) -> None:
        """A new session up to its first image, in a hurry."""
        joined = json.loads(await self.connection.send("POST", "/api/studies/demo/sessions/", {}))
        self.address, self.seen = f"/api/sessions/{joined['token']}/", set()
        self.state = json.loads(await self.connection.send("GET", self.address))
        while "image" not in self.state["task"]:
            await self.answer(await self.first_answers())

    async def go_ahead(self, share: float) -> None:
        """Answers so much of the images of the session, in a hurry."""
        for _ in range(int(share * images_of(self.state["session"]))):
            await self.answer_image()

    async def first_answers(self) -> Json:
        task = self.state["task"]
        if task["kind"] == "consent":
            return {"agree": True}
        body = {"position": task["position"]}
        reply = await self.connection.send("POST", self.address + "exposures/", body)
        order = json.loads(reply)["task"]["order"]
        return {"order": order if task["length"] < 4 else order[::-1]}

    async def answer(self, answer: Json) -> None:
        body = {"position": self.state["task"]["position"], **answer}
        self.state = json.loads(await self.connection.send("POST", self.address + "answers/", body))

    async def take_part(self, until: float) -> None:
        """Answers images at a human pace until the time is over."""
        await sleep_until(time.perf_counter() + random.uniform(0, THINKING_SECONDS[1]), until)
        while time.perf_counter() < until:
            try:
                await self.one_image(until)
            except (OSError, Refused) as error:
                self.record.errors.append(repr(error))

    async def one_image(self, until: float) -> None:
        if "image" not in self.state["task"]:
            await self.join()
        await self.look()
        await sleep_until(time.perf_counter() + random.uniform(*THINKING_SECONDS), until)
        started = time.perf_counter()
        if started >= until:
            return
        await self.answer_image()
        self.record.answers_ms.append(1000 * (time.perf_counter() - started))

    async def answer_image(self) -> None:
        label = random.choice(self.state["session"]["classes"])
        await self.answer({"label": label, "response_ms": 3000.0, "feedback_ms": 900.0})

    async def look(self) -> None:
        """Fetches the image of the task and the one that the page prefetches, each once."""
        task = self.state["task"]
        for address in (task["image"]["url"], *task.get("prefetch", ())):
            if address not in self.seen:
                started = time.perf_counter()
                await self.connection.send("GET", address)
                self.record.images_ms.append(1000 * (time.perf_counter() - started))
                self.seen.add(address)


def images_of(session: Json) -> int:
    """How many a session shows, in teaching and test."""
    totals = {stage["name"]: stage["total"] for stage in session["stages"]}
    return int(totals["teaching"] + totals["evaluation"])


async def sleep_until(*moments: float) -> None:
    """Until the first of them."""
    await asyncio.sleep(max(0.0, min(moments) - time.perf_counter()))


async def grown(
    workers: list[Worker], server: Server, count: int, are_spread: bool = False
) -> None:
    """Lets as many join as are missing, a few at once; spread over the whole session, or at its first images."""
    limit = asyncio.Semaphore(JOINING)

    async def join() -> None:
        async with limit:
            worker = Worker(server.port, Record())
            await worker.join()
            if are_spread:
                await worker.go_ahead(random.random())
            workers.append(worker)

    await asyncio.gather(*(join() for _ in range(count - len(workers))))


async def hold(
    workers: list[Worker], server: Server, seconds: float, record: Record, settling: float = 0.0
) -> None:
    """Writes down what happens at this level; of the seconds in which it settles, before these, errors alone."""
    at_first = Record()
    for worker in workers:
        worker.record = at_first
    until = time.perf_counter() + settling + seconds
    crowd = asyncio.gather(*(worker.take_part(until) for worker in workers))
    await asyncio.sleep(settling)
    for worker in workers:
        worker.record = record
    record.errors += at_first.errors
    started, cpu, own = time.perf_counter(), server.cpu_seconds(), OwnCPU()
    stolen, busy = stolen_seconds(), busy_seconds()
    await crowd
    record.stolen, record.all_cpu = stolen_seconds() - stolen, busy_seconds() - busy
    record.elapsed = time.perf_counter() - started
    record.server_cpu, record.client_cpu = server.cpu_seconds() - cpu, own.seconds()


def percentile(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[-1] if len(values) > 1 else 0.0


@dataclass(frozen=True)
class Levels:
    """What is tried: so many workers, with each of these numbers of web processes in turn, `rounds` times."""

    workers: list[int]
    processes: list[int]
    rounds: int
    seconds: float
    are_spread: bool

    async def drive(self, environment: Mapping[str, str]) -> int:
        """The largest level that holds whatever the processes; those above the first that does not are not tried."""
        crowd: list[Worker] = []
        largest = 0
        for level in sorted(self.workers):
            records = [
                await self.held(crowd, level, environment, processes)
                for _ in range(self.rounds)
                for processes in self.processes
            ]
            if not all(record.holds for record in records):
                break
            largest = level
        return largest

    async def held(
        self, crowd: list[Worker], level: int, environment: Mapping[str, str], processes: int
    ) -> Record:
        """The same crowd goes on at another server on the same data."""
        with serving({**environment, "WEB_CONCURRENCY": str(processes)}) as server:
            for worker in crowd:
                worker.go_on_at(server)
            await grown(crowd, server, level, self.are_spread)
            record = Record()
            await hold(crowd, server, self.seconds, record, SETTLING_SECONDS)
        report(level, processes, record)
        return record


def report(level: int, processes: int, record: Record) -> None:
    answers = record.answers_ms
    print(
        f"{level:>7} {processes:>9} {len(answers):>8} {len(answers) / record.elapsed:>10.1f} "
        f"{statistics.median(answers):>8.1f} {percentile(answers):>8.1f} {percentile(record.images_ms):>13.1f} "
        f"{len(record.errors):>7} {record.server_cpu / record.elapsed:>13.2f} "
        f"{record.client_cpu / record.elapsed:>13.2f} {record.others_cpu / record.elapsed:>7.2f} "
        f"{record.stolen / record.elapsed:>7.2f}",
        flush=True,
    )
    for error in record.errors[:3]:
        print(f"        {error}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--postgres", action="store_true", help="instead of SQLite")
    parser.add_argument("--workers", type=int, nargs="+", default=list(LEVELS))
    parser.add_argument("--seconds", type=float, default=60, help="of each level")
    parser.add_argument(
        "--together", action="store_true", help="everybody in the teaching, instead of anywhere"
    )
    parser.add_argument(
        "--processes", type=int, nargs="+", default=[PROCESSES], help="of the web server, in turn"
    )
    parser.add_argument("--rounds", type=int, default=1, help="of all numbers of processes")
    options = parser.parse_args()
    # A stopped benchmark takes its server with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    levels = Levels(
        options.workers,
        options.processes,
        options.rounds,
        options.seconds,
        are_spread=not options.together,
    )
    with ExitStack() as stack:
        url = stack.enter_context(database(options.postgres))
        environment = stack.enter_context(prepared_site(url))
        kind = "Postgres" if options.postgres else "SQLite"
        where = "the teaching" if options.together else "all parts of a session"
        print(
            f"{kind}, demo study, gunicorn on loopback, {options.seconds:g} s at each level, workers in {where}\n"
        )
        print(
            "workers processes  answers  answers/s   p50 ms   p95 ms  image p95 ms  errors  server cores  "
            "client cores  others  stolen"
        )
        largest = asyncio.run(levels.drive(environment))
        print(f"\nThe largest number with a p95 under {MOST_MS} ms and no error: {largest:,}.")


if __name__ == "__main__":
    main()
