"""Servers, databases and HTTP connections for the web benchmarks.

CPU and memory are the server's own, read from /proc: a busy machine makes a server slow, but hardly changes its CPU
time. Clients do as little work as possible, because they run on the cores of the server.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from socket import create_connection, socket
from typing import IO, Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parent.parent
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


@dataclass
class Server:
    port: int
    process: subprocess.Popen[bytes]

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def processes(self) -> list[int]:
        return [self.process.pid, *descendants(self.process.pid)]

    def cpu_seconds(self) -> float:
        return sum(cpu_seconds(pid) for pid in self.processes())

    def memory_mb(self) -> float:
        """The proportional set size without mapped files, whose share depends on other programs."""
        return sum(proportional_kb(pid) for pid in self.processes()) / 1024


def descendants(pid: int) -> list[int]:
    children = map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
    return [one for child in children for one in (child, *descendants(child))]


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND


def stolen_seconds() -> float:
    """Steal time of all cores: the host ran other guests."""
    return sum_of_all_cores("steal")


def busy_seconds() -> float:
    """Busy time of all cores."""
    return sum_of_all_cores("user", "nice", "system", "irq", "softirq")


# The columns of the first line of /proc/stat.
COUNTED = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")


def sum_of_all_cores(*names: str) -> float:
    ticks = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    by_name = dict(zip(COUNTED, map(int, ticks), strict=False))
    return sum(by_name[name] for name in names) / TICKS_PER_SECOND


def proportional_kb(pid: int) -> int:
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss_Anon:"):
            return int(line.split()[1])
    return 0


@contextmanager
def running_server(database_url: str, log: IO[bytes] | None = None) -> Iterator[Server]:
    """The product on a fresh data folder with the demo study; its log goes to the file, if there is one."""
    with prepared_site(database_url) as environment, serving(environment, log) as server:
        yield server


@contextmanager
def prepared_site(database_url: str) -> Iterator[Mapping[str, str]]:
    """The environment of a fresh data folder with the demo study."""
    with tempfile.TemporaryDirectory(prefix="jedi-bench-") as folder:
        environment = {
            "DJANGO_SETTINGS_MODULE": "jedi_web.settings",
            "JEDI_DATA_DIR": folder,
            "DATABASE_URL": database_url,
            "JEDI_JOIN_RATE": "1000000/min",
        }
        prepare = [sys.executable, "manage.py", "prepare"]
        whole = os.environ | environment
        subprocess.run(prepare, cwd=ROOT, env=whole, check=True, stdout=subprocess.DEVNULL)
        yield environment


@contextmanager
def serving(environment: Mapping[str, str], log: IO[bytes] | None = None) -> Iterator[Server]:
    """The product's gunicorn on a prepared site."""
    command = [sys.executable, "-m", "gunicorn", "--log-level", "error"]
    command += ["-c", "jedi_web/gunicorn_conf.py", "jedi_web.wsgi"]
    # Without a log file, warnings about slow requests would go into the benchmark's table.
    quiet = {} if log else {"JEDI_SLOW_MS": "3600000"}
    with running(command, {**environment, **quiet}, ready="/healthz", log=log) as server:
        yield server


@contextmanager
def database(wants_postgres: bool) -> Iterator[str]:
    """The URL of a fresh Postgres database, or an empty one for SQLite."""
    if not wants_postgres:
        yield ""
        return
    try:
        from tests.postgres import running_postgres
    except ImportError as error:
        raise SystemExit(
            "A Postgres for the benchmark comes with the development requirements: make lint installs them."
        ) from error
    with running_postgres() as server:
        yield server.create_database("bench")


@contextmanager
def running(
    command: Sequence[str],
    environment: Mapping[str, str],
    ready: str,
    folder: Path = ROOT,
    log: IO[bytes] | None = None,
) -> Iterator[Server]:
    """Any server that reads its address from HOST and PORT, or from {port} in the command."""
    port = free_port()
    given = os.environ | {"HOST": "127.0.0.1", "PORT": str(port)} | environment
    arguments = [part.format(port=port) for part in command]
    # Some servers log every request to stdout.
    process = subprocess.Popen(
        arguments,
        cwd=folder,
        env=given,
        stdout=subprocess.DEVNULL,
        stderr=log,
        start_new_session=True,
    )
    try:
        wait_until_ready(f"http://127.0.0.1:{port}{ready}")
        yield Server(port, process)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(120)
        # Children that it did not stop.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)


