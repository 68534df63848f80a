"""Storing a data set's pool for the teachers, and the features of its evaluation images."""

from __future__ import annotations

import numpy as np

from studies.models import Dataset, Example

from .engine import Pool
from .engine.arrays import FloatArray

EVALUATION = "evaluation.npy"


def save(dataset: Dataset, pool: Pool) -> None:
    pool.save(dataset.folder / "pool")


def save_evaluation(dataset: Dataset, features: FloatArray) -> None:
    """Features (m, d) of the evaluation images in the pool's coordinates, in the order of their rows."""
    np.save(dataset.folder / EVALUATION, features, allow_pickle=False)


def evaluation_features(dataset: Dataset) -> dict[int, FloatArray] | None:
    """Example id to its features (d,); None for a data set that was made without them."""
    path = dataset.folder / EVALUATION
    if not path.exists():
        return None
    rows = dataset.examples.filter(split=Example.Split.EVALUATION).order_by("pk")
    ids = list(rows.values_list("pk", flat=True))
    return dict(zip(ids, np.load(path, allow_pickle=False), strict=True))
