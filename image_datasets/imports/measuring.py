"""The first task of an import: read the source, prepare and split the images, and measure every kind of features.

It leaves a `Handover` in the import's folder, from which the second task (`finishing`) makes the data set.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from image_datasets.checks.shortcuts import Reading
from image_datasets.errors import BadFeatures, BadImage, BadImages, BadSource
from image_datasets.extractors.registry import EXTRACTORS
from image_datasets.models import Import
from image_datasets.pictures.duplicates import find_duplicates
from image_datasets.remedy import NO_REMEDY, REMEDY_FIELDS, Remedy, merge_trials
from image_datasets.sources import Source, check_classes, open_source

from .comparison import Measurement, fingerprint, measure_images
from .preparation import Prepared, prepare_all, write_atomically
from .progress import ImportProgress
from .split import Split, split_as_given, split_by_seed

# The share of the whole import that has passed when each step ends.
READ, PREPARED, MEASURED = 0.02, 0.35, 0.92
# Images of each class that the import's page shows.
SAMPLES = 3
# Raised by one whenever a `Handover` changes.
VERSION = 1
# What the measurement depends on; if one of these has changed since, it is out of date.
REQUEST = (
    "seed",
    "only_classes",
    "evaluation_per_class",
    "duplicates",
    "skips_bad_images",
    *REMEDY_FIELDS,
)


@dataclass(frozen=True)
class Handover:
    """Everything that the second task needs, as plain values."""

    classes: list[str]
    """by number"""
    files: list[str]
    """the prepared images, relative to the import's folder: the teaching images, then the evaluation images"""
    labels: list[int]
    """of the files"""
    teaching: int
    """how many of the files are teaching images"""
    sides: list[int]
    """the longest sides of larger files that at least one image has"""
    duplicates: int
    """groups of duplicates"""
    descriptions: dict[str, str]
    """by kind: the array with one row for each file"""
    accuracies: dict[str, dict[str, Any]]
    """by extractor, see `Accuracy.as_json`"""
    best: str
    cues: dict[str, Any]
    """see `CueReport.as_json`"""
    remedy: dict[str, Any]
    """what the data set's page says about a remedy; empty without one"""

    def save(self, job: Import) -> None:
        content = {"request": _request(job), "handover": asdict(self)}
        write_atomically(job.folder / "measured.json", json.dumps(content).encode())

    @classmethod
    def load(cls, job: Import) -> Handover | None:
        """What was measured; None if it is missing or out of date: the import then has to be measured again."""
        try:
            content = json.loads((job.folder / "measured.json").read_text())
        except FileNotFoundError:
            return None
        return cls(**content["handover"]) if content["request"] == _request(job) else None


def _request(job: Import) -> dict[str, Any]:
    return {"version": VERSION} | {name: getattr(job, name) for name in REQUEST}


def measure(job: Import, progress: ImportProgress) -> Handover:
    progress.begin("Reading the source", 0.0, READ)
    job.folder.mkdir(parents=True, exist_ok=True)
    source = _open_source(job)
    _check_extractor(job.extractor, source)
    for note in source.notes:
        progress.note(note)

    # Duplicates and split are those of the images as they came, so every remedy is tried on the same images.
    remedies = [NO_REMEDY, job.remedy] if job.remedy else [NO_REMEDY]
    versions = _prepare_versions(job, source, remedies, progress)
    plain, treated = versions[0], versions[-1]
    check_classes(Counter(image.label for image in plain), job.file_name or job.source)
    duplicates = find_duplicates(
        [image.pixel_hash for image in plain], [image.perceptual_hash for image in plain]
    )
    progress.note(f"{len(duplicates)} groups of duplicates")
    split = _split(job, plain, source.has_split, duplicates)
    order = [*split.teaching, *split.evaluation]
    labels = [source.classes.index(plain[index].label) for index in order]
    teaching_labels = labels[: len(split.teaching)]
    features = None
    if source.features is not None:
        features = source.features[[plain[index].row for index in order]]

    trials = []
    start = PREPARED
    if job.remedy:
        images = [plain[index] for index in order]
        start = (PREPARED + MEASURED) / 2
        trials.append(_plain_trial(job, images, teaching_labels, features, progress, start))
        progress.note(f"Images {job.remedy}")
    images = [treated[index] for index in order]
    measurement = measure_images(job, images, teaching_labels, features, progress, start, MEASURED)
    trials.append(measurement.as_trial(job.remedy))
    if not job.remedy:
        _save_plain_trial(job, images, features, trials[-1])

    handover = Handover(
        classes=list(source.classes),
        files=[str(image.file.relative_to(job.folder)) for image in images],
        labels=labels,
        teaching=len(teaching_labels),
        sides=sorted({side for image in images for side in image.larger}),
        duplicates=len(duplicates),
        descriptions={kind: path.name for kind, path in measurement.description_files.items()},
        accuracies={
            name: accuracy.as_json() for name, accuracy in measurement.comparison.accuracies.items()
        },
        best=measurement.best,
        cues=measurement.cues.as_json(),
        remedy={"remedy": job.remedy.as_json(), "trials": trials} if job.remedy else {},
    )
    names = [image.name for image in plain]
    findings = _findings(job, source, images, names, split, duplicates, measurement)
    trials = merge_trials(job.findings.get("trials", []), trials)
    job.report(findings=job.findings | findings | {"trials": trials})
    # Last, because an import with a hand-over is not measured again.
    handover.save(job)
    return handover


