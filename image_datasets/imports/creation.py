"""Create a data set: images on disk, the pool beside them, and the rows that refer to both."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
from django.db import transaction
from django.db.models import Max
from numpy.typing import NDArray

from image_datasets.pictures.encoding import padded
from studies.keys import new_key
from studies.models import Dataset, Example, ImageClass
from teaching import pools
from teaching.engine import Pool, suggest_learning_rate


@dataclass(frozen=True)
class LabelledImage:
    """A re-encoded image or its file, and the number of its class."""

    content: bytes | Path
    label: int
    larger: Mapping[int, Path] = field(default_factory=dict)
    """further files by their longest side"""


# Makes `Dataset.insight` from the finished pool and the order of its rows in the draft.
InsightMaker = Callable[[Pool, NDArray[np.intp]], dict[str, Any]]


@dataclass(frozen=True)
class Draft:
    """Everything that a data set is made of. `features` has one row per teaching image, about their mean."""

    name: str
    classes: Sequence[str]
    """their names, class 0 first"""
    seed: int
    teaching: Sequence[LabelledImage]
    features: NDArray[np.float64]
    evaluation: Sequence[LabelledImage]
    evaluation_features: NDArray[np.float64] | None = None
    """one row per evaluation image, in the same coordinates; for learners that are simulated"""
    target: NDArray[np.float64] | None = None
    """W* (k, d + 1), the bias last, for a constant of one; the pool's own if left out"""
    extractor: str = ""
    duplicates: int | None = None
    """the number of groups of duplicates, if they were searched for"""
    insight: InsightMaker = lambda pool, order: {}
    owner: Any = None
    """the researcher who owns it; without an owner, every researcher may use it"""
    key: str = field(default_factory=new_key)
    write_extra: Callable[[Path], None] = lambda folder: None
    """writes further files into the folder of the data set"""


def create_dataset(
    draft: Draft, *, on_saved: Callable[[Dataset], None] = lambda dataset: None
) -> Dataset:
    """Create a data set completely or not at all. `on_saved` is called in the transaction that inserts its rows.

    The seed shuffles the pool, so that neither its order nor the lowest index in a tie reveals a class.
    """
    order = np.random.default_rng(draft.seed).permutation(len(draft.teaching))
    teaching = [draft.teaching[row] for row in order]
    labels = [image.label for image in teaching]
    frame = Frame.of(draft.features)
    target = None if draft.target is None else frame.target(draft.target)
    pool = Pool(frame.features(draft.features[order]), labels, target=target)
    dataset = Dataset(
        name=draft.name,
        key=draft.key,
        learning_rate=suggest_learning_rate(pool),
        seed=draft.seed,
        extractor=draft.extractor,
        owner=draft.owner,
        insight=draft.insight(pool, order),
    )
    examples = [
        Example(dataset=dataset, split=Example.Split.TEACHING, pool_index=row, label=image.label)
        for row, image in enumerate(teaching)
    ] + [
        Example(dataset=dataset, split=Example.Split.EVALUATION, label=image.label)
        for image in draft.evaluation
    ]
    try:
        _write_images(dataset, examples, [*teaching, *draft.evaluation])
        pools.save(dataset, pool)
        if draft.evaluation_features is not None:
            pools.save_evaluation(dataset, frame.features(draft.evaluation_features))
        draft.write_extra(dataset.folder)
        # After the files, which take too long for a transaction: rows never refer to missing files.
        with transaction.atomic():
            dataset.version = next_version(dataset.name)
            dataset.save()
            ImageClass.objects.bulk_create(ImageClass.numbered(dataset, draft.classes))
            Example.objects.bulk_create(examples, batch_size=500)
            on_saved(dataset)
    except BaseException:
        shutil.rmtree(dataset.folder, ignore_errors=True)
        raise
    return dataset


def next_version(name: str) -> int:
    newest = Dataset.objects.filter(name=name).aggregate(newest=Max("version"))["newest"]
    return (newest or 0) + 1


@dataclass(frozen=True)
class Frame:
    """How features are stored in a pool: centred, with a constant column for the bias.

    The constant is as large as a typical entry. With a constant of one beside features of length one half, every update
    of a learner would mostly change the bias: the learner would learn little more than which class came last.
    """

    centre: NDArray[np.float64]
    constant: float

    @classmethod
    def of(cls, features: NDArray[np.float64]) -> Self:
        centre = features.mean(axis=0)
        typical = float(np.sqrt(np.square(features - centre).mean()))
        return cls(centre, typical or 1.0)

    def features(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.column_stack([features - self.centre, np.full(len(features), self.constant)])

    def target(self, concept: NDArray[np.float64]) -> NDArray[np.float64]:
        """A concept (k, d + 1) for a constant of one, rescaled for this constant: its predictions stay the same."""
        return np.column_stack([concept[:, :-1], concept[:, -1] / self.constant])


def _write_images(
    dataset: Dataset, examples: Sequence[Example], images: Sequence[LabelledImage]
) -> None:
    """A larger side is kept only if every image has it: which sides an image has must reveal nothing."""
    paths = [dataset.image_path(example) for example in examples]
    _write_padded(paths, [image.content for image in images])
    for side in set.intersection(*(set(image.larger) for image in images)):
        larger = [dataset.image_folder(side) / path.name for path in paths]
        _write_padded(larger, [image.larger[side] for image in images])


def _write_padded(paths: Sequence[Path], contents: Sequence[bytes | Path]) -> None:
    # Every file gets the length of the longest: a length reveals something about the picture.
    size = max(
        content.stat().st_size if isinstance(content, Path) else len(content)
        for content in contents
    )
    paths[0].parent.mkdir(parents=True)
    for path, content in zip(paths, contents, strict=True):
        whole = content.read_bytes() if isinstance(content, Path) else content
        path.write_bytes(padded(whole, size))
