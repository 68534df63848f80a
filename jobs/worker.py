"""Traces of the background worker: a heartbeat for `/readyz`, and a lock for those who need the data folder alone."""

import fcntl
import logging
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings

logger = logging.getLogger(__name__)

MAX_SILENCE_SECONDS = 60.0


class WorkerRunning(Exception):
    """A worker uses the SQLite file."""


class WorkersLockedOut(Exception):
    """The rows of the SQLite file are being moved."""


def heartbeat_file() -> Path:
    return settings.JEDI_DATA_DIR / "worker-heartbeat"


def beat() -> None:
    """Best effort: a folder that is not writable shows as a missing heartbeat too."""
    try:
        heartbeat_file().touch()
    except OSError as error:
        logger.warning("no heartbeat of the background worker: %s", error)


def seconds_since_heartbeat() -> float | None:
    """The age of the newest heartbeat of any worker, or None. One from the future is as old: the clock was wrong."""
    try:
        return abs(time.time() - heartbeat_file().stat().st_mtime)
    except FileNotFoundError:
        return None


@contextmanager
def running_worker(folder: Path) -> Iterator[None]:
    """Share the lock with other workers."""
    refusal = WorkersLockedOut(
        "The rows of the SQLite file are being moved to Postgres. Start the worker with that DATABASE_URL "
        "when this is done."
    )
    with lock_folder(folder, fcntl.LOCK_SH, refusal):
        yield


@contextmanager
def no_running_worker(folder: Path) -> Iterator[None]:
    refusal = WorkerRunning(
        "A background worker is running on the SQLite file, and what it writes would be lost. Stop it "
        "(manage.py work), run this again, and start the worker with DATABASE_URL."
    )
    with lock_folder(folder, fcntl.LOCK_EX, refusal):
        yield


@contextmanager
def lock_folder(folder: Path, mode: int, refusal: Exception) -> Iterator[None]:
    """Lock the folder itself, which works if it is read-only. The kernel releases the lock of a killed process."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, mode | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise refusal from error
        yield
    finally:
        os.close(descriptor)
