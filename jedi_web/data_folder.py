"""Who may use a data folder: one server on SQLite, and one `prepare` at a time."""

import fcntl
import os
from pathlib import Path
from typing import IO


class DataFolderInUse(Exception):
    """Another server holds the data folder."""


def hold(folder: Path) -> IO[str]:
    """Keeps other servers out of a folder for as long as the file that this returns is open.

    The lock is the operating system's: a server that was killed leaves none behind.
    """
    file = _opened(folder / "server.lock")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        holder = file.read().strip() or "another process"
        file.close()
        raise DataFolderInUse(
            f"The data folder {folder} is in use by another server (process {holder}). Stop that server first, "
            "or give this one a folder of its own with JEDI_DATA_DIR."
        ) from error
    file.truncate(0)
    file.write(f"{os.getpid()}\n")
    file.flush()
    return file


def wait_for_turn(folder: Path) -> IO[str]:
    """Returns when nobody else prepares this folder, and keeps others waiting until the file is closed."""
    file = _opened(folder / "prepare.lock")
    fcntl.flock(file, fcntl.LOCK_EX)
    return file


def _opened(path: Path) -> IO[str]:
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.open("a+")
    file.seek(0)
    return file
