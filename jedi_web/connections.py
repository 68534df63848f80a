"""Waiting for Postgres, and closing SQLite connections that can only read."""

import os
import time
from typing import Any

from django.db import connection as default

# A database that was started at the same time takes some seconds until it accepts connections.
MAX_WAIT_SECONDS = 10
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
    """Wait until Postgres accepts connections, or raise the reason; the connection pool would only report a timeout."""
    if default.vendor != "postgresql":
        return
    deadline = time.monotonic() + MAX_WAIT_SECONDS
    while reason := connection_error():
        if time.monotonic() >= deadline:
            raise DatabaseUnreachable(default.get_connection_params(), reason)
        time.sleep(PAUSE_SECONDS)


def connection_error() -> str:
    """The first line of the error of a new connection; empty if it succeeds."""
    import psycopg

    parameters = {"connect_timeout": MAX_WAIT_SECONDS, **default.get_connection_params()}
    try:
        psycopg.connect(**parameters).close()
    except psycopg.Error as error:
        return str(error).strip().partition("\n")[0].rstrip(".")
    return ""


def close_read_only_sqlite(connection: Any, **options: Any) -> None:
    """SQLite opens a file that is not writable as read-only and stays so. Close such a connection after the request, so
    that the next one can write as soon as the file is writable."""
    if connection.vendor != "sqlite" or connection.is_in_memory_db():
        return
    if not os.access(connection.settings_dict["NAME"], os.W_OK):
        connection.close_at = time.monotonic()
