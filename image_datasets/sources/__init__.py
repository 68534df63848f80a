"""Recognising what a researcher uploads: folders, a zip, a manifest, precomputed features.

    folder or zip
    ├── cat/…  dog/…                 one folder for each class, or
    ├── manifest.csv                 file,label[,split]
    └── features.npz | features.csv  X, y, ids | id,label,f1..fd

`open_source` reads names and tables only. Each image is read when it is needed.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from image_datasets.errors import (
    BadFeatures,
    BadManifest,
    BadName,
    BadSource,
    TooFewImages,
    WrongClasses,
    listed,
    printable,
)
from image_datasets.imports.split import Side
from image_datasets.pictures.encoding import MAX_BYTES

from .features import Features, read_csv, read_npz, wrong_header
from .files import SourceFile, is_document, is_table, list_files, unwrap
from .tables import (
    MANIFEST_COLUMNS,
    Header,
    ImageNames,
    ManifestRow,
    read_header,
    read_manifest,
    rows_from_folders,
)

MIN_CLASSES, MAX_CLASSES = 2, 20
# Up to half of them are for the evaluation, and the rest is cross-validated in five folds.
MIN_PER_CLASS = 20
MAX_CLASS_NAME_LENGTH = 60
HOW_TO_LABEL = (
    "Make one folder for each class, or put a CSV with the columns file,label beside the images."
)


@dataclass(frozen=True)
class SourceImage:
    """One image of a source. It may be sent to another process and read there."""

    name: str
    """relative to the source, for messages only"""
    label: str
    side: Side | None
    file: SourceFile

    def read(self) -> bytes:
        """The content of the file, or `BadImage`."""
        return self.file.read(MAX_BYTES)


@dataclass(frozen=True)
class Source:
    """The content of a folder or a zip. Images are sorted by name."""

    images: tuple[SourceImage, ...]
    classes: tuple[str, ...]
    """sorted by name, class 0 first; classes that precomputed features number are sorted by number"""
    class_counts: dict[str, int]
    """the number of images of every class, including classes that are not taught"""
    features: NDArray[np.float64] | None
    """(n, d), row i belongs to images[i]; None without precomputed features"""
    has_split: bool
    notes: tuple[str, ...]
    """what was ignored, in sentences for the researcher"""


def open_source(path: Path, workdir: Path, only: Sequence[str] = ()) -> Source:
    """Recognise a folder or a zip, or raise an `ImportProblem` with a remedy.

    only: the classes to teach; all if empty.
    workdir: an existing folder of our own. Precomputed features in a zip are unpacked into it under a name that we
    chose; nothing else is written anywhere.
    """
    files = unwrap(list_files(path))
    names = [name for name in files if not is_table(name) and not is_document(name)]
    tables = _read_tables(files, ImageNames(names), workdir)
    rows = _label_images(path, names, tables)
    features = tables.features
    class_numbers = match_class_numbers(features, rows) if features else {}
    usable = sorted(set(rows) & set(features.names) if features else rows)
    class_counts = Counter(rows[name].label for name in usable)
    chosen = [name for name in usable if not only or rows[name].label in only]
    chosen_counts = Counter(rows[name].label for name in chosen)
    try:
        _check_chosen(only, class_counts, path.name)
        check_classes(chosen_counts, path.name)
    except BadSource as problem:
        # The researcher can choose among them on the import's page.
        problem.classes = dict(class_counts)
        raise
    notes = list(tables.notes)
    documents = [name for name in files if is_document(name)]
    left_out = sorted(set(names) - set(usable))
    for title, ignored in (
        ("Documents that were ignored", documents),
        ("Files left out because they have no label or no features", left_out),
    ):
        if ignored:
            notes.append(f"{title}: {len(ignored)}, such as {printable(ignored[0])}.")
    X = None
    if features:
        row_of = {name: row for row, name in enumerate(features.names)}
        X = features.X[[row_of[name] for name in chosen]]
    return Source(
        images=tuple(
            SourceImage(name, rows[name].label, rows[name].side, files[name]) for name in chosen
        ),
        classes=tuple(
            sorted(chosen_counts, key=lambda label: (class_numbers.get(label, 0.0), label))
        ),
        class_counts=dict(class_counts),
        features=X,
        has_split=all(rows[name].side for name in chosen),
        notes=tuple(notes),
    )


# Tables


@dataclass(frozen=True)
class Tables:
    """The manifest and the features of a source, if it has them."""

    manifest: dict[str, ManifestRow] | None
    features: Features | None
    others: dict[str, Header]
    """tables with other columns, which are ignored"""
    notes: tuple[str, ...]


def _read_tables(files: Mapping[str, SourceFile], images: ImageNames, workdir: Path) -> Tables:
    """Read the manifest and the table of features; there may be one of each."""
    tables = {name: file for name, file in files.items() if is_table(name)}
    headers = {
        name: read_header(file, BadManifest)
        for name, file in tables.items()
        if not name.casefold().endswith(".npz")
    }
    feature_names = [name for name in tables if name not in headers or headers[name].is_features]
    manifest_names = [
        name for name, header in headers.items() if header.is_manifest and name not in feature_names
    ]
    for name, header in headers.items():
        # A table that is called features but has other columns is a mistake, not something to ignore.
        is_called_features = any(
            word in Path(name).stem.casefold() for word in ("feature", "embedding")
        )
        if (
            is_called_features
            and name not in feature_names
            and set(header.columns) - set(MANIFEST_COLUMNS)
        ):
            raise wrong_header(name, header)
    for kind, problem in ((manifest_names, BadManifest), (feature_names, BadFeatures)):
        if len(kind) > 1:
            raise problem(
                file=kind[1],
                reason=f"There is already a table of this kind: {printable(kind[0])}.",
                remedy="Keep one of them in the folder.",
            )
    manifest = features = None
    notes = []
    for name in manifest_names:
        manifest = read_manifest(tables[name], headers[name], images)
        unused = tuple(c for c in headers[name].columns if c not in MANIFEST_COLUMNS)
        if unused:
            columns = Header(unused, "").quoted
            notes.append(f"Columns of {printable(name)} that were not used: {columns}.")
    for name in feature_names:
        if name in headers:
            features = read_csv(tables[name], headers[name], images)
        else:
            features = read_npz(tables[name], images, workdir)
    others = {
        name: header
        for name, header in headers.items()
        if name not in manifest_names and name not in feature_names
    }
    for name, header in others.items():
        notes.append(
            f"{printable(name)} was ignored: its columns are {header.quoted}, "
            "not “file”, “label” or “id”, “label” and features."
        )
    return Tables(manifest, features, others, tuple(notes))


def _label_images(path: Path, names: list[str], tables: Tables) -> dict[str, ManifestRow]:
    """Label and side of the images: from the manifest, or the folders, or the features, whichever has them."""
    if tables.manifest is not None:
        return tables.manifest
    folders = rows_from_folders(names)
    if tables.features:
        # Two folders are classes whatever the features say; more are classes if the features have as many.
        count = len({row.label for row in folders.values()})
        if count != MIN_CLASSES and (count < 2 or count != len(set(tables.features.labels))):
            labelled = zip(tables.features.names, tables.features.labels, strict=True)
            return {name: ManifestRow(label, None) for name, label in labelled}
    if folders:
        return folders
    for name, header in tables.others.items():
        raise BadManifest(
            file=name,
            reason=f"Its columns are {header.quoted}.",
            remedy="The first line must name the columns file,label or file,label,split.",
        )
    raise WrongClasses(
        file=path.name, reason="There are no images in folders.", remedy=HOW_TO_LABEL
    )


# Classes


def check_classes(counts: Mapping[str, int], source: str) -> None:
    """Refuse too few or too many classes, names that people cannot read, and classes with too few images.

    Call it again when bad images have been skipped.
    """
    if not MIN_CLASSES <= len(counts) <= MAX_CLASSES:
        raise WrongClasses(
            file=source,
            reason=f"There must be {MIN_CLASSES} to {MAX_CLASSES} classes; "
            f"found {len(counts)}: {_list_classes(counts)}.",
            remedy=HOW_TO_LABEL
            if len(counts) < MIN_CLASSES
            else "Say which of them to teach, or merge some of them.",
        )
    for label in sorted(counts):
        has_invisible = any(unicodedata.category(c) in {"Cc", "Cf", "Cs", "Co"} for c in label)
        if has_invisible or len(label) > MAX_CLASS_NAME_LENGTH:
            raise BadName(
                file=label,
                reason=f"People will read this class name; it has {len(label)} characters"
                f"{', some of them invisible' if has_invisible else ''}.",
                remedy=f"Use plain text of up to {MAX_CLASS_NAME_LENGTH} characters.",
            )
    small = [f"“{label}” has {n}" for label, n in sorted(counts.items()) if n < MIN_PER_CLASS]
    if small:
        raise TooFewImages(
            file=source,
            reason=f"Each class needs at least {MIN_PER_CLASS} images; {' and '.join(small)}.",
            remedy="Add images, or teach the other classes only; 100 of each are enough for a typical study.",
        )


def _check_chosen(chosen: Sequence[str], counts: Mapping[str, int], source: str) -> None:
    for name in chosen:
        if name not in counts:
            raise WrongClasses(
                file=source,
                reason=f"There is no class called “{printable(name)}”; found {_list_classes(counts)}.",
                remedy="Write the names of the classes as the folders or labels do.",
            )


def _list_classes(counts: Mapping[str, int]) -> str:
    return listed([f"“{printable(label)}” ({counts[label]})" for label in sorted(counts)]) or "none"


def match_class_numbers(features: Features, rows: Mapping[str, ManifestRow]) -> dict[str, float]:
    """The number by which the features call each class; empty if they use the names of the classes.

    Raises `BadFeatures` if the features contradict the folder or the manifest.
    """
    pairs = [
        (name, label, rows[name].label)
        for name, label in zip(features.names, features.labels, strict=True)
        if name in rows
    ]
    numbers: dict[str, float] = {}
    for _, label, _ in pairs:
        try:
            numbers[label] = float(label)
        except ValueError:
            continue
    labels, classes = {label for _, label, _ in pairs}, {given for _, _, given in pairs}
    if labels <= classes or len(numbers) < len(labels):
        # The features use the names of the classes, which may look like numbers.
        meaning = {given: given for given in classes}
    else:
        # The first image of each number decides, and all others must agree.
        meaning = {label: given for _, label, given in reversed(pairs)}
    for name, label, given in pairs:
        if meaning.get(label) != given:
            raise BadFeatures(
                file=name,
                reason=f"The features say “{printable(label)}”, the folder or manifest “{printable(given)}”.",
                remedy="Correct one of them; the same image cannot be of two classes.",
            )
    if len(set(meaning.values())) < len(meaning):
        raise BadFeatures(
            file="features",
            reason=f"Several numbers stand for one class: {', '.join(sorted(meaning))}.",
            remedy="Use one number or one name for each class.",
        )
    return {given: numbers[label] for label, given in meaning.items() if label in numbers}
