"""Connections of processes that run for weeks: one that can only read is not kept longer than a request."""

import os
import time
from typing import Any


def keep_only_what_can_write(connection: Any, **options: Any) -> None:
    """SQLite opens a file that cannot be written for reading alone, and never tries again. The next request, or the
    next look into the queue, opens it anew, so that nothing has to be restarted when the file can be written."""
    if connection.vendor != "sqlite" or connection.is_in_memory_db():
        return
    if not os.access(connection.settings_dict["NAME"], os.W_OK):
        connection.close_at = time.monotonic()
