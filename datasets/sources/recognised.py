"""The tables beside the images: which of them is the manifest, which holds features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..errors import BadFeatures, BadManifest, BadSource, WrongClasses, shown
from .classes import HOW_TO_LABEL
from .features import Features, is_features, read_csv, read_npz
from .files import SourceFile, is_table
from .manifest import ManifestRow, is_manifest, read_manifest
from .names import Names
from .tables import Header, header_of, quoted


@dataclass(frozen=True)
class Tables:
    """What the tables say; a CSV of another form is mentioned and ignored."""

    manifest: dict[str, ManifestRow] | None
    features: Features | None
    others: dict[str, Header]

    @property
    def notes(self) -> list[str]:
        return [
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
    manifests = [name for name, header in headers.items() if is_manifest(header)]
    features = [name for name in tables if _is_npz(name) or is_features(headers[name])]
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
