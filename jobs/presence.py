"""Background workers at SQLite, and whoever has to be alone with it to move its rows to another database.

The locks are the operating system's, on the data folder itself: a worker that was killed leaves none behind, and one
that starts while the folder cannot be written gets its own all the same.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class WorkersRunning(Exception):
    """The rows cannot be moved now; the message says what to do."""


class RowsMoving(Exception):
    """No worker can begin now; the message says what to do."""


@contextmanager
def be_a_worker(folder: Path) -> Iterator[None]:
    """Beside any number of other workers."""
    refusal = RowsMoving(
        "The rows of the SQLite file are being moved to Postgres. Start the worker with that DATABASE_URL "
        "when this is done."
    )
    with _locked(folder, fcntl.LOCK_SH, refusal):
        yield


@contextmanager
def keep_workers_out(folder: Path) -> Iterator[None]:
    refusal = WorkersRunning(
        "A background worker is running on the SQLite file, and what it writes would be lost. Stop it "
        "(manage.py work), run this again, and start the worker with DATABASE_URL."
    )
    with _locked(folder, fcntl.LOCK_EX, refusal):
        yield


@contextmanager
def _locked(folder: Path, kind: int, refusal: Exception) -> Iterator[None]:
    opened = os.open(folder, os.O_RDONLY)
    try:
        _lock(opened, kind, refusal)
        yield
    finally:
        os.close(opened)


def _lock(opened: int, kind: int, refusal: Exception) -> None:
    try:
        fcntl.flock(opened, kind | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise refusal from error
