"""Recognising what a researcher uploads: folders, a zip, a manifest, precomputed features.

    folder or zip
    ├── cat/…  dog/…                 one folder for each class, or
    ├── manifest.csv                 file,label[,split]
    └── features.npz | features.csv  X, y, ids | id,label,f1..fd

`open_source` reads names and tables only. Each image is read when it is asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from image_datasets.imports.split import Side
from image_datasets.pictures.encoding import MOST_BYTES

from ..errors import BadFeatures, BadManifest, BadSource, WrongClasses, shown
from .classes import (
    FEWEST_CLASSES,
    HOW_TO_LABEL,
    agreed_numbers,
    check_classes,
    check_wanted,
    in_order,
)
from .features import (
    Features,
    is_features,
    is_named_features,
    read_csv,
    read_npz,
    wrong_header,
)
from .files import SourceFile, is_document, is_table, listed_files, unwrapped
from .manifest import (
    COLUMNS,
    ManifestRow,
    is_manifest,
    read_manifest,
    rows_from_folders,
    unused_columns,
)
from .tables import Header, Names, header_of, quoted

__all__ = ["Source", "SourceImage", "check_classes", "open_source"]


@dataclass(frozen=True)
class SourceImage:
    """One image of a source. It may be sent to another process and read there."""

    name: str
    """relative to the source, for messages only"""
    label: str
    side: Side | None
    file: SourceFile

    def read(self) -> bytes:
        """The bytes of the file, or `BadImage`."""
        return self.file.read(MOST_BYTES)


@dataclass(frozen=True)
class Source:
    """Everything that was found, in the order of the images' names."""

    images: tuple[SourceImage, ...]
    classes: tuple[str, ...]
    """by name, class 0 first. Numbers in precomputed features come in their own order."""
    found: dict[str, int]
    """every class that there is, also those that are not taught, with the number of its images"""
    features: NDArray[np.float64] | None
    """(n, d), row i belongs to images[i]; None unless they came with the images"""
    has_split: bool
    notes: tuple[str, ...]
    """what was ignored, in words for the researcher"""


def open_source(path: Path, workdir: Path, only: Sequence[str] = ()) -> Source:
    """Recognises a folder or a zip, or raises an `ImportProblem` that says what to do.

    only: the classes that are wanted; all if empty.
    workdir: an existing folder of our own. Precomputed features in a zip are unpacked into it
    under a name that we chose; nothing else is written anywhere.
    """
    files = unwrapped(listed_files(path))
    names = [name for name in files if not is_table(name) and not is_document(name)]
    tables = recognised_tables(files, Names(names), workdir)
    rows = _rows(path, names, tables)
    numbers = agreed_numbers(tables.features, rows) if tables.features else {}
    usable = _usable(rows, tables.features)
    found = Counter(rows[name].label for name in usable)
    chosen = [name for name in usable if not only or rows[name].label in only]
    counts = Counter(rows[name].label for name in chosen)
    with naming(found):
        check_wanted(only, found, path.name)
        check_classes(counts, path.name)
    return Source(
        images=tuple(
            SourceImage(name, rows[name].label, rows[name].side, files[name]) for name in chosen
        ),
        classes=in_order(counts, numbers),
        found=dict(found),
        features=_features_of(chosen, tables.features),
        has_split=all(rows[name].side for name in chosen),
        notes=(*tables.notes, *_notes(files, names, usable)),
    )


@contextmanager
def naming(found: Mapping[str, int]) -> Iterator[None]:
    """A problem with the classes knows which there are, so that somebody can choose among them."""
    try:
        yield
    except BadSource as problem:
        problem.classes = dict(found)
        raise


def _rows(path: Path, names: list[str], tables: Tables) -> dict[str, ManifestRow]:
    """Label and side of the images, from whichever source has them: the manifest, the folders, the features."""
    if tables.manifest is not None:
        return tables.manifest
    folders = rows_from_folders(names)
    if tables.features and not _are_classes(folders, tables.features):
        # The folders are not the classes, so the features alone name them.
        labelled = zip(tables.features.names, tables.features.labels, strict=True)
        return {name: ManifestRow(label, None) for name, label in labelled}
    if not folders:
        raise tables.nothing_labelled(path.name)
    return folders


