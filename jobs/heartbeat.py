"""A sign of life of the background workers: a file in the data folder that the last of them touched."""

import logging
import time
from pathlib import Path

from django.conf import settings

logger = logging.getLogger(__name__)

# As long as a lease: by then another worker would take over.
LONGEST_SILENCE = 60.0


def _file() -> Path:
    return settings.JEDI_DATA_DIR / "worker-heartbeat"


def beat() -> None:
    """Nothing stops for want of it: silence tells of a folder that cannot be written, too."""
    try:
        _file().touch()
    except OSError as error:
        logger.warning("no heartbeat of the background worker: %s", error)


def silence() -> float | None:
    """Seconds since a worker reported; None if none ever did. A report from the future is of a clock that was wrong."""
    try:
        return abs(time.time() - _file().stat().st_mtime)
    except FileNotFoundError:
        return None
