"""Servers for benchmarks: the product's own gunicorn, and anything else that is compared with it.

CPU and memory are the server's own, read from /proc: a busy machine makes a server slow, but hardly changes what it
takes.
"""

from __future__ import annotations

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
from socket import socket
from typing import IO
from urllib.error import HTTPError
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parent.parent
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
GUNICORN = (sys.executable, "-m", "gunicorn", "--log-level", "error", "-c")


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
        """What the processes made themselves, shared pages once. Files of libraries are left out: what counts of them
        depends on which other programs run."""
        return sum(proportional_kb(pid) for pid in self.processes()) / 1024


def descendants(pid: int) -> list[int]:
    children = map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
    return [one for child in children for one in (child, *descendants(child))]


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND


def stolen_seconds() -> float:
    """The time of all cores that the host of this machine has given to others while something here waited for them."""
    return sum_of_all_cores("steal")


def busy_seconds() -> float:
    """The time of all cores in which they worked for anybody on this machine."""
    return sum_of_all_cores("user", "nice", "system", "irq", "softirq")


# What the first line of /proc/stat counts, behind its name.
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
def running_server(
    database_url: str, log: IO[bytes] | None = None, options: Sequence[str] = ()
) -> Iterator[Server]:
    """The product on a fresh data folder with the demo study; its log goes into the file, if there is one."""
    with (
        prepared_site(database_url) as environment,
        serving(environment, log, options) as server,
    ):
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
def serving(
    environment: Mapping[str, str],
    log: IO[bytes] | None = None,
    options: Sequence[str] = (),
) -> Iterator[Server]:
    """The product on a site that was prepared, with other options of gunicorn than its own."""
    command = [*GUNICORN, "jedi_web/gunicorn_conf.py", *options, "jedi_web.wsgi"]
    # Without a log, the benchmark's table has the times of slow requests, too.
    quiet = {} if log else {"JEDI_SLOW_MS": "3600000"}
    with running(command, {**environment, **quiet}, ready="/healthz", log=log) as server:
        yield server


@contextmanager
def bare_server() -> Iterator[Server]:
    """A Django view that does nothing, served as the product is."""
    command = [*GUNICORN, "bench/bare_gunicorn_conf.py", "bench.bare"]
    with running(command, {}, ready="/healthz") as server:
        yield server


@contextmanager
def running(
    command: Sequence[str],
    environment: Mapping[str, str],
    ready: str,
    folder: Path = ROOT,
    log: IO[bytes] | None = None,
) -> Iterator[Server]:
    """Any server that takes its address from HOST and PORT, until the block ends."""
    port = free_port()
    given = os.environ | {"HOST": "127.0.0.1", "PORT": str(port)} | environment
    arguments = [part.format(port=port) for part in command]
    # A line for every request, which some servers write, is no part of a benchmark's table.
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
        # What it has started and not stopped.
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
