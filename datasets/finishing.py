"""The last step of an import: features, target concept, pool, rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from studies.models import Dataset
from teaching.engine import Pool

from .creation import Draft, LabelledImage, create_dataset
from .examination import Examined
from .extractors import EXTRACTORS, save
from .models import Import
from .preparation import Prepared
from .target import fit_target
from .watch import Watch


def finish(job: Import, examined: Examined, watch: Watch) -> Dataset:
    """Makes the data set with the chosen features, or the best ones."""
    name = examined.comparison.best if job.extractor == Import.BEST else job.extractor
    watch.begin(f"Fitting the features and the target concept ({name})", 1.0)
    extractor = EXTRACTORS[name]
    labels = np.array(examined.labels)
    descriptions = np.asarray(examined.descriptions[extractor.kind])
    fitted = extractor.fit(descriptions, labels, job.seed % 2**32)
    features = fitted.transform(descriptions)
    target = fit_target(features, labels, accuracy=examined.accuracy(name))

    def insight(pool: Pool, order: NDArray[np.intp]) -> dict[str, Any]:
        return {}

    negative, positive = examined.source.classes
    dataset = create_dataset(
        Draft(
            name=job.name,
            negative_class=negative,
            positive_class=positive,
            seed=job.seed,
            teaching=_labelled(examined, examined.teaching),
            features=features,
            evaluation=_labelled(examined, examined.evaluation),
            target=target.concept,
            extractor=name,
            insight=insight,
        )
    )
    save(fitted, dataset.folder / "features.npz")
    return dataset


def _labelled(examined: Examined, images: Sequence[Prepared]) -> list[LabelledImage]:
    return [LabelledImage(image.file, examined.label(image)) for image in images]
