"""What is found out about a source before it becomes a data set: images, duplicates, split, features.

Slow parts are kept in the import's folder, so that a second run, after a choice or a crash, only reads them.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from datasets.checks.shortcuts import ImageCues, ShortcutReport, check_shortcuts
from datasets.checks.target import Accuracy, Candidate, Comparison, Share, compare
from datasets.errors import BadFeatures, BadSource, Problems
from datasets.extractors.base import Describer, Description, Extractor
from datasets.extractors.parallel import describe_all
from datasets.extractors.registry import EXTRACTORS
from datasets.models import Import
from datasets.pictures.duplicates import Groups, find_duplicates
from datasets.sources import Source, check_classes, open_source

from .preparation import Prepared, prepare_all, write_whole
from .split import Policy, Split, split_as_given, split_by_seed
from .watch import Watch, spread

# The share of the whole import that has passed when each step ends.
READ, PREPARED, DESCRIBED, COMPARED, SEARCHED = 0.02, 0.35, 0.7, 0.87, 0.92


@dataclass(frozen=True)
class Examined:
    """Everything that a data set can be made from."""

    source: Source
    images: list[Prepared]
    problems: Problems
    duplicates: Groups
    split: Split
    comparison: Comparison
    shortcuts: ShortcutReport

    @property
    def teaching(self) -> list[Prepared]:
        return [self.images[place] for place in self.split.teaching]

    @property
    def evaluation(self) -> list[Prepared]:
        return [self.images[place] for place in self.split.evaluation]

    def label(self, image: Prepared) -> int:
        return 1 if image.label == self.source.classes[1] else -1

    @property
    def labels(self) -> list[int]:
        """Of the teaching images."""
        return [self.label(image) for image in self.teaching]

    def accuracy(self, extractor: str) -> Accuracy | None:
        named = {candidate.name: candidate for candidate in self.comparison.candidates}
        return named[extractor].accuracy if extractor in named else None


def examine(job: Import, watch: Watch) -> Examined:
    watch.begin("Reading the source", READ)
    job.folder.mkdir(parents=True, exist_ok=True)
    source = opened_source(job)
    check_choice(job.extractor, source)
    for note in source.notes:
        watch.note(note)
    watch.begin(f"Preparing {len(source.images)} images", PREPARED)
    images, problems = prepare_all(
        source.images, job.folder / "images", progress=watch.progress, cancelled=watch.cancelled
    )
    job.report(findings=job.findings | {"bad_images": [str(bad) for bad in problems.found]})
    problems.check(skip_bad=job.skips_bad_images)
    check_classes(Counter(image.label for image in images), job.file_name or job.source)
    duplicates = find_duplicates(
        [image.pixel_hash for image in images], [image.perceptual_hash for image in images]
    )
    watch.note(f"{len(duplicates)} groups of duplicates")
    split = split_images(job, images, source.has_split, duplicates)
    teaching = [images[place] for place in split.teaching]
    descriptions = describe(job, source, teaching, watch)
    labels = [1 if image.label == source.classes[1] else -1 for image in teaching]
    comparison = compare_features(job, teaching, descriptions, labels, watch)
    shortcuts = look_for_shortcuts(job, teaching, labels, watch)
    return Examined(source, images, problems, duplicates, split, comparison, shortcuts)


def opened_source(job: Import) -> Source:
    """An upload is stored under a name that we chose; a problem with it names the researcher's file."""
    path = Path(job.source)
    try:
        return open_source(path, job.folder)
    except BadSource as problem:
        if problem.file != path.name or not job.file_name:
            raise
        raise type(problem)(
            file=job.file_name, reason=problem.reason, remedy=problem.remedy
        ) from problem


def check_choice(chosen: str, source: Source) -> None:
    """Before the long work, whether the features that were chosen can be made at all."""
    if chosen in ("", Import.BEST):
        return
    if chosen not in EXTRACTORS:
        known = ", ".join([Import.BEST, *EXTRACTORS])
        raise _no_such_features(
            f"There are no features called “{chosen}”.", f"Choose one of {known}."
        )
    extractor = EXTRACTORS[chosen]
    if missing := extractor.missing():
        raise _no_such_features(f"“{chosen}” is not installed.", missing)
    if extractor.reads_images and source.features is not None:
        raise _no_such_features(
            "The images come with precomputed features, and those are used.",
            f"Choose {Import.BEST}, or remove the table of features.",
        )
    if not extractor.reads_images and source.features is None:
        raise _no_such_features(
            "There are no precomputed features beside the images.",
            "Add features.npz or features.csv, or choose others.",
        )


def _no_such_features(reason: str, remedy: str) -> BadFeatures:
    return BadFeatures(file="features", reason=reason, remedy=remedy)


