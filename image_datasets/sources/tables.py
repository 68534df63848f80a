"""CSV files as people make them: from a spreadsheet, with commas or semicolons, with or without BOM.

A manifest is such a file: the label of each image and, optionally, its side of the split. Tables name images relative
to the folder, with or without the extension.
"""

from __future__ import annotations

import csv
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from image_datasets.errors import BadImage, BadManifest, BadSource, printable
from image_datasets.imports.split import Side

from .files import SourceFile

MAX_MANIFEST_BYTES = 64 * (1 << 20)
MAX_LINE_BYTES = 1 << 20
MANIFEST_COLUMNS = ("file", "label", "split")
SIDES: dict[str, Side] = {
    **dict.fromkeys(("teaching", "teach", "train", "training", "learn", "pool"), "teaching"),
    **dict.fromkeys(
        ("evaluation", "eval", "test", "testing", "val", "valid", "validation"), "evaluation"
    ),
}


class ImageNames:
    """The images of a source by every name that a table may use for them."""

    def __init__(self, names: Iterable[str]) -> None:
        self._exact = set(names)
        self._by_stem: dict[str, list[str]] = defaultdict(list)
        for name in self._exact:
            self._by_stem[str(PurePosixPath(name).with_suffix(""))].append(name)

    def find(self, written: str) -> str | None:
        """The image that is meant, if exactly one is. The disk is not accessed."""
        # Tables are written on Windows too.
        name = unicodedata.normalize("NFC", written.strip()).replace("\\", "/").removeprefix("./")
        if name in self._exact:
            return name
        candidates = self._by_stem.get(name, [])
        return candidates[0] if len(candidates) == 1 else None


@dataclass(frozen=True)
class Header:
    """The first line of a CSV: its column names in lower case, and the delimiter."""

    columns: tuple[str, ...]
    delimiter: str

    @property
    def quoted(self) -> str:
        """The column names, for a message."""
        return ", ".join(f"“{printable(column)}”" for column in self.columns[:12]) or "nothing"

    @property
    def is_manifest(self) -> bool:
        return {"file", "label"} <= set(self.columns)

    @property
    def is_features(self) -> bool:
        return self.columns[:2] == ("id", "label") and len(self.columns) > 2


def read_header(file: SourceFile, problem: type[BadSource]) -> Header:
    """Read no more than the first line."""
    line = next(_lines(file, problem), "")
    delimiter = ";" if line.count(";") > line.count(",") else ","
    try:
        cells = next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error as error:
        raise _unreadable(file, 1, problem) from error
    return Header(tuple(cell.strip().casefold() for cell in cells), delimiter)


def read_rows(
    file: SourceFile, header: Header, problem: type[BadSource]
) -> Iterator[tuple[int, list[str]]]:
    """Line numbers and cells below the header; empty lines are skipped."""
    reader = csv.reader(_lines(file, problem), delimiter=header.delimiter)
    while True:
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise _unreadable(file, reader.line_num, problem) from error
        if row is None:
            return
        cells = [cell.strip() for cell in row]
        if reader.line_num == 1 or not any(cells):
            continue
        if len(cells) != len(header.columns):
            raise problem(
                file=file.name,
                reason=f"Line {reader.line_num} has {len(cells)} cells, the header has {len(header.columns)}.",
                remedy="Put names that contain a comma or a semicolon in double quotes.",
            )
        yield reader.line_num, cells


def _lines(file: SourceFile, problem: type[BadSource]) -> Iterator[str]:
    """Decoded line by line, so that a large table is never in memory as text."""
    number = 0
    try:
        for number, line in enumerate(_raw_lines(file, problem), start=1):
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        raise problem(
            file=file.name,
            reason=f"Line {number} is not UTF-8 text.",
            remedy="Save the table as “CSV UTF-8”.",
        ) from error
    except BadImage as error:
        raise problem(file=file.name, reason=error.reason, remedy=error.remedy) from error


def _raw_lines(file: SourceFile, problem: type[BadSource]) -> Iterator[bytes]:
    rest = b""
    for chunk in file.chunks():
        *lines, rest = (rest + chunk).split(b"\n")
        yield from (line.rstrip(b"\r") + b"\n" for line in lines)
        if len(rest) > MAX_LINE_BYTES:
            raise problem(
                file=file.name,
                reason=f"A line has more than {MAX_LINE_BYTES:,} bytes.",
                remedy="Save the table again with one image in each line.",
            )
    if rest:
        yield rest


def _unreadable(file: SourceFile, line: int, problem: type[BadSource]) -> BadSource:
    return problem(
        file=file.name,
        reason=f"Line {line} cannot be read as CSV.",
        remedy="Save the table again as “CSV UTF-8”.",
    )


@dataclass(frozen=True)
class ManifestRow:
    """What a manifest, or the folder of an image, says about the image."""

    label: str
    side: Side | None


def read_manifest(file: SourceFile, header: Header, images: ImageNames) -> dict[str, ManifestRow]:
    """The rows by image; every line must name an image, and all or none must have a side."""

    def problem(reason: str, remedy: str) -> BadManifest:
        return BadManifest(file=file.name, reason=reason, remedy=remedy)

    if len(set(header.columns)) < len(header.columns):
        raise problem("Two columns have the same name.", "Rename or remove one of them.")
    if file.size > MAX_MANIFEST_BYTES:
        raise problem(
            f"The manifest has {file.size:,} bytes; at most {MAX_MANIFEST_BYTES:,} are read.",
            "Keep the columns file, label and split only.",
        )
    rows: dict[str, ManifestRow] = {}
    for line, cells in read_rows(file, header, BadManifest):
        row = dict(zip(header.columns, cells, strict=True))
        name, split = images.find(row["file"]), row.get("split", "")
        if name is None:
            raise problem(
                f"Line {line} names {printable(row['file'])}, which is not there.",
                "Write names relative to the folder that the manifest is in.",
            )
        if name in rows:
            raise problem(
                f"Line {line} names {printable(name)} for a second time.", "Keep one line for it."
            )
        if not row["label"]:
            raise problem(f"Line {line} has no label.", "Fill it in, or remove the line.")
        if split and split.casefold() not in SIDES:
            raise problem(
                f"Line {line} has the split “{printable(split)}”.",
                "Write teaching or evaluation (train and test are understood too).",
            )
        rows[name] = ManifestRow(row["label"], SIDES.get(split.casefold()))
    without = [name for name, row in rows.items() if row.side is None]
    if without and len(without) < len(rows):
        raise problem(
            f"{len(without)} of {len(rows)} lines have no split, such as {printable(without[0])}.",
            "Fill in all of them, or leave the column out to have the split drawn.",
        )
    return rows


def rows_from_folders(names: Sequence[str]) -> dict[str, ManifestRow]:
    """Label and side of every image in a folder: one for each class, or one for each side with the classes inside.

    Folders inside a class belong to that class.
    """
    parts = {name: name.split("/") for name in names if "/" in name}
    tops = {part[0].casefold() for part in parts.values()}
    # Two folders called train and test are not classes.
    if tops and tops <= set(SIDES):
        return {
            name: ManifestRow(part[1], SIDES[part[0].casefold()])
            for name, part in parts.items()
            if len(part) > 2
        }
    return {name: ManifestRow(part[0], None) for name, part in parts.items()}
