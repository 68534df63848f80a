"""Whether the files that the teachers need of a data set are there and unchanged."""

from __future__ import annotations

import time
from pathlib import Path

from studies.models import Dataset

# Hashing a pool of 10,000 examples (800 MB) takes a second or two, and /readyz is asked every few seconds.
TRUSTED_SECONDS = 900.0

# The folder of a pool to the times and sizes of its files, when they were hashed, and what was wrong.
_hashed: dict[Path, tuple[list[tuple[str, int, int]], float, str]] = {}


def damage_of(dataset: Dataset) -> str:
    """Why the teachers cannot use the files of a data set; empty if they can.

    Maps the files and keeps nothing, so that asking about many data sets evicts no pool in use. Hashes them again after
    TRUSTED_SECONDS, or at once if one was written.
    """
    # Numerics take a moment to load, and a server starts without them.
    from .engine import EngineError, storage

    folder = dataset.folder / "pool"
    try:
        storage.map_arrays(folder)
        stats = [(path.name, path.stat()) for path in sorted(folder.iterdir())]
    except (EngineError, OSError) as refusal:
        return str(refusal)
    files = [(name, stat.st_mtime_ns, stat.st_size) for name, stat in stats]
    known_files, hashed_at, damage = _hashed.get(folder, ([], 0.0, ""))
    if files == known_files and time.monotonic() < hashed_at + TRUSTED_SECONDS:
        return damage
    try:
        storage.verify(folder)
        damage = ""
    except EngineError as refusal:
        damage = str(refusal)
    _hashed[folder] = files, time.monotonic(), damage
    return damage