def split_images(
    job: Import, images: Sequence[Prepared], has_split: bool, duplicates: Groups
) -> Split:
    """The manifest's own split, or one drawn by the import's seed."""
    labels, names = [image.label for image in images], [image.name for image in images]
    policy: Policy = "refuse" if job.duplicates == Import.Duplicates.REFUSE else "keep_together"
    if has_split:
        sides = [image.side or "teaching" for image in images]
        return split_as_given(
            sides,  # type: ignore[arg-type]  # the source gives no other words
            labels,
            names,
            seed=job.seed,
            groups=duplicates,
            policy=policy,
        )
    return split_by_seed(
        labels,
        names,
        seed=job.seed,
        evaluation_per_class=job.evaluation_per_class,
        groups=duplicates,
        policy=policy,
    )


def describe(
    job: Import, source: Source, teaching: Sequence[Prepared], watch: Watch
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
            until = PREPARED + (DESCRIBED - PREPARED) * number / len(kinds)
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
    watch.begin("Comparing features", COMPARED)
    path = job.folder / f"compared-{'-'.join(sorted(descriptions))}-{fingerprint(teaching)}.json"
    if path.exists():
        return Comparison(tuple(_candidate_from(row) for row in json.loads(path.read_text())))
    seed = job.seed % 2**32
    parts = sum(extractor.kind in descriptions for extractor in EXTRACTORS.values())
    progress = spread(watch.progress, parts)
    comparison = compare(descriptions, labels, seed, progress=progress, cancelled=watch.cancelled)
    rows = [candidate.as_json() for candidate in comparison.candidates]
    write_whole(path, json.dumps(rows).encode())
    return comparison


def look_for_shortcuts(
    job: Import, teaching: Sequence[Prepared], labels: Sequence[int], watch: Watch
) -> ShortcutReport:
    """Whether background, sharpness or file give the class away."""
    watch.begin("Looking for shortcuts", SEARCHED)
    cues = described_once(job, "cues", ImageCues(), teaching, watch)
    originals = [image.original for image in teaching]
    return check_shortcuts(np.asarray(cues), originals, labels, job.seed % 2**32)


def fingerprint(images: Sequence[Prepared]) -> str:
    """A short name for these images in this order."""
    text = "\n".join(f"{image.pixel_hash} {image.label}" for image in images)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _write_array(path: Path, array: Description) -> None:
    draft = path.with_name(f"{path.name}.{os.getpid()}.draft")
    with draft.open("wb") as file:
        np.save(file, array, allow_pickle=False)
    draft.replace(path)


def _candidate_from(row: dict[str, Any]) -> Candidate:
    accuracy, neighbours = row["accuracy"], row["neighbours"]
    if accuracy:
        first, second = accuracy["confusion"]
        accuracy = Accuracy(
            **accuracy
            | {
                "folds": tuple(accuracy["folds"]),
                "confusion": (tuple(first), tuple(second)),
                "probabilities": np.array(accuracy["probabilities"]),
                "log_losses": tuple(accuracy["log_losses"]),
            }
        )
    return Candidate(
        **row
        | {"accuracy": accuracy or None, "neighbours": Share(**neighbours) if neighbours else None}
    )


def findings_of(examined: Examined) -> dict[str, Any]:
    """What the import's page tells, as plain numbers and words."""
    sides = {"teaching pool": examined.teaching, "evaluation set": examined.evaluation}
    counts = {
        f"{label}, {side}": sum(image.label == label for image in images)
        for label in examined.source.classes
        for side, images in sides.items()
    }
    names = [image.name for image in examined.images]
    return {
        "counts": counts,
        "duplicates": [[names[place] for place in group] for group in examined.duplicates],
        "warnings": warnings_of(examined),
        "candidates": [_described(candidate) for candidate in examined.comparison.candidates],
        "best": examined.comparison.best,
    }


def warnings_of(examined: Examined) -> list[str]:
    names = [image.name for image in examined.images]
    warnings = [
        "The same picture has both labels: " + ", ".join(names[place] for place in group) + "."
        for group in examined.split.mixed_groups
    ]
    if examined.split.moved:
        moved = ", ".join(names[place] for place in examined.split.moved)
        warnings.append(f"Moved to the teaching pool, because a copy is there: {moved}.")
    concerns = examined.shortcuts.warnings
    return warnings + [f"{concern.message} {concern.remedy}" for concern in concerns]


def _described(candidate: Candidate) -> dict[str, Any]:
    row: dict[str, Any] = {
        "name": candidate.name,
        "title": candidate.title,
        "description": EXTRACTORS[candidate.name].description,
        "missing": candidate.missing,
    }
    if candidate.accuracy:
        row["accuracy"] = {
            f"{part}_percent": f"{100 * getattr(candidate.accuracy, part):.1f}"
            for part in ("mean", "low", "high")
        }
    if candidate.neighbours:
        row["neighbours_percent"] = f"{100 * candidate.neighbours.mean:.1f}"
    return row
