"""Making a data set: images on disk, the teachers' pool beside them, and the rows that name both."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models import Max
from numpy.typing import NDArray

from studies.models import Dataset, Example
from teaching import pools
from teaching.engine import Pool, suggest_learning_rate

from .images import padded


@dataclass(frozen=True)
class LabelledImage:
    """An encoded image as the browser will get it, or the file that holds it; and its label, −1 or +1."""

    content: bytes | Path
    label: int

    @property
    def size(self) -> int:
        return self.content.stat().st_size if isinstance(self.content, Path) else len(self.content)

    def read(self) -> bytes:
        return self.content.read_bytes() if isinstance(self.content, Path) else self.content


# What a data set's page tells, from the finished pool and the order of its rows in the draft.
Insight = Callable[[Pool, NDArray[np.intp]], dict[str, Any]]


@dataclass(frozen=True)
class Draft:
    """Everything that a data set is made of. `features` has one row per teaching image, about their mean."""

    name: str
    negative_class: str
    positive_class: str
    seed: int
    teaching: Sequence[LabelledImage]
    features: NDArray[np.float64]
    evaluation: Sequence[LabelledImage]
    target: NDArray[np.float64] | None = None
    """w* (d + 1,), the bias last; the pool's own if left out"""
    extractor: str = ""
    duplicates: int | None = None
    """how many groups of duplicates were found, if anybody looked"""
    insight: Insight = lambda pool, order: {}


def create_dataset(draft: Draft) -> Dataset:
    """Makes a data set, whole or not at all.

    The pool is shuffled by the seed, so that neither its order nor the lowest index of a tie tells a class.
    """
    order = np.random.default_rng(draft.seed).permutation(len(draft.teaching))
    teaching = [draft.teaching[row] for row in order]
    labels = [image.label for image in teaching]
    pool = Pool(with_bias(draft.features[order]), labels, target=draft.target)
    dataset = Dataset(
        name=draft.name,
        version=next_version(draft.name),
        negative_class=draft.negative_class,
        positive_class=draft.positive_class,
        learning_rate=suggest_learning_rate(pool),
        seed=draft.seed,
        extractor=draft.extractor,
        insight=draft.insight(pool, order),
    )
    try:
        _write_files(dataset, pool, teaching, draft.evaluation)
    except BaseException:
        shutil.rmtree(dataset.folder, ignore_errors=True)
        raise
    return dataset


def next_version(name: str) -> int:
    newest = Dataset.objects.filter(name=name).aggregate(newest=Max("version"))["newest"]
    return (newest or 0) + 1


def with_bias(features: NDArray[np.float64]) -> NDArray[np.float64]:
    """The features about their mean, with a constant one: teaching works on centred features only."""
    centred = features - features.mean(axis=0)
    return np.column_stack([centred, np.ones(len(centred))])


def _write_files(
    dataset: Dataset,
    pool: Pool,
    teaching: Sequence[LabelledImage],
    evaluation: Sequence[LabelledImage],
) -> None:
    """Files first and outside the transaction: rows never name what is not there."""
    examples = [
        Example(dataset=dataset, split=Example.Split.TEACHING, pool_index=row, label=image.label)
        for row, image in enumerate(teaching)
    ] + [
        Example(dataset=dataset, split=Example.Split.EVALUATION, label=image.label)
        for image in evaluation
    ]
    images = [*teaching, *evaluation]
    # Every file has the length of the longest: a length tells something about the picture in it.
    size = max(image.size for image in images)
    (dataset.folder / "images").mkdir(parents=True)
    for example, image in zip(examples, images, strict=True):
        example.image_path.write_bytes(padded(image.read(), size))
    pools.save(dataset, pool)
    with transaction.atomic():
        dataset.save()
        Example.objects.bulk_create(examples, batch_size=500)
