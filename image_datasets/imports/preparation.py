"""Decode and re-encode every image of a source into the import's folder.

A record beside each picture names the file that it was made from, so an import that starts again prepares only what is
missing or has changed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

from image_datasets.errors import BadImage
from image_datasets.extractors.base import CancelCheck, Cancelled, Progress
from image_datasets.pictures.encoding import Original, enlarged, prepare
from image_datasets.remedy import NO_REMEDY, Remedy
from image_datasets.sources import SourceImage
from image_datasets.sources.archives import ArchiveEntry
from jobs.processes import mapped
from studies.images import LARGER

# Starting a process costs as much as preparing this many images.
WORTH_A_PROCESS = 40
CHUNK = 4
# Raised by one whenever the content of a record changes.
RECORD_VERSION = 3


@dataclass(frozen=True)
class Prepared:
    """One usable image: where it came from, its properties, and its new file."""

    name: str
    label: str
    side: str | None
    """teaching or evaluation, if the source has a split"""
    row: int
    """its index in the source"""
    file: Path
    pixel_hash: str
    perceptual_hash: bytes
    original: Original
    larger: tuple[int, ...]
    """the longest sides of further files, see `larger_file`"""


@dataclass(frozen=True)
class _Item:
    """One image to prepare; it can be sent to another process."""

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
        """Differs when the file was repaired or replaced under the same name."""
        file = self.image.file
        if isinstance(file, ArchiveEntry):
            return f"{RECORD_VERSION} {file.size} {file.crc}"
        try:
            status = file.path.stat()
        except OSError:
            return ""
        return f"{RECORD_VERSION} {status.st_size} {status.st_mtime_ns}"

    def is_done(self) -> bool:
        """A record is written after its picture; it is valid only for the file that it was made from."""
        try:
            record = json.loads(self.record.read_text())
            return bool((record["name"], record["signature"]) == (self.image.name, self.signature))
        except (OSError, ValueError, KeyError):
            return False


def prepare_all(
    images: Sequence[SourceImage],
    folder: Path,
    *,
    remedy: Remedy = NO_REMEDY,
    progress: Progress,
    cancelled: CancelCheck,
) -> tuple[list[Prepared], list[BadImage]]:
    """Prepare all images on all cores. Returns the usable ones, and the problems of the others."""
    folder.mkdir(parents=True, exist_ok=True)
    items = [_Item(image, row, folder, remedy) for row, image in enumerate(images)]
    due = [item for item in items if not item.is_done()]
    with mapped(_prepare_one, due, workers=_workers(due), chunk=CHUNK) as work:
        for done, _ in enumerate(work, start=1):
            progress("images", done / len(due))
            if cancelled():
                raise Cancelled("The import was cancelled.")
    usable, problems = [], []
    for item in items:
        record = json.loads(item.record.read_text())
        if "problem" in record:
            problems.append(BadImage(**record["problem"]))
            continue
        # Records of earlier releases hold more than is needed now.
        original = {field.name: record["original"][field.name] for field in fields(Original)}
        usable.append(
            Prepared(
                name=item.image.name,
                label=item.image.label,
                side=item.image.side,
                row=item.row,
                file=item.picture,
                pixel_hash=record["pixel_hash"],
                perceptual_hash=bytes.fromhex(record["perceptual_hash"]),
                original=Original(**original),
                larger=tuple(record["larger"]),
            )
        )
    return usable, problems


def _prepare_one(item: _Item) -> None:
    record: dict[str, Any] = {"name": item.image.name, "signature": item.signature}
    for side in LARGER:
        # An earlier file of the same name may have been larger.
        larger_file(item.picture, side).unlink(missing_ok=True)
    try:
        prepared = prepare(item.image.read(), item.image.name, item.remedy)
    except BadImage as problem:
        record["problem"] = {
            "file": problem.file,
            "reason": problem.reason,
            "remedy": problem.remedy,
        }
    else:
        write_atomically(item.picture, prepared.content)
        _write_larger(item.picture, prepared.larger)
        record |= {
            "larger": list(prepared.larger),
            "pixel_hash": prepared.pixel_hash,
            "perceptual_hash": prepared.perceptual_hash.hex(),
            "original": asdict(prepared.original),
        }
    write_atomically(item.record, json.dumps(record).encode())


def larger_file(picture: Path, side: int) -> Path:
    return picture.with_name(f"{picture.stem}-{side}.jpg")


def _write_larger(picture: Path, larger: Mapping[int, bytes]) -> None:
    for side, content in larger.items():
        write_atomically(larger_file(picture, side), content)


def enlarge_all(pictures: Sequence[Path], sides: Sequence[int]) -> None:
    """Make the missing larger files: an image without them would reveal that its original was small."""
    due = [
        picture
        for picture in pictures
        if not all(larger_file(picture, side).exists() for side in sides)
    ]
    with mapped(partial(_enlarge, sides), due, workers=_workers(due), chunk=CHUNK) as work:
        for _ in work:
            pass


def _enlarge(sides: Sequence[int], picture: Path) -> None:
    due = [side for side in sides if not larger_file(picture, side).exists()]
    _write_larger(picture, enlarged(picture.read_bytes(), due))


def _workers(due: Sequence[object]) -> int:
    return min(os.cpu_count() or 1, len(due) // WORTH_A_PROCESS)


def write_atomically(path: Path, content: bytes) -> None:
    """Whoever sees the file sees all of it, even if two processes write it."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.draft")
    draft.write_bytes(content)
    draft.replace(path)
