"""How many answers a second, beside oTree on the same machine: `python -m bench.peer [--postgres]`.

With `--alone`, no oTree: the server's CPU time and response times of each kind of request.

oTree is a widely used framework for experiments whose pages are forms: each answer is a POST, a redirect and the next
page. It is installed, in a version of its own, into a virtual environment that nothing else uses (--folder), and serves
forms with the two fields that our answers have. Both servers are driven in the same run by as many participants, who
answer without waiting to think, and by clients on the same cores. Both keep their data in SQLite, or both in Postgres.
A round of one participant takes a fraction of a second, and round robin gives it one teacher of ours: so both servers
are driven in turn, for so many rounds that every teacher comes twice, and the figures are medians over the rounds.
"""

from __future__ import annotations

import argparse
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import venv
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlencode, urlsplit

from bench.servers import (
    FORM,
    ROOT,
    Connection,
    OwnCPU,
    Refused,
    Server,
    database,
    running,
    running_server,
)
from rehearsal.http import Session

CONCURRENCY = (1, 8, 32)
# Per participant and stage. More would take longer and tell nothing new.
MAX_ANSWERS = 40
MAX_IMAGES = 20
# So many rounds at least, and so many participants in all: every teacher of the demo study comes twice.
ROUNDS, PARTICIPANTS = 3, 8

PEER = "otree==6.0.15"
POSTGRES_DRIVER = "psycopg2-binary==2.9.10"

SETTINGS = """
SESSION_CONFIGS = [dict(name="task", app_sequence=["task"], num_demo_participants=1)]
SESSION_CONFIG_DEFAULTS = dict(real_world_currency_per_point=1, participation_fee=0, doc="")
LANGUAGE_CODE, REAL_WORLD_CURRENCY_CODE, USE_POINTS = "en", "USD", True
ADMIN_USERNAME = ADMIN_PASSWORD = SECRET_KEY = "bench"
PARTICIPANT_FIELDS, SESSION_FIELDS = [], []
"""
APP = f"""
from otree.api import *

class C(BaseConstants):
    NAME_IN_URL, PLAYERS_PER_GROUP, NUM_ROUNDS = "task", None, {MAX_ANSWERS + 1}

class Subsession(BaseSubsession):
    pass

class Group(BaseGroup):
    pass

class Player(BasePlayer):
    label = models.IntegerField(choices=[0, 1])
    response_ms = models.FloatField()

class Answer(Page):
    form_model, form_fields = "player", ["label", "response_ms"]

page_sequence = [Answer]
"""
PAGE = """
{{ block title }}Which class is this?{{ endblock }}
{{ block content }}{{ formfields }}{{ next_button }}{{ endblock }}
"""
FILES = {"settings.py": SETTINGS, "task/__init__.py": APP, "task/Answer.html": PAGE}


# Our participants


@dataclass
class Times:
    """The milliseconds of every request, by its kind."""

    by_kind: dict[str, list[float]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, kind: str, ms: float) -> None:
        with self.lock:
            self.by_kind.setdefault(kind, []).append(ms)


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
            # A short memory, which needs few rounds.
            return {"order": order if task["length"] < 4 else order[::-1]}
        label = self.session.classes[task["position"] % 2]
        return {"label": label, "response_ms": 700.0, "feedback_ms": 900.0}

    def while_in(self, *kinds: str) -> None:
        for _ in range(MAX_ANSWERS):
            if self.session.task["kind"] not in kinds:
                break
            self.answer()

    def fetch_images(self) -> None:
        image = self.session.task["image"]["url"]
        for _ in range(MAX_IMAGES):
            self.timed("image", lambda: self.session.client.content(image))


def in_threads(actions: list[Callable[[], Any]]) -> float:
    """Runs all of them at once; returns the seconds. An exception of one ends the benchmark."""
    started = time.perf_counter()
    with ThreadPoolExecutor(len(actions)) as threads:
        for done in [threads.submit(action) for action in actions]:
            done.result()
    return time.perf_counter() - started


def in_groups(workers: list[Worker], size: int, action: Callable[[Worker], Any]) -> float:
    """Runs the action for groups of this size, one group after the other; returns the seconds."""
    return sum(
        in_threads(
            [lambda worker=worker: action(worker) for worker in workers[first : first + size]]
        )  # type: ignore[misc]
        for first in range(0, len(workers), size)
    )


def warm_up(server: Server) -> None:
    """Every process imports the engine and maps the pool at its first choice; that is not part of a step."""
    workers = [Worker(server.address, Times()) for _ in range(8)]
    in_groups(workers, 8, lambda worker: worker.while_in("consent", "memory", "teaching"))


