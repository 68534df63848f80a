"""Making a data set: images on disk, the teachers' pool beside them, and the rows that name both."""

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
    """An encoded image as the browser will get it, or the file that holds it; and the number of its class."""

    content: bytes | Path
    label: int
    larger: Mapping[int, Path] = field(default_factory=dict)
    """further files of it by their longest side"""


# What a data set's page tells, from the finished pool and the order of its rows in the draft.
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
    """how many groups of duplicates were found, if anybody looked"""
    insight: InsightMaker = lambda pool, order: {}
    owner: Any = None
    """the researcher who owns it; without an owner, everybody may use it"""
    key: str = field(default_factory=new_key)
    keep: Callable[[Path], None] = lambda folder: None
    """writes into its folder what else belongs to it"""


def create_dataset(
    draft: Draft, *, on_saved: Callable[[Dataset], None] = lambda dataset: None
) -> Dataset:
    """Makes a data set, whole or not at all. `on_saved` is called in the transaction that makes its rows.

    The pool is shuffled by the seed, so that neither its order nor the lowest index of a tie tells a class.
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
    examples = _examples(dataset, teaching, draft.evaluation)
    try:
        _write_images(dataset, examples, [*teaching, *draft.evaluation])
        pools.save(dataset, pool)
        if draft.evaluation_features is not None:
            pools.save_evaluation(dataset, frame.features(draft.evaluation_features))
        draft.keep(dataset.folder)
        _save_rows(dataset, ImageClass.numbered(dataset, draft.classes), examples, on_saved)
    except BaseException:
        shutil.rmtree(dataset.folder, ignore_errors=True)
        raise
    return dataset


def next_version(name: str) -> int:
    newest = Dataset.objects.filter(name=name).aggregate(newest=Max("version"))["newest"]
    return (newest or 0) + 1


@dataclass(frozen=True)
class Frame:
    """How a pool sees features: about their mean, with a constant for the bias.

    The constant is as large as a typical entry. A one beside features of length one half would outweigh them in
    every step of a learner, who would learn little else than which class came last.
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
        """A concept (k, d + 1) for a constant of one, as one for this constant: what it says stays."""
        return np.column_stack([concept[:, :-1], concept[:, -1] / self.constant])


def _examples(
    dataset: Dataset, teaching: Sequence[LabelledImage], evaluation: Sequence[LabelledImage]
) -> list[Example]:
    return [
        Example(dataset=dataset, split=Example.Split.TEACHING, pool_index=row, label=image.label)
        for row, image in enumerate(teaching)
    ] + [
        Example(dataset=dataset, split=Example.Split.EVALUATION, label=image.label)
        for image in evaluation
    ]


def _write_images(
    dataset: Dataset, examples: Sequence[Example], images: Sequence[LabelledImage]
) -> None:
    """A larger side is kept if every image has it: who can be asked for in which side must tell nothing."""
    places = [dataset.image_path(example) for example in examples]
    _write_padded(places, [image.content for image in images])
    for side in set.intersection(*(set(image.larger) for image in images)):
        larger = [dataset.image_folder(side) / place.name for place in places]
        _write_padded(larger, [image.larger[side] for image in images])


def _write_padded(places: Sequence[Path], contents: Sequence[bytes | Path]) -> None:
    # Every file has the length of the longest: a length tells something about the picture in it.
    size = max(_length(content) for content in contents)
    places[0].parent.mkdir(parents=True)
    for place, content in zip(places, contents, strict=True):
        whole = content.read_bytes() if isinstance(content, Path) else content
        place.write_bytes(padded(whole, size))


def _length(content: bytes | Path) -> int:
    return content.stat().st_size if isinstance(content, Path) else len(content)


def _save_rows(
    dataset: Dataset,
    classes: Sequence[ImageClass],
    examples: Sequence[Example],
    on_saved: Callable[[Dataset], None],
) -> None:
    """After the files, which take longer than a transaction should: rows never name what is not there."""
    with transaction.atomic():
        dataset.version = next_version(dataset.name)
        dataset.save()
        ImageClass.objects.bulk_create(classes)
        Example.objects.bulk_create(examples, batch_size=500)
        on_saved(dataset)
