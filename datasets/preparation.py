"""Every image of a source, decoded and encoded anew into the import's own folder.

An image that was prepared once is not prepared again: a killed worker's successor goes on where it stopped.
"""

from __future__ import annotations

import json
import multiprocessing
import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .errors import BadImage, Problems
from .extractors.base import CancelCheck, Cancelled, Progress
from .images import prepare
from .sources import SourceImage

# Starting a process costs as much as preparing this many images.
WORTH_A_PROCESS = 40
CHUNK = 4


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
    original: dict[str, Any]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Order:
    """One image to prepare, in a form that travels to another process."""

    image: SourceImage
    row: int
    folder: Path

    @property
    def picture(self) -> Path:
        return self.folder / f"{self.row:06}.jpg"

    @property
    def record(self) -> Path:
        return self.folder / f"{self.row:06}.json"


def prepare_all(
    images: Sequence[SourceImage],
    folder: Path,
    *,
    progress: Progress,
    cancelled: CancelCheck,
) -> tuple[list[Prepared], Problems]:
    """Prepares all images, on all cores; returns those that can be used, and the problems of the others."""
    folder.mkdir(parents=True, exist_ok=True)
    orders = [_Order(image, row, folder) for row, image in enumerate(images)]
    due = [order for order in orders if not _is_done(order)]
    _carry_out(due, progress, cancelled)
    return _collected(orders)


def _is_done(order: _Order) -> bool:
    """A record is written after its picture; it counts only for the image of that name."""
    try:
        return bool(json.loads(order.record.read_text())["name"] == order.image.name)
    except (OSError, ValueError, KeyError):
        return False


def _carry_out(orders: Sequence[_Order], progress: Progress, cancelled: CancelCheck) -> None:
    workers = min(os.cpu_count() or 1, len(orders) // WORTH_A_PROCESS)
    if workers < 2:
        for done, order in enumerate(orders, start=1):
            _prepare_one(order)
            _report(done, len(orders), progress, cancelled)
        return
    # A fresh interpreter: a fork would copy the locks of threads that it does not copy.
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=fresh) as pool:
        try:
            for done, _ in enumerate(pool.map(_prepare_one, orders, chunksize=CHUNK), start=1):
                _report(done, len(orders), progress, cancelled)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _report(done: int, total: int, progress: Progress, cancelled: CancelCheck) -> None:
    progress("images", done / total)
    if cancelled():
        raise Cancelled("The import was cancelled.")


def _prepare_one(order: _Order) -> None:
    record: dict[str, Any] = {"name": order.image.name}
    try:
        prepared = prepare(order.image.read(), order.image.name)
    except BadImage as problem:
        record["problem"] = {
            "file": problem.file,
            "reason": problem.reason,
            "remedy": problem.remedy,
        }
    else:
        order.picture.write_bytes(prepared.content)
        record |= {
            "pixel_hash": prepared.pixel_hash,
            "perceptual_hash": prepared.perceptual_hash.hex(),
            "original": asdict(prepared.original),
            "notes": prepared.notes,
        }
    draft = order.record.with_suffix(".draft")
    draft.write_text(json.dumps(record))
    draft.rename(order.record)


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
        original=record["original"],
        notes=tuple(record["notes"]),
    )