# oTree and its participants


def install(folder: Path) -> Path:
    """The folder's programs, installed if they are not there."""
    programs = folder / "bin"
    if not (programs / "otree").exists():
        venv.create(folder, with_pip=True, clear=True)
        command = [programs / "pip", "install", "--quiet", PEER, POSTGRES_DRIVER]
        subprocess.run(command, check=True)
    return programs


@contextmanager
def running_peer(programs: Path, database_url: str) -> Iterator[Server]:
    with tempfile.TemporaryDirectory(prefix="peer-bench-") as name:
        folder = Path(name)
        for part in ("_static", "_templates", "task"):
            (folder / part).mkdir()
        for path, text in FILES.items():
            (folder / path).write_text(text)
        environment = {"OTREE_PRODUCTION": "1", "PATH": f"{programs}:/usr/bin:/bin"}
        if database_url:
            environment["DATABASE_URL"] = with_host_in_query(database_url)
        command = [str(programs / "otree"), "prodserver", "127.0.0.1:{port}"]
        with running(command, environment, ready="/api/otree_version", folder=folder) as server:
            yield server


def with_host_in_query(url: str) -> str:
    """The address of a Postgres on a socket as SQLAlchemy writes it."""
    parts = urlsplit(url)
    user, _, host = parts.netloc.rpartition("@")
    return f"postgresql://{user}@{parts.path}?host={unquote(host)}"


@dataclass(frozen=True)
class Rate:
    """What some answers took, all of them together."""

    answers: int
    elapsed: float
    server_cpu: float
    client_cpu: float

    @property
    def per_second(self) -> float:
        return self.answers / self.elapsed

    @property
    def server_ms(self) -> float:
        return 1000 * self.server_cpu / self.answers

    @property
    def client_ms(self) -> float:
        return 1000 * self.client_cpu / self.answers


def measured(server: Server, action: Callable[[], tuple[int, float]]) -> Rate:
    """The action returns how many answers were given in how many seconds."""
    cpu, own = server.cpu_seconds(), OwnCPU()
    answers, elapsed = action()
    return Rate(answers, elapsed, server.cpu_seconds() - cpu, own.seconds())


class Form:
    """A participant of the peer: sends a form, follows the redirect, and so on."""

    def __init__(self, address: str, start: str) -> None:
        self.connection = Connection(address)
        self.page = start
        self.follow()

    def follow(self) -> None:
        """Goes wherever the server sends it, until there is a page."""
        while place := self.connection.send("GET", self.page)[0].location:
            self.page = path_of(place)

    def answer(self, label: int) -> None:
        body = urlencode({"label": label, "response_ms": 700.0}).encode()
        place = self.connection.send("POST", self.page, body, FORM)[0].location
        if not place:
            raise Refused(f"{PEER} did not take an answer: it shows the same page again.")
        self.page = path_of(place)
        self.follow()

    def answer_all(self) -> None:
        for number in range(MAX_ANSWERS):
            self.answer(number % 2)


def peer_rate(server: Server, participants: int) -> Rate:
    start = new_session(server, participants)
    forms = [Form(server.address, start) for _ in range(participants)]

    def answer_all() -> tuple[int, float]:
        elapsed = in_threads([form.answer_all for form in forms])
        return participants * MAX_ANSWERS, elapsed

    return measured(server, answer_all)


def new_session(server: Server, participants: int) -> str:
    """The path where participants of a new session begin; each who comes is another one."""
    body = {"session_config_name": "task", "num_participants": participants}
    place: str = Connection(server.address).post("/api/sessions", body)["session_wide_url"]
    return path_of(place)


def path_of(address: str) -> str:
    """What a browser asks a server for, wherever the server says that it is."""
    return urlsplit(address)._replace(scheme="", netloc="").geturl()


def own_rate(server: Server, participants: int) -> Rate:
    """Of answers to teaching and to the test."""
    times = Times()
    workers = [Worker(server.address, times) for _ in range(participants)]
    in_groups(workers, participants, lambda worker: worker.while_in("consent", "memory"))
    kinds = ("teaching", "evaluation")

    def answer_all() -> tuple[int, float]:
        elapsed = in_groups(workers, participants, lambda worker: worker.while_in(*kinds))
        return sum(len(times.by_kind.get(kind, ())) for kind in kinds), elapsed

    return measured(server, answer_all)


