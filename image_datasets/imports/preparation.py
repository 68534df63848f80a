"""Every image of a source, decoded and re-encoded into the import's own folder.

An image that was prepared once is not prepared again: a killed worker's successor goes on where it stopped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from image_datasets.errors import BadImage, Problems
from image_datasets.extractors.base import CancelCheck, Cancelled, Progress
from image_datasets.pictures.encoding import Original, enlarged, prepare
from image_datasets.remedy import NO_REMEDY, Remedy
from image_datasets.sources import SourceImage
from image_datasets.sources.entries import ArchiveEntry
from jobs.processes import mapped

# Starting a process costs as much as preparing this many images.
WORTH_A_PROCESS = 40
CHUNK = 4
# Raised by one whenever a record says something else.
RECORD = 3


@dataclass(frozen=True)
class Prepared:
    """One image that can be used: where it came from, what it is, and where its new file lies."""

    name: str
    label: str
    side: str | None
    row: int
    """its place in the source"""
    file: Path
    pixel_hash: str
    perceptual_hash: bytes
    original: Original
    larger: Mapping[int, Path] = field(default_factory=dict)
    """further files by their longest side"""


@dataclass(frozen=True)
class _Order:
    """One image to prepare, in a form that travels to another process."""

    image: SourceImage
    row: int
    folder: Path
    remedy: Remedy

    @property
    def picture(self) -> Path:
        return self.folder / f"{self.row:06}.jpg"

    @property
    def record(self) -> Path:
        return self.folder / f"{self.row:06}.json"

    @property
    def signature(self) -> str:
        """Another one when the file was repaired or replaced under the same name."""
        file = self.image.file
        if isinstance(file, ArchiveEntry):
            return f"{RECORD} {file.size} {file.crc}"
        try:
            status = file.path.stat()
        except OSError:
            return ""
        return f"{RECORD} {status.st_size} {status.st_mtime_ns}"


def prepare_all(
    images: Sequence[SourceImage],
    folder: Path,
    *,
    remedy: Remedy = NO_REMEDY,
    progress: Progress,
    cancelled: CancelCheck,
) -> tuple[list[Prepared], Problems]:
    """Prepares all images, on all cores; returns those that can be used, and the problems of the others."""
    folder.mkdir(parents=True, exist_ok=True)
    orders = [_Order(image, row, folder, remedy) for row, image in enumerate(images)]
    due = [order for order in orders if not _is_done(order)]
    _carry_out(due, progress, cancelled)
    return _collected(orders)


def _is_done(order: _Order) -> bool:
    """A record is written after its picture; it counts only for the file that it was made from."""
    try:
        record = json.loads(order.record.read_text())
        return bool((record["name"], record["signature"]) == (order.image.name, order.signature))
    except (OSError, ValueError, KeyError):
        return False


def _carry_out(orders: Sequence[_Order], progress: Progress, cancelled: CancelCheck) -> None:
    workers = min(os.cpu_count() or 1, len(orders) // WORTH_A_PROCESS)
    with mapped(_prepare_one, orders, workers=workers, chunk=CHUNK) as work:
        for done, _ in enumerate(work, start=1):
            progress("images", done / len(orders))
            if cancelled():
                raise Cancelled("The import was cancelled.")


def _prepare_one(order: _Order) -> None:
    record: dict[str, Any] = {"name": order.image.name, "signature": order.signature}
    try:
        prepared = prepare(order.image.read(), order.image.name, order.remedy)
    except BadImage as problem:
        record["problem"] = {
            "file": problem.file,
            "reason": problem.reason,
            "remedy": problem.remedy,
        }
    else:
        write_whole(order.picture, prepared.content)
        _write_larger(order.picture, prepared.larger)
        record |= {
            "larger": list(prepared.larger),
            "pixel_hash": prepared.pixel_hash,
            "perceptual_hash": prepared.perceptual_hash.hex(),
            "original": asdict(prepared.original),
        }
    write_whole(order.record, json.dumps(record).encode())


def _write_larger(picture: Path, larger: Mapping[int, bytes]) -> None:
    for side, content in larger.items():
        write_whole(_in_side(picture, side), content)


def _in_side(picture: Path, side: int) -> Path:
    return picture.with_name(f"{picture.stem}-{side}.jpg")


def of_equal_sides(images: Sequence[Prepared]) -> list[Prepared]:
    """Every image in every side that one of them has: a missing one would tell that its original was small."""
    sides = sorted({side for image in images for side in image.larger})
    due = [image.file for image in images if len(image.larger) < len(sides)]
    workers = min(os.cpu_count() or 1, len(due) // WORTH_A_PROCESS)
    with mapped(partial(_enlarge, sides), due, workers=workers, chunk=CHUNK) as work:
        for _ in work:
            pass
    return [
        replace(image, larger={side: _in_side(image.file, side) for side in sides})
        for image in images
    ]


def _enlarge(sides: Sequence[int], picture: Path) -> None:
    due = [side for side in sides if not _in_side(picture, side).exists()]
    _write_larger(picture, enlarged(picture.read_bytes(), due))


def write_whole(path: Path, content: bytes) -> None:
    """A process that finds the file finds all of it, even if two processes write it."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.draft")
    draft.write_bytes(content)
    draft.replace(path)


def _collected(orders: Sequence[_Order]) -> tuple[list[Prepared], Problems]:
    usable, problems = [], Problems()
    for order in orders:
        record = json.loads(order.record.read_text())
        with problems.collecting():
            usable.append(_prepared(order, record))
    return usable, problems


def _prepared(order: _Order, record: dict[str, Any]) -> Prepared:
    if "problem" in record:
        raise BadImage(**record["problem"])
    return Prepared(
        name=order.image.name,
        label=order.image.label,
        side=order.image.side,
        row=order.row,
        file=order.picture,
        pixel_hash=record["pixel_hash"],
        perceptual_hash=bytes.fromhex(record["perceptual_hash"]),
        original=_original(record["original"]),
        larger={side: _in_side(order.picture, side) for side in record["larger"]},
    )


def _original(record: dict[str, Any]) -> Original:
    """Records of older imports hold more than is read."""
    return Original(**{field.name: record[field.name] for field in fields(Original)})
