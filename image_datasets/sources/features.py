"""Features that the researcher has computed, validated against the images they belong to."""

from __future__ import annotations

import io
import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from image_datasets.errors import BadFeatures, BadImage, BadSource, listed, plural, printable

from .archives import ArchiveEntry, ArchiveLimits, open_archive
from .files import DiskFile, SourceFile
from .tables import Header, ImageNames, read_rows

MAX_BYTES = 512 * (1 << 20)
# Sparse features are mostly zeros and compress without end; their size is checked instead.
NPZ_LIMITS = ArchiveLimits(
    entries=100, total_bytes=MAX_BYTES, entry_ratio=math.inf, total_ratio=math.inf
)
ARRAYS = ("X", "y", "ids")
SAVE_NPZ = "Save them with np.savez(path, X=features, y=labels, ids=file_names)."


@dataclass(frozen=True)
class Features:
    """Row i of X belongs to the image names[i]."""

    X: NDArray[np.float64]
    """(n, d), finite"""
    names: tuple[str, ...]
    labels: tuple[str, ...]
    """as they were written: names of classes, or numbers"""


def wrong_header(name: str, header: Header) -> BadFeatures:
    return BadFeatures(
        file=name,
        reason=f"Its columns are {header.quoted}.",
        remedy="The first line must be id,label and a name for each feature, such as id,label,f1,f2,f3. "
        "If the table holds no features, rename or remove it.",
    )


def read_npz(file: SourceFile, images: ImageNames, workdir: Path) -> Features:
    """Features from the arrays X (n, d), y (n,) and ids (n,)."""
    path = file.path if isinstance(file, DiskFile) else _extract(file, workdir / "features.npz")
    try:
        entries = {entry.name: entry for entry in open_archive(path, NPZ_LIMITS)}
    except BadSource as error:
        raise _problem(file, f"It cannot be read as .npz. {error.reason}", SAVE_NPZ) from error
    for name in ARRAYS:
        if f"{name}.npy" not in entries:
            raise _problem(file, f"The array {name} is missing.", SAVE_NPZ)
    X, y, ids = (_read_array(file, entries[f"{name}.npy"]) for name in ARRAYS)
    if X.ndim != 2 or X.dtype.kind not in "fiu" or 0 in X.shape:
        raise _problem(
            file,
            f"X has shape {X.shape} and type {X.dtype}.",
            "It must be an array of numbers with the shape (n, d).",
        )
    if 8 * X.size > MAX_BYTES:
        raise _too_large(file)
    return _checked(
        file, X.astype(np.float64), _as_texts(file, "ids", ids), _as_texts(file, "y", y), images
    )


def read_csv(file: SourceFile, header: Header, images: ImageNames) -> Features:
    """Features from id,label,f1..fd."""
    ids: list[str] = []
    labels: list[str] = []
    numbers = array("d")
    for line, cells in read_rows(file, header, BadFeatures):
        ids.append(cells[0])
        labels.append(cells[1])
        try:
            numbers.extend(float(cell) for cell in cells[2:])
        except ValueError as error:
            raise _problem(
                file,
                f"Line {line} has a cell that is not a number.",
                "Write numbers with a decimal point, and leave no cell empty.",
            ) from error
        if 8 * len(numbers) > MAX_BYTES:
            raise _too_large(file)
    X = np.frombuffer(numbers, dtype=np.float64).reshape(len(ids), len(header.columns) - 2)
    return _checked(file, X, ids, labels, images)


def _extract(file: SourceFile, target: Path) -> Path:
    """An .npz out of the zip, under our own name."""
    if file.size > MAX_BYTES:
        raise _too_large(file)
    try:
        with target.open("wb") as copy:
            for chunk in file.chunks():
                copy.write(chunk)
    except BadImage as error:
        raise _problem(file, error.reason, error.remedy) from error
    return target


def _read_array(file: SourceFile, member: ArchiveEntry) -> NDArray[np.generic]:
    """An array whose header fits its bytes: otherwise NumPy would allocate whatever the header claims."""
    try:
        content = member.read(MAX_BYTES)
        stream = io.BytesIO(content)
        if np.lib.format.read_magic(stream) == (1, 0):
            shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
        else:
            shape, _, dtype = np.lib.format.read_array_header_2_0(stream)
        if dtype.hasobject:
            raise _problem(
                file, f"{member.name} holds Python objects.", f"Use plain arrays. {SAVE_NPZ}"
            )
        if stream.tell() + math.prod(shape) * dtype.itemsize != len(content):
            raise _problem(file, f"{member.name} is not as long as its header says.", SAVE_NPZ)
        loaded: NDArray[np.generic] = np.load(io.BytesIO(content), allow_pickle=False)
    except BadImage as error:
        raise _problem(file, f"{member.name}: {error.reason}", SAVE_NPZ) from error
    except (ValueError, EOFError, OverflowError) as error:
        raise _problem(file, f"{member.name} is not an array.", SAVE_NPZ) from error
    return loaded


def _as_texts(file: SourceFile, name: str, values: NDArray[np.generic]) -> list[str]:
    if values.ndim != 1 or values.dtype.kind not in "USiufb":
        raise _problem(
            file,
            f"{name} has shape {values.shape} and type {values.dtype}.",
            "It must hold one text or number for each row of X.",
        )
    try:
        return [_as_text(value) for value in values.tolist()]
    except UnicodeDecodeError as error:
        raise _problem(file, f"{name} holds bytes that are not UTF-8.", SAVE_NPZ) from error


def _as_text(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8").strip()
    if isinstance(value, bool | float) and float(value).is_integer():
        return str(int(value))
    return str(value).strip()


def _checked(
    file: SourceFile,
    X: NDArray[np.float64],
    ids: Sequence[str],
    labels: Sequence[str],
    images: ImageNames,
) -> Features:
    if not len(X) == len(ids) == len(labels):
        raise _problem(
            file,
            f"X has {len(X)} rows, y {len(labels)} and ids {len(ids)}.",
            "They must have the same length.",
        )
    bad = np.flatnonzero(~np.isfinite(X).all(axis=1))
    if len(bad):
        raise _problem(
            file,
            f"Features are not finite in {plural(len(bad), 'row')}, such as that of {printable(ids[bad[0]])}.",
            "Compute them again, or leave those images out.",
        )
    unmatched, names = [], []
    for written in ids:
        name = images.find(written)
        if name is None:
            unmatched.append(printable(written))
        else:
            names.append(name)
    if unmatched:
        raise _problem(
            file,
            f"{plural(len(unmatched), 'id')} cannot be matched to exactly one image: {listed(unmatched)}.",
            "An id is the image's name relative to the folder, with or without its extension.",
        )
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise _problem(
                file, f"{printable(name)} has more than one row.", "Keep one row for each image."
            )
        seen.add(name)
    return Features(X, tuple(names), tuple(labels))


def _too_large(file: SourceFile) -> BadFeatures:
    return _problem(
        file,
        f"The features take more than {MAX_BYTES:,} bytes.",
        "Reduce their number, for example by principal component analysis.",
    )


def _problem(file: SourceFile, reason: str, remedy: str) -> BadFeatures:
    return BadFeatures(file=file.name, reason=reason, remedy=remedy)
