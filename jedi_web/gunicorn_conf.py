"""gunicorn's configuration: threaded workers, one BLAS thread each."""

import os
import sys
from pathlib import Path
from typing import IO, Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jedi_web.settings")

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from jedi_web import environment
from jedi_web.data_folder import DataFolderUnusable, lock_for_server
from jobs.processes import STOP_WITH_STDIN, stop_when_stdin_closes

try:
    bind = f"{environment.text('HOST', '127.0.0.1')}:{environment.port()}"
    workers = environment.web_processes()
    threads = environment.web_threads()
    # Without session links, and as JSON if JEDI_LOG_JSON is set.
    logconfig_dict = settings.LOGGING
except ImproperlyConfigured as error:
    # A traceback would hide the remedy.
    sys.exit(str(error))
worker_class = "gthread"
# Below the usual limit of 1,024 open files in a process.
worker_connections = 900
# A heartbeat file on a disk can block a worker; memory cannot.
worker_tmp_dir = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108 - gunicorn makes its own file
control_socket_disable = True
# No proxy of ours sets SCRIPT_NAME or PATH_INFO, so a client must not either.
forwarder_headers = ""
# A participant looks at an image for some seconds: keep the connection open for the next one.
keepalive = 15
# Restart a worker process that is stuck. A request may wait 5 seconds for SQLite's write lock, more than once.
timeout = 60
# Load the application once, before the fork: the processes share its memory.
preload_app = True

_locks: list[IO[str]] = []


def on_starting(server: Any) -> None:
    """Refuse a second server on one SQLite file; on Postgres, several may serve together."""
    if "sqlite3" in settings.DATABASES["default"]["ENGINE"]:
        try:
            _locks.append(lock_for_server(settings.JEDI_DATA_DIR, wait_seconds=10))
        except DataFolderUnusable as error:
            sys.exit(str(error))


def post_worker_init(worker: Any) -> None:
    """Stop the server if `manage.py run` was killed, which started it."""
    if os.environ.get(STOP_WITH_STDIN):
        stop_when_stdin_closes(os.getppid())
