"""What is measured on the teaching images: features, target concepts on them, and cues that may be shortcuts.

Slow parts are kept in the import's folder, so that a second run, after a choice or a crash, only reads them.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from image_datasets.checks.reading import Reading, readings_of
from image_datasets.checks.shortcuts import CueReport, ImageCues, measure_cues
from image_datasets.checks.target import Accuracy, Candidate, Comparison, compare
from image_datasets.extractors.base import Describer, Description, Extractor
from image_datasets.extractors.parallel import describe_all
from image_datasets.extractors.registry import EXTRACTORS
from image_datasets.models import Import
from image_datasets.sources import Source
from studies.shortcuts import Shortcuts, judged

from .preparation import Prepared, write_whole
from .watch import Part, Watch, spread

# The share of the measurement that has passed when each step ends.
DESCRIBED, COMPARED, SEARCHED = 0.6, 0.9, 1.0


@dataclass(frozen=True)
class Measured:
    """How well each kind of features serves a target concept, and how far cues alone carry."""

    comparison: Comparison
    cues: CueReport
    labels: Sequence[int]

    def accuracy(self, extractor: str) -> Accuracy:
        return self.comparison.accuracies[extractor]

    def shortcuts(self, extractor: str) -> Shortcuts:
        """The cues, judged against the concept on these features."""
        concept = self.accuracy(extractor).mean
        return judged(self.cues.as_json(), concept, len(self.labels))

    def readings(self, extractor: str) -> list[Reading]:
        accuracy, shortcuts = self.accuracy(extractor), self.shortcuts(extractor)
        return readings_of(accuracy, self.cues, shortcuts, self.labels)

    @property
    def recommended(self) -> str | None:
        """The most accurate features among those that read no shortcut; None if all of them read one."""
        clean = [
            name
            for name in self.comparison.accuracies
            if not any(reading.is_read for reading in self.readings(name))
        ]
        return self.comparison.best(clean) if clean else None

    @property
    def best(self) -> str:
        """What is recommended, or else the most accurate."""
        return self.recommended or self.comparison.best()


def measure(
    job: Import,
    source: Source,
    teaching: Sequence[Prepared],
    labels: Sequence[int],
    watch: Watch,
    part: Part,
) -> Measured:
    descriptions = describe(job, source, teaching, watch, part)
    watch.begin("Comparing features", part.at(COMPARED))
    comparison = compare_features(job, teaching, descriptions, labels, watch)
    watch.begin("Looking for shortcuts", part.at(SEARCHED))
    return Measured(comparison, look_for_shortcuts(job, teaching, labels, watch), labels)


def describe(
    job: Import, source: Source, teaching: Sequence[Prepared], watch: Watch, part: Part
) -> dict[str, Description]:
    """The descriptions of the teaching images for every kind of features that is installed."""
    kinds = {
        extractor.kind: extractor
        for extractor in EXTRACTORS.values()
        if extractor.reads_images == (source.features is None) and extractor.missing() is None
    }
    described = {}
    for number, (kind, extractor) in enumerate(kinds.items(), start=1):
        if source.features is None:
            until = part.at(DESCRIBED * number / len(kinds))
            watch.begin(f"Describing the images ({kind})", until)
        described[kind] = descriptions_for(extractor, job, source, teaching, watch)
    return described


def descriptions_for(
    extractor: Extractor, job: Import, source: Source, teaching: Sequence[Prepared], watch: Watch
) -> Description:
    """The descriptions (n, …) of the teaching images that an extractor starts from."""
    if source.features is not None:
        return source.features[[image.row for image in teaching]]
    return described_once(job, extractor.kind, extractor, teaching, watch)


def described_once(
    job: Import, kind: str, describer: Describer, teaching: Sequence[Prepared], watch: Watch
) -> Description:
    path = job.folder / f"described-{kind}-{fingerprint(teaching)}.npy"
    if not path.exists():
        files = [image.file for image in teaching]
        found = describe_all(describer, files, progress=watch.progress, cancelled=watch.cancelled)
        _write_array(path, found)
    mapped: Description = np.load(path, mmap_mode="r", allow_pickle=False)
    return mapped


def compare_features(
    job: Import,
    teaching: Sequence[Prepared],
    descriptions: dict[str, Description],
    labels: Sequence[int],
    watch: Watch,
) -> Comparison:
    """How well each kind of features serves a target concept; kept, because it takes a while."""
    path = (
        job.folder
        / f"cross-validated-{'-'.join(sorted(descriptions))}-{fingerprint(teaching)}.json"
    )
    if path.exists():
        return Comparison(tuple(Candidate.from_json(row) for row in json.loads(path.read_text())))
    seed = job.seed % 2**32
    parts = sum(extractor.kind in descriptions for extractor in EXTRACTORS.values())
    progress = spread(watch.progress, parts)
    comparison = compare(descriptions, labels, seed, progress=progress, cancelled=watch.cancelled)
    rows = [candidate.as_json() for candidate in comparison.candidates]
    write_whole(path, json.dumps(rows).encode())
    return comparison


def look_for_shortcuts(
    job: Import, teaching: Sequence[Prepared], labels: Sequence[int], watch: Watch
) -> CueReport:
    """Whether background, sharpness or file give the class away."""
    cues = described_once(job, "cues", ImageCues(), teaching, watch)
    originals = [image.original for image in teaching]
    return measure_cues(np.asarray(cues), originals, labels, job.seed % 2**32)


def fingerprint(images: Sequence[Prepared]) -> str:
    """A short name for these images, under their remedy, in this order."""
    text = "\n".join(
        f"{image.file.parent.name} {image.pixel_hash} {image.label}" for image in images
    )
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _write_array(path: Path, array: Description) -> None:
    draft = path.with_name(f"{path.name}.{os.getpid()}.draft")
    with draft.open("wb") as file:
        np.save(file, array, allow_pickle=False)
    draft.replace(path)
