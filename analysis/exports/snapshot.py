"""One moment of the database, for as long as an export takes, while workers go on answering."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper


@contextmanager
def snapshot() -> Iterator[str]:
    """The name of a connection whose reads all see the database of one moment.

    The transaction is on a connection of its own. On SQLite, the product's connections begin every transaction
    with the write lock, because nearly all of theirs write; an export that did so would keep all workers waiting
    until it is done. Its own connection begins DEFERRED: in WAL mode the first read fixes what it sees, writers go
    on, and only the write-ahead log grows until the export ends. On Postgres, REPEATABLE READ and READ ONLY do the
    same; there the connection is outside the pool, where it would take a worker's place for minutes.

    A caller that is already in a transaction reads through it: what was written there is visible nowhere else.
    """
    if connection.in_atomic_block:
        yield connection.alias
        return
    alias = f"snapshot-{secrets.token_hex(8)}"
    connections[alias] = reader = _reader(alias)
    try:
        with transaction.atomic(using=alias):
            _forbid_writing(reader)
            yield alias
    finally:
        reader.close()
        del connections[alias]


def _reader(alias: str) -> BaseDatabaseWrapper:
    """A new connection to the same database, known under this name in this thread only."""
    reader: BaseDatabaseWrapper = connection.copy(alias)
    options = reader.settings_dict["OPTIONS"]
    options.pop("pool", None)
    if reader.vendor == "sqlite":
        options["transaction_mode"] = "DEFERRED"
    return reader


def _forbid_writing(reader: BaseDatabaseWrapper) -> None:
    with reader.cursor() as cursor:
        if reader.vendor == "postgresql":
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        else:
            cursor.execute("PRAGMA query_only = ON")
