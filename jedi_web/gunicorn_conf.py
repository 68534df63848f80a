"""gunicorn's configuration: threaded workers, one BLAS thread each."""

import errno
import os
import socket
import sys
import time
from pathlib import Path
from typing import IO, Any

from django.core.exceptions import ImproperlyConfigured

from jedi_web import environment
from jedi_web.data_folder import DataFolderUnusable, hold
from jobs import supervision

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

try:
    bind = f"{environment.text('HOST', '127.0.0.1')}:{environment.port()}"
    workers = environment.web_processes()
    threads = environment.web_threads()
except ImproperlyConfigured as error:
    # The sentence alone: it says what to do, and a traceback would hide it.
    sys.exit(str(error))
worker_class = "gthread"
# Below the usual limit of 1,024 open files in a process.
worker_connections = 900
# A heartbeat file on a disk can block a worker; memory cannot.
worker_tmp_dir = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108 - gunicorn makes its own file
control_socket_disable = True
# A participant looks at an image for some seconds: keep the connection open for the next one.
keepalive = 15
# Restart a worker process that is stuck. A request may wait 20 seconds for SQLite's write lock.
timeout = 60
# Load the application once, before the fork: the processes share its memory.
preload_app = True

_background: list[supervision.SupervisedWorker] = []
_held: list[IO[str]] = []
# How long a port may stay taken at the start.
PATIENCE_SECONDS = 5.0


def on_starting(server: Any) -> None:
    hold_data_folder()
    refuse_taken_ports(server)


def hold_data_folder() -> None:
    """A second server on one SQLite folder is a mistake; on Postgres many may serve together."""
    from django.conf import settings

    if "sqlite3" not in settings.DATABASES["default"]["ENGINE"]:
        return
    try:
        _held.append(hold(settings.JEDI_DATA_DIR))
    except DataFolderUnusable as refusal:
        sys.exit(str(refusal))


def refuse_taken_ports(server: Any) -> None:
    """In one sentence with the remedy, after as long as gunicorn would try: an earlier server may be about to end."""
    is_inherited = {"GUNICORN_FD", "LISTEN_FDS"} & os.environ.keys()
    given_up_at = time.monotonic() + PATIENCE_SECONDS
    for address in [] if is_inherited else server.address:
        while isinstance(address, tuple) and is_taken(*address):
            if time.monotonic() >= given_up_at:
                sys.exit(
                    f"PORT {address[1]} is taken by another program. Stop that, or choose another: PORT=9000 make run"
                )
            time.sleep(0.2)


def is_taken(host: str, port: int) -> bool:
    """Any other trouble with an address is gunicorn's to tell."""
    try:
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except OSError as error:
        return error.errno == errno.EADDRINUSE
    return False


def when_ready(server: Any) -> None:
    """On one machine, a background worker runs as long as the web server does."""
    if os.environ.get("JEDI_EMBEDDED_WORKER") == "1":
        _background.append(supervision.SupervisedWorker())


def on_exit(server: Any) -> None:
    for worker in _background:
        worker.terminate()
