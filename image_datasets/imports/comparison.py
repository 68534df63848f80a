"""What is measured on the teaching images: descriptions, the accuracy of every kind of features, and cues."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from image_datasets.checks.shortcuts import (
    CueReport,
    ImageCues,
    Reading,
    measure_cues,
    readings_of,
)
from image_datasets.checks.target import Accuracy, Comparison, compare
from image_datasets.extractors.base import Describer, Description, describe_all
from image_datasets.extractors.registry import EXTRACTORS
from image_datasets.models import Import
from image_datasets.remedy import Remedy
from studies.shortcuts import Shortcuts, judged

from .preparation import Prepared
from .progress import ImportProgress

# The share of the measurement that has passed when each step ends.
DESCRIBED, COMPARED = 0.6, 0.9


@dataclass(frozen=True)
class Measurement:
    """How well each kind of features serves a target concept, and how well cues alone predict the class."""

    comparison: Comparison
    cues: CueReport
    labels: Sequence[int]
    description_files: dict[str, Path]
    """by the kind of description: (n, …), the teaching images first"""

    def accuracy(self, extractor: str) -> Accuracy:
        return self.comparison.accuracies[extractor]

    def shortcuts(self, extractor: str) -> Shortcuts:
        """The cues, compared with the concept on these features."""
        return judged(self.cues.as_json(), self.accuracy(extractor).mean, len(self.labels))

    def readings(self, extractor: str) -> list[Reading]:
        accuracy, shortcuts = self.accuracy(extractor), self.shortcuts(extractor)
        return readings_of(accuracy, self.cues, shortcuts, self.labels)

    @property
    def recommended(self) -> str | None:
        """The most accurate features that read no shortcut; None if all of them read one."""
        clean = [
            name
            for name in self.comparison.accuracies
            if not any(reading.is_read for reading in self.readings(name))
        ]
        return self.comparison.best(clean) if clean else None

    @property
    def best(self) -> str:
        """The recommended features, or else the most accurate."""
        return self.recommended or self.comparison.best()

    def as_trial(self, remedy: Remedy) -> dict[str, Any]:
        """Concepts and cues as plain numbers; cues are compared with the best concept."""
        shortcuts = self.shortcuts(self.best)
        cues = sorted(shortcuts.each, key=lambda cue: cue.title)
        return {
            "remedy": str(remedy),
            "concepts": [
                {"title": f"target concept: {candidate.title}", **_interval(candidate.accuracy)}
                for candidate in self.comparison.candidates
                if candidate.accuracy
            ],
            "cues": [
                {"title": cue.title, "is_shortcut": cue.is_shortcut, **_interval(cue)}
                for cue in (shortcuts.together, *cues)
            ],
        }


def _interval(estimate: Any) -> dict[str, float]:
    return {part: round(getattr(estimate, part), 4) for part in ("mean", "low", "high")}


def measure_images(
    job: Import,
    images: Sequence[Prepared],
    labels: Sequence[int],
    features: NDArray[np.float64] | None,
    progress: ImportProgress,
    start: float,
    stop: float,
) -> Measurement:
    """Measure the teaching images, and describe all of them.

    `images`: the teaching images, then the evaluation images. `labels`: of the teaching images. `features`: precomputed
    features of all images; if there are some, no other features are compared.
    """

    def at(share: float) -> float:
        return start + share * (stop - start)

    extractors = {
        extractor.kind: extractor
        for extractor in EXTRACTORS.values()
        if extractor.reads_images == (features is None) and extractor.missing() is None
    }
    files = {}
    for number, (kind, extractor) in enumerate(extractors.items()):
        path = job.folder / f"descriptions-{kind}-{fingerprint(images)}.npy"
        if features is not None:
            _save_array(path, features)
        else:
            shares = (DESCRIBED * step / len(extractors) for step in (number, number + 1))
            progress.begin(f"Describing the images ({kind})", *map(at, shares))
            describe_once(path, extractor, images, progress)
        files[kind] = path

    progress.begin("Comparing features", at(DESCRIBED), at(COMPARED))
    seed, teaching = job.seed % 2**32, images[: len(labels)]
    descriptions = {kind: load_array(path)[: len(labels)] for kind, path in files.items()}
    comparison = compare(
        descriptions, labels, seed, progress=progress.update, cancelled=progress.is_cancelled
    )

    progress.begin("Looking for shortcuts", at(COMPARED), stop)
    path = job.folder / f"cues-{fingerprint(teaching)}.npy"
    cues = np.asarray(describe_once(path, ImageCues(), teaching, progress))
    report = measure_cues(cues, [image.original for image in teaching], labels, seed)
    return Measurement(comparison, report, labels, files)


def describe_once(
    path: Path, describer: Describer, images: Sequence[Prepared], progress: ImportProgress
) -> Description:
    """Descriptions (n, …) of the images. An import that was interrupted reads those it has finished."""
    if not path.exists():
        files = [image.file for image in images]
        descriptions = describe_all(
            describer, files, progress=progress.update, cancelled=progress.is_cancelled
        )
        _save_array(path, descriptions)
    return load_array(path)


def load_array(path: Path) -> Description:
    mapped: Description = np.load(path, mmap_mode="r", allow_pickle=False)
    return mapped


def _save_array(path: Path, array: Description) -> None:
    draft = path.with_name(f"{path.name}.{os.getpid()}.draft")
    with draft.open("wb") as file:
        np.save(file, array, allow_pickle=False)
    draft.replace(path)


def fingerprint(images: Sequence[Prepared]) -> str:
    """Identifies these images, under their remedy, in this order."""
    text = "\n".join(
        f"{image.file.parent.name} {image.pixel_hash} {image.label}" for image in images
    )
    return hashlib.sha256(text.encode()).hexdigest()[:16]
