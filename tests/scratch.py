"""Where tests keep data folders: in memory if there is room, because a disk is slow with short-lived files."""

import shutil
from pathlib import Path

MEMORY = Path("/dev/shm")
ROOM = 4 * 2**30


def scratch_folder() -> str | None:
    """The folder for `tempfile`; None stands for its own."""
    return str(MEMORY) if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM else None
