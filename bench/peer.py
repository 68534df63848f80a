"""How many answers a second, beside oTree on the same machine: `python -m bench.peer [--postgres]`.

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
import venv
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlencode, urlsplit

from bench.api import CONCURRENCY, MOST_ANSWERS, Times, Worker, in_groups, in_threads, warm_up
from bench.client import FORM, Connection, OwnCPU, Refused
from bench.databases import database
from bench.servers import ROOT, Server, running, running_server

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
    NAME_IN_URL, PLAYERS_PER_GROUP, NUM_ROUNDS = "task", None, {MOST_ANSWERS + 1}

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
        for number in range(MOST_ANSWERS):
            self.answer(number % 2)


def peer_rate(server: Server, participants: int) -> Rate:
    start = new_session(server, participants)
    forms = [Form(server.address, start) for _ in range(participants)]

    def answer_all() -> tuple[int, float]:
        elapsed = in_threads([form.answer_all for form in forms])
        return participants * MOST_ANSWERS, elapsed

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--postgres", action="store_true", help="instead of SQLite")
    parser.add_argument("--participants", type=int, nargs="+", default=CONCURRENCY)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="at least, in turn")
    parser.add_argument(
        "--folder", type=Path, default=ROOT / "var" / "peer", help="of its virtual environment"
    )
    options = parser.parse_args()
    # A stopped benchmark takes its servers with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    programs = install(options.folder.resolve())
    with ExitStack() as stack:
        url = stack.enter_context(database(options.postgres))
        peer_url = stack.enter_context(database(options.postgres))
        peer = stack.enter_context(running_peer(programs, peer_url))
        server = stack.enter_context(running_server(url))
        warm_up(server)
        print(f"{'Postgres' if options.postgres else 'SQLite'}; {PEER}\n")
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
