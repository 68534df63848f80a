"""What a worker is told is on the disk before the reply leaves.

SQLite waits for the disk at every commit, and everybody else who wants to write waits with it. So the connection of the
thread that answers workers does not: its commits only go into the journal (the file that ends in -wal), and the journal
is brought to the disk once for all replies that are ready, before the first of them leaves (jedi_web/polling.py). No
reply can tell of a commit that a loss of power would undo, whichever process has made it: the journal is one file for
all of them.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.backends.signals import connection_created

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


class Journal:
    """Of the database in a file; made on the thread whose replies wait together."""

    def __init__(self, database: Path) -> None:
        self.file = Path(f"{database}-wal")
        self.thread = threading.get_ident()

    def leave_waiting_to_replies(self, connection: Any, **_options: Any) -> None:
        """Connections of other threads, and one that keeps no such journal, wait at every commit as before."""
        if threading.get_ident() != self.thread:
            return
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA journal_mode")
            if cursor.fetchone() == ("wal",):
                cursor.execute("PRAGMA synchronous=NORMAL")

    def reach_disk(self) -> None:
        """Returns when everything that was committed before is on the disk."""
        # Opened anew each time, because SQLite removes the file with its last connection; what was in it is in the
        # database then, and on the disk.
        with suppress(FileNotFoundError):
            file = os.open(self.file, os.O_RDONLY)
            try:
                # Not every system can leave out what a journal does not need, such as the time of the change.
                getattr(os, "fdatasync", os.fsync)(file)
            finally:
                os.close(file)

    def before_other_replies(self, application: Application) -> Application:
        """The same application, whose replies on other threads wait for the disk one by one."""

        def kept(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
            reply = application(environ, start_response)
            if threading.get_ident() != self.thread:
                self.reach_disk()
            return reply

        return kept


def journal() -> Journal | None:
    """The one that the replies of this thread wait for from now on. None where there is none to bring to the disk:
    Postgres does that at every commit, for all who commit at once."""
    database = settings.DATABASES["default"]
    if "sqlite3" not in database["ENGINE"]:
        return None
    found = Journal(database["NAME"])
    connection_created.connect(found.leave_waiting_to_replies)
    return found
