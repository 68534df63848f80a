"""Making a data set: images on disk, the teachers' pool beside them, and the rows that name both."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.db import transaction
from numpy.typing import NDArray

from studies.models import Dataset, Example

from . import pools
from .engine import Pool, suggest_learning_rate


@dataclass(frozen=True)
class LabelledImage:
    """An encoded image as the browser will get it, and its label, −1 or +1."""

    content: bytes
    label: int


def create_dataset(
    *,
    name: str,
    negative_class: str,
    positive_class: str,
    seed: int,
    teaching: Sequence[LabelledImage],
    features: NDArray[np.float64],
    evaluation: Sequence[LabelledImage],
) -> Dataset:
    """Makes a data set, whole or not at all. `features` has one row per teaching image.

    The pool is shuffled by the seed, so that neither its order nor the lowest index of a tie tells a class.
    """
    order = np.random.default_rng(seed).permutation(len(teaching))
    teaching = [teaching[row] for row in order]
    pool = Pool(with_bias(features[order]), [image.label for image in teaching])
    dataset = Dataset(
        name=name,
        version=1 + Dataset.objects.filter(name=name).count(),
        negative_class=negative_class,
        positive_class=positive_class,
        learning_rate=suggest_learning_rate(pool),
        seed=seed,
    )
    try:
        return _store(dataset, pool, teaching, evaluation)
    except BaseException:
        shutil.rmtree(dataset.folder, ignore_errors=True)
        raise


def with_bias(features: NDArray[np.float64]) -> NDArray[np.float64]:
    """The features about their mean, with a constant one: teaching works on centred features only."""
    centred = features - features.mean(axis=0)
    return np.column_stack([centred, np.ones(len(centred))])


def _store(
    dataset: Dataset,
    pool: Pool,
    teaching: Sequence[LabelledImage],
    evaluation: Sequence[LabelledImage],
) -> Dataset:
    """Files first and outside the transaction: rows never name what is not there."""
    examples = [
        Example(dataset=dataset, split=Example.Split.TEACHING, pool_index=row, label=image.label)
        for row, image in enumerate(teaching)
    ] + [
        Example(dataset=dataset, split=Example.Split.EVALUATION, label=image.label)
        for image in evaluation
    ]
    (dataset.folder / "images").mkdir(parents=True)
    for example, image in zip(examples, [*teaching, *evaluation], strict=True):
        example.image_path.write_bytes(image.content)
    pools.save(dataset, pool)
    with transaction.atomic():
        dataset.save()
        Example.objects.bulk_create(examples)
    return dataset
