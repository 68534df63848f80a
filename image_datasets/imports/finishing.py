"""The last step of an import: features, target concept, pool, rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from image_datasets.checks.insight import insight_of
from image_datasets.checks.shortcuts import CueReport, ImageCues, measure_cues
from image_datasets.checks.target import Accuracy, accuracy_of_features, fit_target
from image_datasets.extractors.base import Description, Extractor, Fitted
from image_datasets.extractors.parallel import describe_all
from image_datasets.extractors.registry import EXTRACTORS, save
from image_datasets.models import Import
from studies.models import Dataset
from teaching.engine import Pool
from teaching.engine.arrays import FloatArray

from .creation import Draft, InsightMaker, LabelledImage, create_dataset
from .examination import Examined
from .findings import trials_of
from .measurement import descriptions_for
from .preparation import of_equal_sides
from .watch import Watch


def finish(
    job: Import, examined: Examined, watch: Watch, *, on_saved: Callable[[Dataset], None]
) -> Dataset:
    """Makes the data set with the chosen features, or the best ones."""
    measured = examined.measured
    name = measured.best if job.extractor == Import.BEST else job.extractor
    watch.begin(f"Fitting the features and the target concept ({name})", 1.0)
    extractor = EXTRACTORS[name]
    labels = np.array(examined.labels)
    fitted, features = _fitted(extractor, job, examined, watch)
    accuracy = measured.accuracy(name)
    teaching, evaluation = _labelled(examined)
    draft = Draft(
        name=job.name,
        classes=examined.source.classes,
        seed=job.seed,
        teaching=teaching,
        features=features,
        evaluation=evaluation,
        evaluation_features=fitted.transform(_described_evaluation(examined, extractor)),
        target=fit_target(features, labels, accuracy.penalty),
        extractor=name,
        duplicates=len(examined.duplicates),
        owner=job.created_by,
        key=job.run,
        keep=lambda folder: save(fitted, folder / "features.npz"),
    )
    insight = partial(_insight, draft, accuracy, measured.cues, remedy_of(examined))
    return create_dataset(replace(draft, insight=insight), on_saved=on_saved)


def remedy_of(examined: Examined) -> dict[str, Any]:
    """What was done to the images, and what that changed."""
    if not examined.remedy:
        return {}
    return {"remedy": examined.remedy.as_json(), "trials": trials_of(examined)}


def _fitted(
    extractor: Extractor, job: Import, examined: Examined, watch: Watch
) -> tuple[Fitted, FloatArray]:
    """Apart from the rest, so that the descriptions have left the memory when the pool is made."""
    found = descriptions_for(extractor, job, examined.source, examined.teaching, watch)
    descriptions = np.asarray(found)
    fitted = extractor.fit(descriptions, examined.labels, job.seed % 2**32)
    return fitted, fitted.transform(descriptions)


def _described_evaluation(examined: Examined, extractor: Extractor) -> Description:
    images = examined.evaluation
    if examined.source.features is not None:
        return examined.source.features[[image.row for image in images]]
    return describe_all(extractor, [image.file for image in images])


def insight_into(draft: Draft) -> InsightMaker:
    """The insight of a data set that was not imported: its features are as they are."""
    labels = [image.label for image in draft.teaching]
    accuracy = accuracy_of_features(draft.features, labels, with_similarity=True)
    cues = describe_all(ImageCues(), [image.content for image in draft.teaching])
    return partial(_insight, draft, accuracy, measure_cues(cues, None, labels), {})


def _insight(
    draft: Draft,
    accuracy: Accuracy,
    cues: CueReport,
    remedy: dict[str, Any],
    pool: Pool,
    order: NDArray[np.intp],
) -> dict[str, Any]:
    found = insight_of(pool, accuracy, order=order, classes=draft.classes, cues=cues)
    return asdict(found) | {"duplicates": draft.duplicates} | remedy


def _labelled(examined: Examined) -> tuple[list[LabelledImage], list[LabelledImage]]:
    """The images to teach and to test with."""
    images = of_equal_sides([*examined.teaching, *examined.evaluation])
    labelled = [LabelledImage(one.file, examined.label(one), one.larger) for one in images]
    first_test = len(examined.teaching)
    return labelled[:first_test], labelled[first_test:]