def _open_source(job: Import) -> Source:
    """Uploads are stored under a name that we chose; a problem names the researcher's file instead."""
    path = Path(job.source)
    try:
        return open_source(path, job.folder, job.only_classes)
    except BadSource as problem:
        if problem.classes:
            job.report(findings=job.findings | {"classes": problem.classes})
        if problem.file != path.name or not job.file_name:
            raise
        raise type(problem)(
            file=job.file_name, reason=problem.reason, remedy=problem.remedy
        ) from problem


def _check_extractor(chosen: str, source: Source) -> None:
    """Before the long work: whether the features that were chosen in advance can be computed at all."""
    if chosen in ("", Import.BEST):
        return

    def problem(reason: str, remedy: str) -> BadFeatures:
        return BadFeatures(file="features", reason=reason, remedy=remedy)

    if chosen not in EXTRACTORS:
        known = ", ".join([Import.BEST, *EXTRACTORS])
        raise problem(f"There are no features called “{chosen}”.", f"Choose one of {known}.")
    extractor = EXTRACTORS[chosen]
    if missing := extractor.missing():
        raise problem(f"“{chosen}” is not installed.", missing)
    if extractor.reads_images and source.features is not None:
        raise problem(
            "The images come with precomputed features, and those are used.",
            f"Choose {Import.BEST}, or remove the table of features.",
        )
    if not extractor.reads_images and source.features is None:
        raise problem(
            "There are no precomputed features beside the images.",
            "Add features.npz or features.csv, or choose others.",
        )


def _prepare_versions(
    job: Import, source: Source, remedies: Sequence[Remedy], progress: ImportProgress
) -> list[list[Prepared]]:
    """The images under each remedy; only those that are usable under all of them."""
    versions: list[list[Prepared]] = []
    bad: dict[str, BadImage] = {}
    for number, remedy in enumerate(remedies):
        start, stop = (
            READ + (PREPARED - READ) * step / len(remedies) for step in (number, number + 1)
        )
        progress.begin(f"Preparing {len(source.images)} images", start, stop)
        images, problems = prepare_all(
            source.images,
            job.pictures(remedy),
            remedy=remedy,
            progress=progress.update,
            cancelled=progress.is_cancelled,
        )
        versions.append(images)
        for problem in problems:
            bad.setdefault(problem.file, problem)
    job.report(findings=job.findings | {"bad_images": [str(problem) for problem in bad.values()]})
    if bad and not job.skips_bad_images:
        raise BadImages(sorted(bad.values(), key=lambda problem: problem.file))
    usable = set.intersection(*({image.row for image in images} for images in versions))
    return [[image for image in images if image.row in usable] for images in versions]


def _split(
    job: Import, images: Sequence[Prepared], has_split: bool, duplicates: Sequence[Sequence[int]]
) -> Split:
    """The manifest's split, or one drawn by the import's seed."""
    labels, names = [image.label for image in images], [image.name for image in images]
    refuses = job.duplicates == Import.Duplicates.REFUSE
    if has_split:
        sides = [image.side or "teaching" for image in images]
        return split_as_given(
            sides,  # type: ignore[arg-type]  # the source gives no other words
            labels,
            names,
            seed=job.seed,
            groups=duplicates,
            refuses_duplicates=refuses,
        )
    return split_by_seed(
        labels,
        names,
        seed=job.seed,
        evaluation_per_class=job.evaluation_per_class,
        groups=duplicates,
        refuses_duplicates=refuses,
    )