@dataclass(frozen=True)
class Round:
    """Both servers, one after the other."""

    ours: Rate
    theirs: Rate

    @property
    def ratio(self) -> float:
        return self.ours.per_second / self.theirs.per_second


def report(participants: int, rounds: list[Round]) -> None:
    def median(value: Callable[[Round], float]) -> float:
        return statistics.median(map(value, rounds))

    ratios = [one.ratio for one in rounds]
    print(
        f"{participants:>12} {median(lambda one: one.ours.per_second):>7.1f} "
        f"{median(lambda one: one.theirs.per_second):>7.1f} "
        f"{statistics.median(ratios):>6.1f} {min(ratios):>6.1f} to {max(ratios):>4.1f} "
        f"{median(lambda one: one.ours.server_ms):>7.1f} {median(lambda one: one.theirs.server_ms):>7.1f} "
        f"{median(lambda one: one.ours.client_ms):>7.2f} {median(lambda one: one.theirs.client_ms):>7.2f}",
        flush=True,
    )


# Our server alone


@dataclass(frozen=True)
class Cost:
    """All requests of one kind."""

    ms: list[float]
    elapsed: float
    cpu: float

    @property
    def cpu_ms_each(self) -> float:
        return 1000 * self.cpu / len(self.ms)


# Every teacher of the demo study at least once.
MIN_SESSIONS = 4
ACTIONS: dict[str, Callable[[Worker], Any]] = {
    "teaching": lambda worker: worker.while_in("teaching"),
    "evaluation": lambda worker: worker.while_in("evaluation"),
    "image": Worker.fetch_images,
}


def costs_of(server: Server, concurrency: int) -> dict[str, Cost]:
    times = Times()
    workers = [Worker(server.address, times) for _ in range(max(concurrency, MIN_SESSIONS))]
    in_groups(workers, concurrency, lambda worker: worker.while_in("consent", "memory"))
    costs = {}
    for kind, action in ACTIONS.items():
        cpu = server.cpu_seconds()
        elapsed = in_groups(workers, concurrency, action)
        costs[kind] = Cost(times.by_kind[kind], elapsed, server.cpu_seconds() - cpu)
    return costs


def measure_alone(server: Server, levels: list[int], rounds: int) -> None:
    print("sessions  request      count     per s   p50 ms   p95 ms  CPU ms each      MB")
    for concurrency in levels:
        measured = [costs_of(server, concurrency) for _ in range(rounds)]
        for kind in ACTIONS:
            # The cheapest round: whatever else the machine does can only add to the CPU time.
            cost = min((one[kind] for one in measured), key=lambda one: one.cpu_ms_each)
            p50, p95 = statistics.median(cost.ms), statistics.quantiles(cost.ms, n=20)[-1]
            print(
                f"{concurrency:>8}  {kind:<10} {len(cost.ms):>7} {len(cost.ms) / cost.elapsed:>9.1f} "
                f"{p50:>8.1f} {p95:>8.1f} {cost.cpu_ms_each:>12.2f} {server.memory_mb():>7.0f}",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--postgres", action="store_true", help="instead of SQLite")
    parser.add_argument("--alone", action="store_true", help="without oTree, by kind of request")
    parser.add_argument("--participants", type=int, nargs="+", default=CONCURRENCY)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="at least, in turn")
    parser.add_argument(
        "--folder", type=Path, default=ROOT / "var" / "peer", help="of its virtual environment"
    )
    options = parser.parse_args()
    # A stopped benchmark takes its servers with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    kind = "Postgres" if options.postgres else "SQLite"
    programs = None if options.alone else install(options.folder.resolve())
    with ExitStack() as stack:
        url = stack.enter_context(database(options.postgres))
        server = stack.enter_context(running_server(url))
        warm_up(server)
        if programs is None:
            print(f"{kind}, demo study, gunicorn on loopback\n")
            measure_alone(server, options.participants, options.rounds)
            return
        peer_url = stack.enter_context(database(options.postgres))
        peer = stack.enter_context(running_peer(programs, peer_url))
        print(f"{kind}; {PEER}\n")
        print("                   answers/s                         server CPU ms   client CPU ms")
        print("participants    ours   oTree  ratio  over rounds    ours   oTree    ours   oTree")
        for participants in options.participants:
            count = max(options.rounds, PARTICIPANTS // participants)
            rounds = [
                Round(theirs=peer_rate(peer, participants), ours=own_rate(server, participants))
                for _ in range(count)
            ]
            report(participants, rounds)


if __name__ == "__main__":
    main()
