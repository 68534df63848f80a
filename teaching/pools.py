"""The border between rows and arrays: the only place that turns examples into pool indices and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from django.db import connection

from studies.errors import FilesLost
from studies.models import Dataset, Example, Participant

from .engine import BadPoolFolder, Pool, Shown
from .engine.arrays import FloatArray
from .models import TeachingStep

EVALUATION = "evaluation.npy"
HISTORY = """
SELECT e.pool_index, t.answer, t.probabilities, t.is_correct
FROM teaching_teachingstep t JOIN studies_example e ON e.id = t.example_id
WHERE t.participant_id = %s AND t.position < %s ORDER BY t.position
"""


class PoolLost(FilesLost, BadPoolFolder):
    """A worker is asked for patience; researchers read what the engine found."""

    def __str__(self) -> str:
        return str(self.__cause__ or self.message)


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
    try:
        pool = Pool.load(dataset.folder / "pool")
    except BadPoolFolder as damage:
        raise PoolLost from damage
    return TeachingPool(pool, list(rows.values_list("pk", flat=True)))


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


def answered_before(participant: Participant, position: int) -> list[tuple[Shown, bool]]:
    """The steps of a session up to a position, and whether each answer was right. Read as plain values: a step needs
    nothing else of them."""
    with connection.cursor() as cursor:
        cursor.execute(HISTORY, [participant.pk, position])
        found = cursor.fetchall()
    # All in one list, which is read in a third of the time that they take one by one.
    believed = json.loads(f"[{','.join(probabilities for _, _, probabilities, _ in found)}]")
    return [
        (Shown(example=row, answer=answer, p=p), is_correct)
        for (row, answer, _, is_correct), p in zip(found, believed, strict=True)
    ]


def _row(example: Example) -> int:
    if example.pool_index is None:
        raise ValueError(f"Example {example.key} is not in the teaching pool.")
    return example.pool_index
