"""Who may use a data folder: one server on SQLite, and one `prepare` at a time."""

import fcntl
import os
import tempfile
from pathlib import Path
from typing import IO

# As much as a database writes at once.
PAGE = 4096


class DataFolderUnusable(Exception):
    """Nobody can work in the data folder; the message says what to do."""


class DataFolderInUse(DataFolderUnusable):
    """Another server holds the data folder."""


class DataFolderNotWritable(DataFolderUnusable):
    def __init__(self, folder: Path, error: Exception) -> None:
        self.reason = getattr(error, "strerror", None) or str(error)
        super().__init__(
            f"The data folder {folder} cannot be written ({self.reason}). Make room on its disk, make the folder "
            "writable, or name another one with JEDI_DATA_DIR; then try again."
        )


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
    _write_pid(file, folder)
    return file


def _write_pid(file: IO[str], folder: Path) -> None:
    try:
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
    except OSError as error:
        raise DataFolderNotWritable(folder, error) from error


def refuse_if_not_writable(folder: Path) -> None:
    """Writes a page and removes it: permissions alone do not tell of a full disk, a quota or a disk that fails."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(PAGE))
            file.flush()
    except OSError as error:
        raise DataFolderNotWritable(folder, error) from error


def wait_for_turn(folder: Path) -> IO[str]:
    """Returns when nobody else prepares this folder, and keeps others waiting until the file is closed."""
    file = _opened(folder / "prepare.lock")
    fcntl.flock(file, fcntl.LOCK_EX)
    return file


def _opened(path: Path) -> IO[str]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a+")
    except OSError as error:
        raise DataFolderNotWritable(path.parent, error) from error
    file.seek(0)
    return file
