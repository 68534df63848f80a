"""Locks on the data folder, and whether it can be written."""

import fcntl
import os
import tempfile
import time
from pathlib import Path
from typing import IO

# The size of a SQLite page.
PAGE_BYTES = 4096


class DataFolderUnusable(Exception):
    """The message says what to do."""


class DataFolderInUse(DataFolderUnusable):
    """Another server uses the data folder."""


class DataFolderNotWritable(DataFolderUnusable):
    def __init__(self, folder: Path, error: Exception) -> None:
        self.reason = getattr(error, "strerror", None) or str(error)
        super().__init__(
            f"The data folder {folder} cannot be written ({self.reason}). Make room on its disk, make the folder "
            "writable, or name another one with JEDI_DATA_DIR; then try again."
        )


def lock_for_server(folder: Path, wait_seconds: float = 0) -> IO[str]:
    """Keep other servers out of the folder until the returned file is closed, also by every process that inherited it.

    The processes of a killed server finish their requests first, so a start waits for them.
    """
    file = open_lock(folder / "server.lock")
    deadline = time.monotonic() + wait_seconds
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except OSError as error:
            if time.monotonic() < deadline:
                time.sleep(0.1)
                continue
            pid = file.read().strip() or "unknown"
            file.close()
            raise DataFolderInUse(
                f"The data folder {folder} is in use by another server (process {pid}). Stop that server first, "
                "or give this one a folder of its own with JEDI_DATA_DIR."
            ) from error
    try:
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
    except OSError as error:
        raise DataFolderNotWritable(folder, error) from error
    return file


def lock_for_prepare(folder: Path) -> IO[str]:
    """Wait until no other process prepares this folder, and keep others waiting until the file is closed."""
    file = open_lock(folder / "prepare.lock")
    fcntl.flock(file, fcntl.LOCK_EX)
    return file


def open_lock(path: Path) -> IO[str]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a+")
    except OSError as error:
        raise DataFolderNotWritable(path.parent, error) from error
    file.seek(0)
    return file


def refuse_if_not_writable(folder: Path) -> None:
    """Write a page: permissions do not tell of a full disk, a quota or a failing disk."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(PAGE_BYTES))
            file.flush()
    except OSError as error:
        raise DataFolderNotWritable(folder, error) from error
