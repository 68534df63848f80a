"""Web processes that write to SQLite for workers take turns.

SQLite lets one connection write at a time. Whoever finds another one writing looks again after 1, 2, 5, 10 and up to
100 milliseconds, however soon the other is done, and a web process that sleeps answers nobody meanwhile. Those who
write for a worker therefore wait at a file beside the database, which they look at again much sooner. Nothing depends
on it: SQLite's own lock still decides who writes, and guards against all who do not come by here.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection, transaction

# A turn of a worker's answer takes about a millisecond.
BETWEEN_LOOKS_SECONDS = 0.0002
# Whoever has waited so long leaves the rest to SQLite, which has its own patience.
MOST_SECONDS = 5.0


@contextmanager
def writing() -> Iterator[None]:
    """A transaction that writes for a worker."""
    with _turn(), transaction.atomic():
        yield


@contextmanager
def _turn() -> Iterator[None]:
    """The lock is the operating system's: a process that was killed leaves none behind."""
    file = _opened()
    try:
        if file is not None:
            _wait_for(file)
        yield
    finally:
        if file is not None:
            os.close(file)


def _opened() -> int | None:
    """None where there is nobody to wait for: on Postgres, in memory, and in a transaction that has begun already."""
    database: Any = connection
    if database.vendor != "sqlite" or database.in_atomic_block or database.is_in_memory_db():
        return None
    try:
        return os.open(f"{database.settings_dict['NAME']}-turns", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:
        # SQLite says what is wrong with the folder.
        return None


def _wait_for(file: int) -> None:
    given_up_at = time.monotonic() + MOST_SECONDS
    while not _take(file) and time.monotonic() < given_up_at:
        time.sleep(BETWEEN_LOOKS_SECONDS)


def _take(file: int) -> bool:
    """Takes the turn, unless another process or thread has it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
