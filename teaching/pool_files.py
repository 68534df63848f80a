"""Whether the files that the teachers need of a data set are all there."""

from __future__ import annotations

from studies.models import Dataset


def damage_of(dataset: Dataset) -> str:
    """Why the teachers cannot use the files of a data set; empty when they can.

    Maps the files and keeps nothing, so that asking about many data sets drives no pool in use out of the memory.
    """
    # Numerics take a moment to load, and a server starts without them.
    from .engine import EngineError, storage

    try:
        storage.read(dataset.folder / "pool")
    except EngineError as refusal:
        return str(refusal)
    return ""
