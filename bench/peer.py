"""How many answers a second, beside oTree on the same machine: `python -m bench.peer [--postgres]`.

oTree is a widely used framework for experiments whose pages are forms: each answer is a POST, a redirect and the next
page. It is installed, in a version of its own, into a virtual environment that nothing else uses (--folder), and serves
forms with the two fields that our answers have. Both servers are driven in the same run by as many participants, who
answer without waiting to think, and by clients on the same cores. Both keep their data in SQLite, or both in Postgres.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlencode

from bench.api import CONCURRENCY, MOST_ANSWERS, Times, Worker, in_groups, in_threads, warm_up
from bench.databases import database
from bench.servers import ROOT, Server, running, running_server

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
            environment["DATABASE_URL"] = database_url
        command = [str(programs / "otree"), "prodserver", "127.0.0.1:{port}"]
        with running(command, environment, ready="/api/otree_version", folder=folder) as server:
            yield server


class Form:
    """A participant of the peer: sends a form, follows the redirect, and so on."""

    def __init__(self, port: int, start: str) -> None:
        self.connection = HTTPConnection("127.0.0.1", port, timeout=60)
        self.page = start
        self.follow()

    def follow(self) -> None:
        """Goes wherever the server sends it, until there is a page."""
        while (place := self.send("GET", self.page)) is not None:
            self.page = place

    def send(self, method: str, path: str, body: str | None = None) -> str | None:
        """The address of a redirect; None if there is a page."""
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        self.connection.request(method, path, body, kind)
        reply = self.connection.getresponse()
        reply.read()
        if reply.status >= 400:
            raise SystemExit(f"The peer answered {reply.status} to {method} {path}.")
        return reply.getheader("location") if reply.status >= 300 else None

    def answer_all(self) -> None:
        for number in range(MOST_ANSWERS):
            body = urlencode({"label": number % 2, "response_ms": 700.0})
            self.page = self.send("POST", self.page, body) or self.page
            self.follow()


def peer_rate(server: Server, participants: int) -> tuple[float, float]:
    """Answers a second, and CPU milliseconds of each."""
    start = new_session(server, participants)
    forms = [Form(server.port, start) for _ in range(participants)]
    cpu = server.cpu_seconds()
    elapsed = in_threads([form.answer_all for form in forms])
    answers = participants * MOST_ANSWERS
    return answers / elapsed, 1000 * (server.cpu_seconds() - cpu) / answers


def new_session(server: Server, participants: int) -> str:
    """The path where participants of a new session begin; each who comes is another one."""
    body = json.dumps({"session_config_name": "task", "num_participants": participants})
    connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("POST", "/api/sessions", body, {"Content-Type": "application/json"})
    place: str = json.load(connection.getresponse())["session_wide_url"]
    connection.close()
    return "/join/" + place.rpartition("/join/")[2]


def own_rate(server: Server, participants: int) -> tuple[float, float]:
    """Answers to teaching and to the test: a second, and CPU milliseconds of each."""
    times = Times()
    workers = [Worker(server.address, times) for _ in range(participants)]
    in_groups(workers, participants, lambda worker: worker.while_in("consent", "memory"))
    cpu = server.cpu_seconds()
    kinds = ("teaching", "evaluation")
    elapsed = in_groups(workers, participants, lambda worker: worker.while_in(*kinds))
    answers = sum(len(times.by_kind[kind]) for kind in kinds if kind in times.by_kind)
    return answers / elapsed, 1000 * (server.cpu_seconds() - cpu) / answers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--postgres", action="store_true", help="instead of SQLite")
    parser.add_argument("--participants", type=int, nargs="+", default=CONCURRENCY)
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
        print("              answers/s             CPU ms each")
        print("participants  ours    oTree  ratio  ours  oTree")
        for participants in options.participants:
            theirs, their_cpu = peer_rate(peer, participants)
            ours, our_cpu = own_rate(server, participants)
            print(
                f"{participants:>12} {ours:>6.1f} {theirs:>8.1f} {ours / theirs:>6.1f} "
                f"{our_cpu:>5.1f} {their_cpu:>6.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
