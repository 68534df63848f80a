"""The label of each image and, optionally, its side of the split: from a manifest (a CSV) or from the folders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from image_datasets.imports.split import Side

from ..errors import BadManifest, shown
from .files import SourceFile
from .tables import MANIFEST_BYTES, Header, Names, rows_of

SIDES: dict[str, Side] = {
    **dict.fromkeys(("teaching", "teach", "train", "training", "learn", "pool"), "teaching"),
    **dict.fromkeys(
        ("evaluation", "eval", "test", "testing", "val", "valid", "validation"), "evaluation"
    ),
}


@dataclass(frozen=True)
class ManifestRow:
    """What a manifest says about one image."""

    label: str
    side: Side | None


COLUMNS = ("file", "label", "split")


def is_manifest(header: Header) -> bool:
    return {"file", "label"} <= set(header.columns)


def unused_columns(header: Header) -> tuple[str, ...]:
    return tuple(column for column in header.columns if column not in COLUMNS)


def read_manifest(file: SourceFile, header: Header, images: Names) -> dict[str, ManifestRow]:
    """What the manifest says, by the names of the images; every line must name an image."""
    _check_header(file, header)
    rows: dict[str, ManifestRow] = {}
    for line, cells in rows_of(file, header, BadManifest):
        row = dict(zip(header.columns, cells, strict=True))
        name = images.found(row["file"])
        if name is None:
            raise _wrong(
                file,
                f"Line {line} names {shown(row['file'])}, which is not there.",
                "Write names relative to the folder that the manifest is in.",
            )
        if name in rows:
            raise _wrong(
                file, f"Line {line} names {shown(name)} for a second time.", "Keep one line for it."
            )
        rows[name] = ManifestRow(
            _label(file, line, row["label"]), _side(file, line, row.get("split"))
        )
    _check_sides(file, rows)
    return rows


def _check_header(file: SourceFile, header: Header) -> None:
    if len(set(header.columns)) < len(header.columns):
        raise _wrong(file, "Two columns have the same name.", "Rename or remove one of them.")
    if file.size > MANIFEST_BYTES:
        raise _wrong(
            file,
            f"The manifest has {file.size:,} bytes; at most {MANIFEST_BYTES:,} are read.",
            "Keep the columns file, label and split only.",
        )


def _label(file: SourceFile, line: int, label: str) -> str:
    if not label:
        raise _wrong(file, f"Line {line} has no label.", "Fill it in, or remove the line.")
    return label


def _side(file: SourceFile, line: int, word: str | None) -> Side | None:
    if not word:
        return None
    if word.casefold() not in SIDES:
        raise _wrong(
            file,
            f"Line {line} has the split “{shown(word)}”.",
            "Write teaching or evaluation (train and test are understood too).",
        )
    return SIDES[word.casefold()]


def _check_sides(file: SourceFile, rows: dict[str, ManifestRow]) -> None:
    without = [name for name, row in rows.items() if row.side is None]
    if without and len(without) < len(rows):
        raise _wrong(
            file,
            f"{len(without)} of {len(rows)} lines have no split, such as {shown(without[0])}.",
            "Fill in all of them, or leave the column out to have the split drawn.",
        )


def _wrong(file: SourceFile, reason: str, remedy: str) -> BadManifest:
    return BadManifest(file=file.name, reason=reason, remedy=remedy)


def rows_from_folders(names: Sequence[str]) -> dict[str, ManifestRow]:
    """Label and side of every image that lies in a folder: one for each class, or one for each side with the classes
    inside. Folders inside a class are part of it."""
    parts = {name: name.split("/") for name in names if "/" in name}
    tops = {part[0].casefold() for part in parts.values()}
    # Two folders called train and test are no classes, and nobody should learn to tell them apart.
    if tops and tops <= set(SIDES):
        return {
            name: ManifestRow(part[1], SIDES[part[0].casefold()])
            for name, part in parts.items()
            if len(part) > 2
        }
    return {name: ManifestRow(part[0], None) for name, part in parts.items()}
