"""A whole site as it is deployed: the product's settings and server, on data of its own."""

import atexit
import fcntl
import json
import os
import shutil
import signal
import socket
import sqlite3
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path
from typing import IO, Any

import psycopg

from tests.scratch import scratch_folder

ROOT = Path(__file__).resolve().parent.parent
# Names a folder for what all processes of a run share, when somebody made one (tests/side_by_side.py).
SHARED = "TESTS_SHARED_FOLDER"


@dataclass(frozen=True)
class Reply:
    """What the tests' client and this one have in common."""

    status_code: int
    headers: dict[str, str]
    content: bytes

    def json(self) -> Any:
        return json.loads(self.content)


@dataclass(frozen=True)
class HttpClient:
    """Talks to a site; looks like Django's test client. Every request has a connection of its own."""

    port: int
    is_https: bool = False

    def get(self, path: str, headers: dict[str, str] | None = None) -> Reply:
        return self.request("GET", path, headers=headers or {})

    def post(self, path: str, body: Any, content_type: str = "application/json") -> Reply:
        return self.request("POST", path, json.dumps(body), {"Content-Type": content_type})

    def request(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> Reply:
        with closing(self._connection()) as connection:
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            return Reply(response.status, dict(response.getheaders()), response.read())

    def _connection(self) -> HTTPConnection:
        if self.is_https:
            # The certificate of the site is signed by itself.
            context = ssl._create_unverified_context()
            return HTTPSConnection("127.0.0.1", self.port, timeout=60, context=context)
        return HTTPConnection("127.0.0.1", self.port, timeout=60)


@dataclass
class Site:
    """A running site, and a look into its database that does not go through its code."""

    port: int
    data_dir: Path
    database_url: str
    environment: dict[str, str] = field(repr=False)
    server_pid: int = 0
    is_https: bool = False

    def client(self) -> HttpClient:
        return HttpClient(self.port, self.is_https)

    def make_study(self, **fields: Any) -> str:
        """A short study on a small data set; returns its link name."""
        self.maker.stdin.write(json.dumps(fields) + "\n")
        self.maker.stdin.flush()
        return self.maker.stdout.readline().strip()

    @cached_property
    def maker(self) -> subprocess.Popen[str]:
        """A process of its own, because the studies belong to the site's database and not to ours."""
        return self.conversation("-m", "tests.make_study")

    def conversation(self, *arguments: str) -> subprocess.Popen[str]:
        """A Python process of this site that can be written to and read from while it runs."""
        return subprocess.Popen(
            [sys.executable, *arguments],
            cwd=ROOT,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def prepare(self) -> None:
        """As `make run` does. A site on SQLite is a copy of one that was prepared before."""
        if self.database_url:
            self.python("manage.py", "prepare", "--no-demo")
        else:
            shutil.copytree(prepared_folder(), self.data_dir, dirs_exist_ok=True)

    def start_server(self, log: IO[str], **options: Any) -> subprocess.Popen[bytes]:
        """gunicorn with the product's configuration, on the prepared data folder."""
        command = [
            sys.executable,
            "-m",
            "gunicorn",
            "-c",
            "jedi_web/gunicorn_conf.py",
            "jedi_web.wsgi",
        ]
        server = subprocess.Popen(
            command,
            cwd=ROOT,
            env=self.environment,
            stdout=log,
            stderr=subprocess.STDOUT,
            **options,
        )
        self.server_pid = server.pid
        return server

    def close(self) -> None:
        if "maker" in self.__dict__:
            self.maker.communicate()

    def python(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise RuntimeError(done.stdout + done.stderr)
        return done.stdout

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Reads the stored rows. Place-holders are written as %s."""
        if self.database_url:
            with self._postgres() as connection:
                return connection.execute(sql, values).fetchall()
        with closing(sqlite3.connect(self.data_dir / "db.sqlite3", timeout=20)) as connection:
            return connection.execute(sql.replace("%s", "?"), values).fetchall()

    def _postgres(self) -> psycopg.Connection[Any]:
        return psycopg.connect(self.database_url)

    def participants(self, slug: str, *columns: str) -> list[tuple[Any, ...]]:
        names = ", ".join(f"p.{column}" for column in columns)
        return self.rows(
            f"SELECT {names} FROM studies_participant p JOIN studies_study s ON s.id = p.study_id "
            "WHERE s.slug = %s ORDER BY p.id",
            slug,
        )


@cache
def prepared_folder() -> Path:
    """A data folder on SQLite, made once: migrating and collecting static files take seconds."""
    if shared := os.environ.get(SHARED):
        return prepared_among_processes(Path(shared))
    atexit.register(remove_prepared_folder)
    return prepare_in(scratch_folder())


def prepared_among_processes(shared: Path) -> Path:
    """Whoever comes first makes it, and the others wait; whoever made the place for it removes it."""
    folder = shared / "prepared"
    with (shared / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            prepare_in(str(shared)).rename(folder)
    return folder


def prepare_in(place: str | None) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="jedi-prepared-", dir=place))
    Site(0, folder, "", clean_environment(folder)).python("manage.py", "prepare", "--no-demo")
    return folder


def remove_prepared_folder() -> None:
    """A process of xdist ends without its exit handlers: pytest calls this too."""
    if prepared_folder.cache_info().currsize and SHARED not in os.environ:
        shutil.rmtree(prepared_folder(), ignore_errors=True)


def clean_environment(folder: Path) -> dict[str, str]:
    """The product's settings on this data folder; nothing of the tests' own settings reaches it."""
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("JEDI_")},
        "DJANGO_SETTINGS_MODULE": "jedi_web.settings",
        "JEDI_DATA_DIR": str(folder),
        "DATABASE_URL": "",
        "OPENBLAS_NUM_THREADS": "1",
    }


@contextmanager
def running_site(
    database_url: str = "", processes: int = 2, threads: int = 16, **extra: str
) -> Iterator[Site]:
    """Prepares the data folder, starts gunicorn with the product's configuration, and stops it."""
    with tempfile.TemporaryDirectory(prefix="jedi-site-", dir=scratch_folder()) as folder:
        port = free_port()
        environment = {
            **clean_environment(Path(folder)),
            "DATABASE_URL": database_url,
            "JEDI_DB_POOL": str(threads + 1),
            "JEDI_JOIN_RATE": "1000000/min",
            "HOST": "127.0.0.1",
            "PORT": str(port),
            "WEB_CONCURRENCY": str(processes),
            "WEB_THREADS": str(threads),
        } | extra
        site = Site(port, Path(folder), database_url, environment)
        site.prepare()
        with (Path(folder) / "server.log").open("w+") as log:
            server = site.start_server(log)
            try:
                wait_until_ready(site, server, log)
                yield site
            finally:
                site.close()
                # At once: nobody is being served now.
                server.send_signal(signal.SIGQUIT)
                # gunicorn itself waits for 30 seconds before it kills a process that does not end.
                server.wait(60)


def wait_until_ready(site: Site, server: subprocess.Popen[bytes], log: Any) -> None:
    for _ in range(600):
        try:
            if site.client().get("/healthz").status_code == 200:
                return
        except OSError:
            if server.poll() is not None:
                break
            time.sleep(0.1)
    log.seek(0)
    raise RuntimeError(f"The server did not start:\n{log.read()}")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def at_once(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """Runs every call in a thread of its own, all released at the same moment."""
    gate = threading.Barrier(len(calls))

    def run(call: Callable[[], Any]) -> Any:
        gate.wait(60)
        return call()

    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(run, calls))