def free_port() -> int:
    with closing(socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until_ready(address: str) -> None:
    for _ in range(300):
        try:
            urlopen(address, timeout=120).close()
        except HTTPError:
            return
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise SystemExit("The server did not start.")


# HTTP

Json = dict[str, Any]

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
TIMEOUT_SECONDS = 60
TRIES = 3
END_OF_HEAD = b"\r\n\r\n"


class Refused(Exception):
    """The server answered with an error."""


@dataclass(frozen=True)
class Head:
    """The part of a response's header that a client needs."""

    status: int
    length: int | None
    """None if the response is chunked"""
    location: str | None
    closes: bool

    @classmethod
    def of(cls, head: bytes) -> Head:
        return cls(
            int(head[9:12]),
            None
            if header(head, b"transfer-encoding")
            else int(header(head, b"content-length") or 0),
            header(head, b"location"),
            (header(head, b"connection") or "").lower() == "close",
        )


def header(head: bytes, name: bytes) -> str | None:
    place = head.lower().find(b"\r\n" + name + b":")
    if place < 0:
        return None
    return head[place + len(name) + 3 : head.index(b"\r\n", place + 2)].strip().decode()


def is_whole(head: Head, received: bytes, start: int) -> bool:
    """Whether a response whose content starts at `start` is complete."""
    if head.length is not None:
        return len(received) >= start + head.length
    while (end := received.find(b"\r\n", start)) >= 0:
        size = int(received[start:end], 16)
        start = end + 2 + size + 2
        if not size:
            return len(received) >= start
    return False


def request_bytes(method: str, path: str, body: bytes = b"", kind: str = JSON) -> bytes:
    return (
        f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {kind}\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    ).encode() + body


def check(head: Head, content: bytes, asked: str) -> None:
    if head.status >= 400:
        raise Refused(f"{asked}: {head.status} {content[:200].decode(errors='replace')}")


class Connection:
    """A keep-alive connection."""

    def __init__(self, address: str) -> None:
        self.place = ("127.0.0.1", urlsplit(address).port)
        self.socket: socket | None = None

    def send(
        self, method: str, path: str, body: bytes = b"", kind: str = JSON
    ) -> tuple[Head, bytes]:
        request = request_bytes(method, path, body, kind)
        for _ in range(TRIES):
            try:
                head, content = self._exchange(request)
            except ConnectionError:
                # The server has closed the connection since the last response.
                self.close()
                continue
            check(head, content, f"{method} {path}")
            return head, content
        raise Refused(f"{method} {path}: no reply")

    def _exchange(self, request: bytes) -> tuple[Head, bytes]:
        if self.socket is None:
            self.socket = create_connection(self.place, TIMEOUT_SECONDS)
        self.socket.sendall(request)
        received = self._more(b"")
        while END_OF_HEAD not in received:
            received = self._more(received)
        start = received.index(END_OF_HEAD) + len(END_OF_HEAD)
        head = Head.of(received[:start])
        while not is_whole(head, received, start):
            received = self._more(received)
        if head.closes:
            self.close()
        return head, received[start:]

    def _more(self, received: bytes) -> bytes:
        assert self.socket
        if not (part := self.socket.recv(65536)):
            raise ConnectionResetError
        return received + part

    def close(self) -> None:
        if self.socket:
            self.socket.close()
            self.socket = None

    def content(self, path: str) -> bytes:
        return self.send("GET", path)[1]

    def get(self, path: str) -> Json:
        return dict(json.loads(self.content(path)))

    def post(self, path: str, body: Json) -> Json:
        return dict(json.loads(self.send("POST", path, json.dumps(body).encode())[1]))


class OwnCPU:
    """The CPU seconds of this process, the client, since the object was made."""

    def __init__(self) -> None:
        self.started = time.process_time()

    def seconds(self) -> float:
        return time.process_time() - self.started
