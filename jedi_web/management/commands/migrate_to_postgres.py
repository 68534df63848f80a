"""A site on SQLite becomes one on Postgres."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import DEFAULT_DB_ALIAS, connection, connections, transaction

from jedi_web import backup, environment
from jedi_web.connections import DatabaseUnreachable, wait_for_postgres
from jedi_web.data_folder import DataFolderInUse, lock_for_server
from jobs.worker import WorkerRunning, no_running_worker

SOURCE = "sqlite"


class Command(BaseCommand):
    help = (
        "Copies every row from the SQLite file in JEDI_DATA_DIR into the empty Postgres database of DATABASE_URL. "
        "Stop the server first; sessions under way go on when it is started with DATABASE_URL."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        file = environment.sqlite_file(settings.JEDI_DATA_DIR)
        if connection.vendor != "postgresql":
            raise CommandError(
                "Set DATABASE_URL to the Postgres database that the site is to use from now on."
            )
        if not file.is_file():
            raise CommandError(f"There is no {file}. Set JEDI_DATA_DIR to the folder of the site.")
        try:
            with lock_for_server(settings.JEDI_DATA_DIR), no_running_worker(settings.JEDI_DATA_DIR):
                wait_for_postgres()
                with opened(file):
                    count = copy_rows()
        except DataFolderInUse as error:
            raise CommandError(
                "A server is running on the SQLite file, and answers would be lost. Stop it, run this again, and "
                "start the server with DATABASE_URL."
            ) from error
        except (WorkerRunning, DatabaseUnreachable) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            f"Moved {count:,} rows; every table is the same in both databases. Start the server and its workers "
            "with this DATABASE_URL. The SQLite file is unchanged: keep it until you have made a backup."
        )


@contextmanager
def opened(file: Path) -> Iterator[None]:
    """The SQLite file as a second database. The transaction takes the write lock, so that no row changes meanwhile."""
    known = connections.configure_settings({DEFAULT_DB_ALIAS: environment.sqlite(file)})
    connections.databases[SOURCE] = known[DEFAULT_DB_ALIAS]
    try:
        with transaction.atomic(using=SOURCE):
            yield
    finally:
        connections[SOURCE].close()
        del connections[SOURCE], connections.databases[SOURCE]


def copy_rows() -> int:
    """Copies all rows or none, and compares every table afterwards; returns the number of rows."""
    call_command("migrate", verbosity=0)
    if backup.applied_migrations(SOURCE) != backup.applied_migrations(DEFAULT_DB_ALIAS):
        raise CommandError(
            "The SQLite file has the tables of another version. Bring it to this one first: run manage.py migrate "
            "without DATABASE_URL."
        )
    if filled := backup.filled_tables():
        raise CommandError(
            f"The database of DATABASE_URL is in use: {', '.join(filled[:3])} have rows. Name an empty one."
        )
    tables = backup.tables()
    with transaction.atomic():
        backup.load((table._meta.db_table, backup.lines(table, SOURCE)) for table in tables)
        for table in tables:
            if backup.hash_of_rows(table, SOURCE) != backup.hash_of_rows(table, DEFAULT_DB_ALIAS):
                raise CommandError(
                    f"{table._meta.db_table} differs between the two databases, so nothing was moved. Please report "
                    "this."
                )
    return sum(table._base_manager.count() for table in tables)
