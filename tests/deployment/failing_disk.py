"""gunicorn's worker on a disk of which one can see what a loss of power would leave, and which can fail."""

import errno
import fcntl
import os
import shutil
from pathlib import Path

from jedi_web.polling import PollingWorker

DATA = Path(os.environ.get("JEDI_DATA_DIR", "."))
DATABASE, JOURNAL = DATA / "db.sqlite3", DATA / "db.sqlite3-wal"
# What would be found after a loss of power.
LEFT = DATA / "left" / "db.sqlite3"
# As long as there is such a file, nothing reaches the disk.
FAILS = DATA / "disk-fails"


class Worker(PollingWorker):
    def run(self) -> None:
        real = os.fdatasync

        def fdatasync(file: int) -> None:
            if FAILS.exists():
                raise OSError(errno.EIO, "the disk fails")
            if os.path.samestat(os.fstat(file), JOURNAL.stat()):
                keep_copy()
            real(file)

        os.fdatasync = fdatasync
        super().run()


def keep_copy() -> None:
    """Of the journal as it is now: what comes into it while the disk works may be lost. The database itself changes
    only when the journal has become long."""
    LEFT.parent.mkdir(exist_ok=True)
    with (LEFT.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not LEFT.exists():
            shutil.copy(DATABASE, LEFT)
        draft = LEFT.with_name("draft")
        shutil.copy(JOURNAL, draft)
        draft.replace(f"{LEFT}-wal")
