"""What the human experiment teaches with: a saved pool, and the evaluation set beside it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from teaching.engine import Pool

from .features import Divided, Labelled, digest, read_divided, read_labelled

NO_FEATURES = "Its evaluation images have no features of their own: part of the teaching pool was held out instead."


@dataclass(frozen=True)
class Material:
    """Paths alone, so that processes can be handed a copy."""

    title: str
    pool: Path
    evaluation: Path
    note: str = ""

    @property
    def slug(self) -> str:
        """For the names of files."""
        return "-".join(re.findall(r"\w+", self.title.lower()))

    def load(self) -> tuple[Pool, Labelled]:
        return _loaded(self.pool), read_labelled(self.evaluation)


@lru_cache(maxsize=4)
def _loaded(folder: Path) -> Pool:
    return Pool.load(folder)


def from_archive(path: Path, folder: Path) -> Material:
    """Material of an archive of features, centred by the teaching part.

    They get no bias: a constant one beside features of length one half would outweigh them in every step.
    """
    read = read_divided(path)
    centre = read.teaching.features.mean(axis=0)
    return _written(
        path.stem,
        Divided(
            Labelled(read.teaching.features - centre, read.teaching.labels),
            Labelled(read.evaluation.features - centre, read.evaluation.labels),
            read.affinity,
        ),
        folder / f"{path.stem}-{digest(path)}",
    )


def from_dataset(name: str, folder: Path) -> Material:
    """Material of an imported data set."""
    # Django is at hand in the command alone, and a notebook with archives does without.
    from . import imported

    dataset = imported.find(name)
    pool, place = dataset.folder / "pool", folder / dataset.key
    evaluation = imported.evaluation_set(dataset)
    if evaluation is None:
        divided = imported.held_out(Pool.load(pool), dataset.seed)
        return _written(str(dataset), divided, place, NO_FEATURES)
    return Material(str(dataset), pool, _saved(evaluation, place / "evaluation.npz"))


def _written(title: str, divided: Divided, folder: Path, note: str = "") -> Material:
    pool = folder / "pool"
    if not pool.exists():
        folder.mkdir(parents=True, exist_ok=True)
        teaching = divided.teaching
        Pool(teaching.features, teaching.labels, affinity=divided.affinity).save(pool)
    return Material(title, pool, _saved(divided.evaluation, folder / "evaluation.npz"), note)


def _saved(examples: Labelled, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, X=examples.features, y=examples.labels)
    return path
