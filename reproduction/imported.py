"""An imported data set for the human experiment: its pool, and features of its evaluation images.

The border to Django; everything behind it works on files.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from datasets.extractors import EXTRACTORS, ExtractorError, describe_all, load
from studies.models import Dataset, Example
from teaching.engine import Pool

from .experiment import BadExperiment
from .features import Divided, Labelled

EVALUATION_PER_CLASS = 50


def find(name: str) -> Dataset:
    """The newest version of a data set."""
    found = Dataset.objects.filter(name=name).order_by("-version").first()
    if found is None:
        names = sorted(set(Dataset.objects.values_list("name", flat=True)))
        known = f"There are: {', '.join(names)}." if names else "None has been imported yet."
        raise BadExperiment(f"There is no data set {name!r}. {known}")
    return found


def pool_folder(dataset: Dataset) -> Path:
    """Where its pool is saved."""
    return dataset.folder / "pool"


def evaluation_features(dataset: Dataset) -> Labelled | None:
    """The evaluation images as its own extractor sees them; None where images alone give no features."""
    file = dataset.folder / "features.npz"
    extractor = EXTRACTORS.get(dataset.extractor)
    if extractor is None or not extractor.reads_images or not file.exists():
        return None
    examples = list(dataset.examples.filter(split=Example.Split.EVALUATION).order_by("pk"))
    try:
        descriptions = describe_all(extractor, [dataset.image_path(one) for one in examples])
        features = load(file).transform(descriptions)
    except ExtractorError as error:
        raise BadExperiment(str(error)) from error
    labels = np.array([float(one.label) for one in examples])
    return Labelled(np.column_stack([features, np.ones(len(features))]), labels)


def held_out(pool: Pool, seed: int) -> Divided:
    """A part of the pool as evaluation set, as many of each class, for data sets without other features."""
    rng = np.random.default_rng(seed)
    per_class = min(
        EVALUATION_PER_CLASS, min(int((pool.labels == label).sum()) for label in (-1, 1)) // 2
    )
    places = np.concatenate(
        [rng.permutation(np.flatnonzero(pool.labels == label))[:per_class] for label in (-1, 1)]
    )
    rest = np.setdiff1d(np.arange(pool.n), places)
    return Divided(
        Labelled(pool.features[rest], pool.labels[rest]),
        Labelled(pool.features[places], pool.labels[places]),
    )