def _are_classes(folders: dict[str, ManifestRow], features: Features) -> bool:
    """Two folders are classes, whatever the features say; more are if the features have as many."""
    count = len({row.label for row in folders.values()})
    return count == FEWEST_CLASSES or (count > 1 and count == len(set(features.labels)))


def _usable(rows: dict[str, ManifestRow], features: Features | None) -> list[str]:
    """The images that everything is known about, by name."""
    return sorted(rows if features is None else set(rows) & set(features.names))


def _features_of(names: list[str], features: Features | None) -> NDArray[np.float64] | None:
    if features is None:
        return None
    row_of = {name: row for row, name in enumerate(features.names)}
    return features.X[[row_of[name] for name in names]]


def _notes(files: dict[str, SourceFile], names: list[str], chosen: list[str]) -> list[str]:
    documents = [name for name in files if is_document(name)]
    left_out = sorted(set(names) - set(chosen))
    return [
        f"{what}: {len(some)}, such as {shown(some[0])}."
        for what, some in (
            ("Documents that were ignored", documents),
            ("Files left out because they have no label or no features", left_out),
        )
        if some
    ]


@dataclass(frozen=True)
class Tables:
    """What the tables say; a CSV of another form is mentioned and ignored."""

    manifest: dict[str, ManifestRow] | None
    features: Features | None
    unused: dict[str, tuple[str, ...]]
    """columns of the manifest that nobody reads, by its name"""
    others: dict[str, Header]

    @property
    def notes(self) -> list[str]:
        return [
            f"Columns of {shown(name)} that were not used: {quoted(columns)}."
            for name, columns in self.unused.items()
        ] + [
            f"{shown(name)} was ignored: its columns are {quoted(header.columns)}, "
            "not “file”, “label” or “id”, “label” and features."
            for name, header in self.others.items()
        ]

    def nothing_labelled(self, source: str) -> BadSource:
        """Why there are no classes: because a table is not what it should be, or without one."""
        for name, header in self.others.items():
            return BadManifest(
                file=name,
                reason=f"Its columns are {quoted(header.columns)}.",
                remedy="The first line must name the columns file,label or file,label,split.",
            )
        return WrongClasses(
            file=source, reason="There are no images in folders.", remedy=HOW_TO_LABEL
        )


def recognised_tables(files: Mapping[str, SourceFile], images: Names, workdir: Path) -> Tables:
    """Reads the one manifest and the one table of features that there may be."""
    tables = {name: file for name, file in files.items() if is_table(name)}
    headers = {
        name: header_of(file, BadManifest) for name, file in tables.items() if not _is_npz(name)
    }
    features = [name for name in tables if _is_npz(name) or is_features(headers[name])]
    manifests = [name for name in headers if is_manifest(headers[name]) and name not in features]
    for name, header in headers.items():
        if is_named_features(name) and name not in features and set(header.columns) - set(COLUMNS):
            raise wrong_header(name, header)
    _check_single(manifests, BadManifest)
    _check_single(features, BadFeatures)
    known = {*manifests, *features}
    return Tables(
        manifest=next(
            (read_manifest(tables[name], headers[name], images) for name in manifests), None
        ),
        features=next(
            (_features(tables[name], headers.get(name), images, workdir) for name in features), None
        ),
        unused={name: unused for name in manifests if (unused := unused_columns(headers[name]))},
        others={name: header for name, header in headers.items() if name not in known},
    )


def _is_npz(name: str) -> bool:
    return name.casefold().endswith(".npz")


def _features(file: SourceFile, header: Header | None, images: Names, workdir: Path) -> Features:
    return read_csv(file, header, images) if header else read_npz(file, images, workdir)


def _check_single(names: list[str], problem: type[BadSource]) -> None:
    if len(names) > 1:
        raise problem(
            file=names[1],
            reason=f"There is already a table of this kind: {shown(names[0])}.",
            remedy="Keep one of them in the folder.",
        )
