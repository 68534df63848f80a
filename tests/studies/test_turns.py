"""Those who write to SQLite for workers wait for each other at a file, and nothing depends on it."""

import fcntl
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.db import connection

from studies import turns
from tests.own_database import own_database

FILE = "db.sqlite3-turns"
HOLDER = """
import fcntl, sys
file = open(sys.argv[1], "w")
fcntl.flock(file, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def folder(tmp_path, django_db_blocker) -> Iterator[Path]:
    """With a database of its own and a table in it."""
    with own_database(tmp_path, "", django_db_blocker):
        with connection.cursor() as cursor:
            cursor.execute("CREATE TABLE written (id)")
        yield tmp_path


@contextmanager
def held(file: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process has the turn."""
    command = [sys.executable, "-c", HOLDER, str(file)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        yield holder
        holder.kill()


def is_free(folder: Path) -> bool:
    with (folder / FILE).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def write() -> None:
    with turns.writing(), connection.cursor() as cursor:
        cursor.execute("INSERT INTO written VALUES (1)")


def count() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM written")
        return int(cursor.fetchone()[0])


def test_a_turn_lasts_as_long_as_its_transaction(folder):
    with turns.writing():
        assert connection.in_atomic_block
        assert not is_free(folder)
    assert is_free(folder)


def test_a_transaction_that_fails_is_rolled_back_and_gives_its_turn_back(folder):
    with pytest.raises(ValueError), turns.writing(), connection.cursor() as cursor:
        cursor.execute("INSERT INTO written VALUES (1)")
        raise ValueError
    assert is_free(folder)
    assert count() == 0


def test_a_process_waits_for_its_turn_and_goes_on_when_the_other_is_killed(folder, monkeypatch):
    looks = threading.Event()
    take = turns._take

    def seen(file: int) -> bool:
        looks.set()
        return take(file)

    monkeypatch.setattr(turns, "_take", seen)
    monkeypatch.setattr(turns, "MOST_SECONDS", 600)
    with held(folder / FILE) as other:
        killer = threading.Thread(target=lambda: looks.wait() and other.send_signal(signal.SIGKILL))
        killer.start()
        write()
        killer.join()
        assert other.wait() == -signal.SIGKILL
    assert count() == 1


def test_whoever_has_waited_too_long_leaves_it_to_the_database(folder, monkeypatch):
    monkeypatch.setattr(turns, "MOST_SECONDS", 0.01)
    with held(folder / FILE):
        write()
    assert count() == 1


def test_a_folder_in_which_no_file_can_be_made_is_the_databases_matter(folder, monkeypatch):
    def refuse(*arguments: object) -> int:
        raise PermissionError

    monkeypatch.setattr(os, "open", refuse)
    write()
    assert count() == 1


def test_a_transaction_within_another_waits_for_nobody(folder):
    with turns.writing():
        write()
    assert count() == 1


def test_who_writes_leaves_no_file_open(folder):
    write()
    before = open_files()
    for _ in range(20):
        write()
    assert open_files() <= before


def open_files() -> int:
    return len([*Path("/proc/self/fd").iterdir()])


@pytest.mark.django_db
def test_a_database_in_memory_has_no_turns(monkeypatch):
    monkeypatch.setattr(connection, "in_atomic_block", False)
    assert turns._opened() is None


def test_postgres_has_no_turns(tmp_path, postgres, django_db_blocker):
    with own_database(tmp_path, postgres.create_database("turns"), django_db_blocker):
        assert turns._opened() is None
    assert list(tmp_path.iterdir()) == []
