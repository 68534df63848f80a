"""The border between rows and arrays: the only place that turns examples into pool indices and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from studies.models import Dataset, Example

from .engine import Pool, Shown
from .engine.arrays import FloatArray
from .models import TeachingStep

EVALUATION = "evaluation.npy"


@dataclass(frozen=True)
class TeachingPool:
    """A data set's pool as the engine sees it, with the example of every row."""

    pool: Pool
    example_ids: Sequence[int]


def load(dataset: Dataset) -> TeachingPool:
    """The pool of a data set, shared by all threads; its arrays are mapped, so that processes share pages."""
    return _load(dataset.pk, dataset.key)


@lru_cache(maxsize=8)
def _load(dataset_id: int, key: str) -> TeachingPool:
    # The key is in the cache's key because a data set may be made again under the same number.
    dataset = Dataset.objects.get(pk=dataset_id, key=key)
    rows = dataset.examples.filter(split=Example.Split.TEACHING).order_by("pool_index")
    return TeachingPool(Pool.load(dataset.folder / "pool"), list(rows.values_list("pk", flat=True)))


def save(dataset: Dataset, pool: Pool) -> None:
    pool.save(dataset.folder / "pool")


def save_evaluation(dataset: Dataset, features: FloatArray) -> None:
    """Features (m, d) of the evaluation images in the pool's coordinates, in the order of their rows."""
    np.save(dataset.folder / EVALUATION, features, allow_pickle=False)


def evaluation_features(dataset: Dataset) -> dict[int, FloatArray] | None:
    """Example to its features (d,); None for a data set that was made without them."""
    path = dataset.folder / EVALUATION
    if not path.exists():
        return None
    rows = dataset.examples.filter(split=Example.Split.EVALUATION).order_by("pk")
    ids = list(rows.values_list("pk", flat=True))
    return dict(zip(ids, np.load(path, allow_pickle=False), strict=True))


def history(steps: Iterable[TeachingStep]) -> list[Shown]:
    """The answered steps as the engine reads them."""
    return [
        Shown(example=_row(step.example), answer=step.answer, p=step.probabilities)
        for step in steps
        if step.answer is not None
    ]


def _row(example: Example) -> int:
    if example.pool_index is None:
        raise ValueError(f"Example {example.key} is not in the teaching pool.")
    return example.pool_index
