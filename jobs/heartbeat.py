"""A sign of life of the background workers: a file in the data folder that the last of them touched."""

import time
from pathlib import Path

from django.conf import settings

# As long as a lease: by then another worker would take over.
LONGEST_SILENCE = 60.0


def _file() -> Path:
    return settings.JEDI_DATA_DIR / "worker-heartbeat"


def beat() -> None:
    _file().touch()


def silence() -> float | None:
    """Seconds since a worker reported; None if none ever did."""
    try:
        return max(0.0, time.time() - _file().stat().st_mtime)
    except FileNotFoundError:
        return None
