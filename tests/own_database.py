"""Databases of tests: one of a test's own in the place of the one that all share, and the shared one itself."""

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.contrib.contenttypes.models import ContentType
from django.db import connection, connections
from django.db.migrations.executor import MigrationExecutor
from django.db.utils import ConnectionHandler

from jedi_web import environment


@contextmanager
def own_database(folder: Path, url: str, django_db_blocker: Any) -> Iterator[None]:
    """Postgres at the address, or SQLite in the folder, as the product would use them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DATABASE_URL", url)
        settings = environment.database(folder)
    settings["OPTIONS"].pop("pool", None)
    usual = connections["default"]
    connections["default"] = own = ConnectionHandler({"default": settings})["default"]
    try:
        with django_db_blocker.unblock():
            yield
    finally:
        own.close()
        connections["default"] = usual
        ContentType.objects.clear_cache()


def migrate(*targets: tuple[str, str]) -> Any:
    """To these, and all apps that they do not name to their newest; returns the models as they then are."""
    executor = MigrationExecutor(connection)
    apps = {app for app, _ in targets}
    others = [node for node in executor.loader.graph.leaf_nodes() if node[0] not in apps]
    return executor.migrate([*others, *targets]).apps


@contextmanager
def filled(name: str, prepared: Path) -> Iterator[None]:
    """A database in memory with the tables of a prepared site, for as long as the context lasts.

    Nobody is in it: the first researcher of the site is no part of the migrations.
    """
    with closing(sqlite3.connect(name, uri=True)) as memory:
        # Of a copy, because whoever opens a file in WAL mode writes beside it.
        with tempfile.TemporaryDirectory() as folder:
            copy = shutil.copy(prepared, folder)
            with closing(sqlite3.connect(copy)) as made:
                made.execute("PRAGMA journal_mode = DELETE")
                made.backup(memory)
        with memory:
            tables = {name for (name,) in memory.execute("SELECT name FROM sqlite_master")}
            for table in ("desk_passwordlink", "auth_user"):
                if table in tables:
                    memory.execute(f"DELETE FROM {table}")
            memory.execute("UPDATE sqlite_sequence SET seq = 0 WHERE name = 'auth_user'")
        yield
