"""Connections to the database: one that can only read is not kept longer than a request, and who cannot connect learns
why."""

import os
import time
from typing import Any

from django.db import connection as default

# A database that was started together with us takes some seconds until it answers.
PATIENCE_SECONDS = 10
PAUSE_SECONDS = 0.5


class DatabaseUnreachable(Exception):
    """Postgres cannot be used; the message says which one, why, and what to do."""

    def __init__(self, parameters: dict[str, Any], reason: str) -> None:
        host, port = parameters.get("host", "the local socket"), parameters.get("port", 5432)
        super().__init__(
            f"The database of DATABASE_URL (host {host}, port {port}, name {parameters['dbname']}) cannot be reached: "
            f"{reason}. Start Postgres, or correct DATABASE_URL, and try again."
        )


def wait_for_postgres() -> None:
    """Returns when it answers, or raises why it does not. The pool would only tell that its time was over."""
    if default.vendor != "postgresql":
        return
    over_at = time.monotonic() + PATIENCE_SECONDS
    while reason := _refusal():
        if time.monotonic() >= over_at:
            raise DatabaseUnreachable(default.get_connection_params(), reason)
        time.sleep(PAUSE_SECONDS)


def _refusal() -> str:
    """The first line of why nobody can connect; empty if one can."""
    import psycopg

    parameters = {"connect_timeout": PATIENCE_SECONDS, **default.get_connection_params()}
    try:
        psycopg.connect(**parameters).close()
    except psycopg.Error as error:
        return str(error).strip().partition("\n")[0].rstrip(".")
    return ""


def keep_only_what_can_write(connection: Any, **options: Any) -> None:
    """SQLite opens a file that cannot be written for reading alone, and never tries again. The next request, or the
    next look into the queue, opens it anew, so that nothing has to be restarted when the file can be written."""
    if connection.vendor != "sqlite" or connection.is_in_memory_db():
        return
    if not os.access(connection.settings_dict["NAME"], os.W_OK):
        connection.close_at = time.monotonic()
