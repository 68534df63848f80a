"""What is found out about a source before it becomes a data set: images, duplicates, split, features."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from image_datasets.errors import BadFeatures, BadSource, Problems
from image_datasets.extractors.registry import EXTRACTORS
from image_datasets.models import Import
from image_datasets.pictures.duplicates import Groups, find_duplicates
from image_datasets.remedy import NO_REMEDY, Remedy
from image_datasets.sources import Source, check_classes, open_source

from .measurement import Measured, measure
from .preparation import Prepared, prepare_all
from .split import Policy, Split, split_as_given, split_by_seed
from .watch import Watch, parts

# The share of the whole import that has passed when each step ends.
READ, PREPARED, MEASURED = 0.02, 0.35, 0.92


@dataclass(frozen=True)
class Examined:
    """Everything that a data set can be made from."""

    source: Source
    images: list[Prepared]
    problems: Problems
    duplicates: Groups
    split: Split
    remedy: Remedy
    measured: Measured
    """under the remedy"""
    before: Measured | None
    """without it; None if there is none"""

    @property
    def teaching(self) -> list[Prepared]:
        return [self.images[place] for place in self.split.teaching]

    @property
    def evaluation(self) -> list[Prepared]:
        return [self.images[place] for place in self.split.evaluation]

    def label(self, image: Prepared) -> int:
        """The number of its class."""
        return self.source.classes.index(image.label)

    @property
    def labels(self) -> list[int]:
        """Of the teaching images."""
        return [self.label(image) for image in self.teaching]


def examine(job: Import, watch: Watch) -> Examined:
    watch.begin("Reading the source", READ)
    job.folder.mkdir(parents=True, exist_ok=True)
    source = opened_source(job)
    check_choice(job.extractor, source)
    for note in source.notes:
        watch.note(note)
    remedies = [NO_REMEDY, job.remedy] if job.remedy else [NO_REMEDY]
    versions, problems = prepared_versions(job, source, remedies, watch)
    # Copies are recognised, and sides drawn, by the images as they came: whatever is tried, the same ones are taught.
    plain = versions[0]
    check_classes(Counter(image.label for image in plain), job.file_name or job.source)
    duplicates = find_duplicates(
        [image.pixel_hash for image in plain], [image.perceptual_hash for image in plain]
    )
    watch.note(f"{len(duplicates)} groups of duplicates")
    split = split_images(job, plain, source.has_split, duplicates)
    labels = [source.classes.index(plain[place].label) for place in split.teaching]
    measured = []
    for images, remedy, part in zip(
        versions, remedies, parts(PREPARED, MEASURED, len(remedies)), strict=True
    ):
        if job.remedy:
            watch.note(f"Images {remedy}")
        teaching = [images[place] for place in split.teaching]
        measured.append(measure(job, source, teaching, labels, watch, part))
    before = measured[0] if job.remedy else None
    return Examined(
        source, versions[-1], problems, duplicates, split, job.remedy, measured[-1], before
    )


def prepared_versions(
    job: Import, source: Source, remedies: Sequence[Remedy], watch: Watch
) -> tuple[list[list[Prepared]], Problems]:
    """The images under each remedy; only those that can be used under all of them."""
    versions, problems = [], Problems()
    for remedy, part in zip(remedies, parts(READ, PREPARED, len(remedies)), strict=True):
        watch.begin(f"Preparing {len(source.images)} images", part.stop)
        images, bad = prepare_all(
            source.images,
            job.pictures(remedy),
            remedy=remedy,
            progress=watch.progress,
            cancelled=watch.cancelled,
        )
        versions.append(images)
        problems.add(bad)
    job.report(findings=job.findings | {"bad_images": [str(bad) for bad in problems.found]})
    problems.check(skip_bad=job.skips_bad_images)
    usable = set.intersection(*({image.row for image in images} for images in versions))
    return [[image for image in images if image.row in usable] for images in versions], problems


def opened_source(job: Import) -> Source:
    """An upload is stored under a name that we chose; a problem with it names the researcher's file."""
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