def _plain_trial(
    job: Import,
    images: Sequence[Prepared],
    labels: Sequence[int],
    features: NDArray[np.float64] | None,
    progress: ImportProgress,
    stop: float,
) -> dict[str, Any]:
    """The numbers without a remedy. They are kept, so that trying another remedy does not measure them again."""
    try:
        trial: dict[str, Any] = json.loads(_trial_file(job, images, features).read_text())
    except FileNotFoundError:
        measurement = measure_images(job, images, labels, features, progress, PREPARED, stop)
        trial = measurement.as_trial(NO_REMEDY)
        _save_plain_trial(job, images, features, trial)
    return trial


def _save_plain_trial(
    job: Import,
    images: Sequence[Prepared],
    features: NDArray[np.float64] | None,
    trial: dict[str, Any],
) -> None:
    write_atomically(_trial_file(job, images, features), json.dumps(trial).encode())


def _trial_file(
    job: Import, images: Sequence[Prepared], features: NDArray[np.float64] | None
) -> Path:
    kind = "images" if features is None else "features"
    return job.folder / f"trial-{kind}-{fingerprint(images)}.json"


def _findings(
    job: Import,
    source: Source,
    images: Sequence[Prepared],
    names: Sequence[str],
    split: Split,
    duplicates: Sequence[Sequence[int]],
    measurement: Measurement,
) -> dict[str, Any]:
    """What the import's page shows. `images`: the teaching images first; `names`: in the order of the source."""
    teaching, evaluation = images[: len(split.teaching)], images[len(split.teaching) :]
    warnings = [
        "The same picture has different labels: " + ", ".join(names[index] for index in group) + "."
        for group in split.mixed_groups
    ]
    if split.moved:
        moved = ", ".join(names[index] for index in split.moved)
        warnings.append(f"Moved to the teaching pool, because a copy is there: {moved}.")
    return {
        "counts": {
            f"{label}, {side}": sum(image.label == label for image in some)
            for label in source.classes
            for side, some in (("teaching pool", teaching), ("evaluation set", evaluation))
        },
        "remedy": str(job.remedy),
        "samples": [
            {"row": image.row, "label": label}
            for label in source.classes
            for image in [image for image in teaching if image.label == label][:SAMPLES]
        ],
        "classes": source.class_counts,
        "notes": list(source.notes),
        "duplicates": [[names[index] for index in group] for group in duplicates],
        "warnings": warnings + measurement.shortcuts(measurement.best).warnings,
        "candidates": describe_candidates(measurement),
        "recommended": measurement.recommended,
        "all_read_a_shortcut": measurement.recommended is None,
    }


def describe_candidates(measurement: Measurement) -> list[dict[str, Any]]:
    """The kinds of features that the researcher can choose from, and those that are not installed."""
    rows = []
    for candidate in measurement.comparison.candidates:
        row: dict[str, Any] = {
            "name": candidate.name,
            "title": candidate.title,
            "description": EXTRACTORS[candidate.name].description,
            "missing": candidate.missing,
        }
        if candidate.accuracy:
            row["accuracy"] = {
                f"{part}_percent": _percent(getattr(candidate.accuracy, part))
                for part in ("mean", "low", "high")
            }
            readings = measurement.readings(candidate.name)
            row["reads"] = [describe_reading(reading) for reading in readings if reading.is_read]
            if candidate.accuracy.likeness:
                row["neighbours_percent"] = _percent(candidate.accuracy.likeness.neighbours.mean)
        rows.append(row)
    return rows


def describe_reading(reading: Reading) -> str:
    """Why features are taken to read a shortcut."""
    if reading.where_right is None or reading.where_misleading is None or not reading.is_known:
        return f"These may read {reading.title}, which nearly always gives the class away, so we cannot tell."
    return (
        f"These seem to read {reading.title}: the concept is right about {_percent(reading.where_right)} % of the "
        f"images where it points to their class, and about {_percent(reading.where_misleading)} % where it misleads."
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"
