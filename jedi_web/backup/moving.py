"""From SQLite to Postgres: every row of the data folder's file into the database that the environment names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.db import DEFAULT_DB_ALIAS, connection, connections, transaction

from jedi_web import environment
from jedi_web.connections import DatabaseUnreachable, wait_for_postgres
from jedi_web.data_folder import DataFolderInUse, hold
from jobs.presence import WorkersRunning, keep_workers_out

from . import rows
from .archive import hash_of

SOURCE = "sqlite"


class CannotMove(Exception):
    """The rows cannot be moved; the message says why and what to do."""


def move_to_postgres() -> int:
    """Copies all rows or none, and compares every table afterwards; returns how many rows there are.

    Images, pools and the secret key stay where they are. The SQLite file is left as it was.
    """
    file = environment.sqlite_file(settings.JEDI_DATA_DIR)
    _refuse_other_places(file)
    try:
        with hold(settings.JEDI_DATA_DIR), keep_workers_out(settings.JEDI_DATA_DIR):
            wait_for_postgres()
            with _opened(file):
                return _move()
    except DataFolderInUse as error:
        raise CannotMove(
            "A server is running on the SQLite file, and answers would be lost. Stop it, run this again, and start "
            "the server with DATABASE_URL."
        ) from error
    except (WorkersRunning, DatabaseUnreachable) as error:
        raise CannotMove(str(error)) from error


def _refuse_other_places(file: Path) -> None:
    if connection.vendor != "postgresql":
        raise CannotMove(
            "Set DATABASE_URL to the Postgres database that the site is to use from now on."
        )
    if not file.is_file():
        raise CannotMove(f"There is no {file}. Set JEDI_DATA_DIR to the folder of the site.")


@contextmanager
def _opened(file: Path) -> Iterator[None]:
    """The file as a second database. The transaction takes the write lock: nobody can change a row meanwhile."""
    known = connections.configure_settings({DEFAULT_DB_ALIAS: environment.sqlite(file)})
    connections.databases[SOURCE] = known[DEFAULT_DB_ALIAS]
    try:
        with transaction.atomic(using=SOURCE):
            yield
    finally:
        connections[SOURCE].close()
        del connections[SOURCE], connections.databases[SOURCE]


def _move() -> int:
    call_command("migrate", verbosity=0)
    _refuse_other_tables()
    if filled := rows.filled_tables():
        raise CannotMove(
            f"The database of DATABASE_URL is in use: {', '.join(filled[:3])} have rows. Name an empty one."
        )
    with transaction.atomic():
        rows.load((table._meta.db_table, rows.lines(table, SOURCE)) for table in rows.tables())
        _refuse_differences()
    return sum(table._base_manager.count() for table in rows.tables())


def _refuse_other_tables() -> None:
    if rows.migrations(SOURCE) != rows.migrations(DEFAULT_DB_ALIAS):
        raise CannotMove(
            "The SQLite file has the tables of another version. Bring it to this one first: run manage.py migrate "
            "without DATABASE_URL."
        )


def _refuse_differences() -> None:
    for table in rows.tables():
        before, after = (hash_of(rows.lines(table, using)) for using in (SOURCE, DEFAULT_DB_ALIAS))
        if before != after:
            raise CannotMove(
                f"{table._meta.db_table} does not say the same in both databases, so nothing was moved. "
                "Please report this."
            )
