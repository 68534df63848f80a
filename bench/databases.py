"""Fresh databases for benchmarks, which are gone when a benchmark ends."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def database(wants_postgres: bool) -> Iterator[str]:
    if not wants_postgres:
        yield ""
        return
    try:
        from tests.postgres import running_postgres
    except ImportError as error:
        raise SystemExit(
            "A Postgres for the benchmark comes with the development requirements: make lint installs them."
        ) from error
    with running_postgres() as server:
        yield server.create_database("bench")


@contextmanager
def fresh_site(wants_postgres: bool, **variables: str) -> Iterator[None]:
    """Sets Django up in this process, with a migrated database and a data folder of its own."""
    with (
        tempfile.TemporaryDirectory(prefix="jedi-bench-") as folder,
        database(wants_postgres) as url,
    ):
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "jedi_web.settings",
            "JEDI_DATA_DIR": folder,
            "DATABASE_URL": url,
            **variables,
        }
        import django

        django.setup()
        from django.core.management import call_command
        from django.db import connection

        call_command("migrate", verbosity=0)
        try:
            yield
        finally:
            # A server that shuts down would otherwise find an open connection.
            connection.close()
