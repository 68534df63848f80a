"""The second task of an import: fit the chosen features and the target concept, and write the data set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from image_datasets.checks.insight import insight_of
from image_datasets.checks.shortcuts import ImageCues, measure_cues
from image_datasets.checks.target import Accuracy, accuracy_of_features, fit_target
from image_datasets.extractors.base import Extractor, Fitted, describe_all
from image_datasets.extractors.registry import EXTRACTORS, save
from image_datasets.models import Import
from studies.models import Dataset
from teaching.engine import Pool
from teaching.engine.arrays import FloatArray

from .comparison import load_array
from .creation import Draft, InsightMaker, LabelledImage, create_dataset
from .measuring import MEASURED, Handover
from .preparation import enlarge_all, larger_file
from .progress import ImportProgress


def finish(
    job: Import,
    measured: Handover,
    progress: ImportProgress,
    *,
    on_saved: Callable[[Dataset], None],
) -> Dataset:
    """Make the data set with the chosen features, or the best ones."""
    name = measured.best if job.extractor == Import.BEST else job.extractor
    progress.begin(f"Fitting the features and the target concept ({name})", MEASURED, 1.0)
    extractor, accuracy = EXTRACTORS[name], Accuracy.from_json(measured.accuracies[name])
    labels, teaching = np.array(measured.labels), measured.teaching
    path = job.folder / measured.descriptions[extractor.kind]
    fitted, features, evaluation_features = _fit(
        extractor, path, labels[:teaching], job.seed % 2**32
    )
    files = [job.folder / file for file in measured.files]
    enlarge_all(files, measured.sides)
    images = [
        LabelledImage(file, label, {side: larger_file(file, side) for side in measured.sides})
        for file, label in zip(files, measured.labels, strict=True)
    ]
    draft = Draft(
        name=job.name,
        classes=measured.classes,
        seed=job.seed,
        teaching=images[:teaching],
        features=features,
        evaluation=images[teaching:],
        evaluation_features=evaluation_features,
        target=fit_target(features, labels[:teaching], accuracy.penalty),
        extractor=name,
        duplicates=measured.duplicates,
        owner=job.created_by,
        key=job.run,
        write_extra=lambda folder: save(fitted, folder / "features.npz"),
    )
    insight = partial(_insight, draft, accuracy, measured.cues, measured.remedy)
    return create_dataset(replace(draft, insight=insight), on_saved=on_saved)


def _fit(
    extractor: Extractor, path: Path, labels: NDArray[np.intp], seed: int
) -> tuple[Fitted, FloatArray, FloatArray]:
    """Features of the teaching and of the evaluation images. Descriptions are freed before the pool is made."""
    descriptions = np.asarray(load_array(path))
    teaching, evaluation = descriptions[: len(labels)], descriptions[len(labels) :]
    fitted = extractor.fit(teaching, labels, seed)
    return fitted, fitted.transform(teaching), fitted.transform(evaluation)


def insight_into(draft: Draft) -> InsightMaker:
    """The insight of a data set that was not imported, such as the demo's."""
    labels = [image.label for image in draft.teaching]
    accuracy = accuracy_of_features(draft.features, labels, with_similarity=True)
    cues = describe_all(ImageCues(), [image.content for image in draft.teaching])
    return partial(_insight, draft, accuracy, measure_cues(cues, None, labels).as_json(), {})


def _insight(
    draft: Draft,
    accuracy: Accuracy,
    cues: dict[str, Any],
    remedy: dict[str, Any],
    pool: Pool,
    order: NDArray[np.intp],
) -> dict[str, Any]:
    insight = insight_of(pool, accuracy, order=order, classes=draft.classes, cues=cues)
    return asdict(insight) | {"duplicates": draft.duplicates} | remedy
