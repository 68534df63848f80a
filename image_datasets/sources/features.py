"""Features that the researcher has computed already, checked against the images they belong to."""

from __future__ import annotations

import io
import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray

from ..errors import BadFeatures, BadImage, BadSource, listed, plural, shown
from .archives import ArchiveLimits, open_archive
from .entries import ArchiveEntry
from .files import DiskFile, SourceFile
from .tables import Header, Names, quoted, rows_of

MOST_BYTES = 512 * (1 << 20)
# Sparse features are mostly zeros and compress without end; their size is checked instead.
NPZ_LIMITS = ArchiveLimits(
    entries=100, total_bytes=MOST_BYTES, entry_ratio=math.inf, total_ratio=math.inf
)
MEMBERS = ("X", "y", "ids")
SAVE_NPZ = "Save them with np.savez(path, X=features, y=labels, ids=file_names)."


@dataclass(frozen=True)
class Features:
    """Row i of X belongs to the image names[i]."""

    X: NDArray[np.float64]
    """(n, d), finite"""
    names: tuple[str, ...]
    labels: tuple[str, ...]
    """as they were written: names of classes, or numbers"""


def is_features(header: Header) -> bool:
    return header.columns[:2] == ("id", "label") and len(header.columns) > 2


def is_named_features(name: str) -> bool:
    """Whether a table is meant to hold features, whatever its columns are called."""
    stem = PurePosixPath(name).stem.casefold()
    return any(word in stem for word in ("feature", "embedding"))


def wrong_header(name: str, header: Header) -> BadFeatures:
    return BadFeatures(
        file=name,
        reason=f"Its columns are {quoted(header.columns)}.",
        remedy="The first line must be id,label and a name for each feature, such as id,label,f1,f2,f3. "
        "If the table holds no features, rename or remove it.",
    )


def read_npz(file: SourceFile, images: Names, workdir: Path) -> Features:
    """Features from X (n, d), y (n,) and ids (n,)."""
    path = file.path if isinstance(file, DiskFile) else _copied(file, workdir / "features.npz")
    members = _members(file, path)
    X = _numbers(file, _array(file, members["X"]))
    return _checked(
        file,
        X,
        _texts(file, "ids", _array(file, members["ids"])),
        _texts(file, "y", _array(file, members["y"])),
        images,
    )


def read_csv(file: SourceFile, header: Header, images: Names) -> Features:
    """Features from id,label,f1..fd."""
    ids: list[str] = []
    labels: list[str] = []
    numbers = array("d")
    for line, cells in rows_of(file, header, BadFeatures):
        ids.append(cells[0])
        labels.append(cells[1])
        numbers.extend(_row(file, line, cells[2:]))
        if 8 * len(numbers) > MOST_BYTES:
            raise _too_large(file)
    X = np.frombuffer(numbers, dtype=np.float64).reshape(len(ids), len(header.columns) - 2)
    return _checked(file, X, ids, labels, images)


def _copied(file: SourceFile, target: Path) -> Path:
    """An .npz out of the zip, under our own name."""
    if file.size > MOST_BYTES:
        raise _too_large(file)
    try:
        with target.open("wb") as copy:
            for chunk in file.chunks():
                copy.write(chunk)
    except BadImage as error:
        raise _wrong(file, error.reason, error.remedy) from error
    return target


def _members(file: SourceFile, path: Path) -> dict[str, ArchiveEntry]:
    try:
        entries = {entry.name: entry for entry in open_archive(path, NPZ_LIMITS)}
    except BadSource as error:
        raise _wrong(file, f"It cannot be read as .npz. {error.reason}", SAVE_NPZ) from error
    missing = [name for name in MEMBERS if f"{name}.npy" not in entries]
    if missing:
        raise _wrong(file, f"The array {missing[0]} is missing.", SAVE_NPZ)
    return {name: entries[f"{name}.npy"] for name in MEMBERS}


def _array(file: SourceFile, member: ArchiveEntry) -> NDArray[np.generic]:
    """An array whose header fits its bytes: otherwise NumPy would reserve whatever it claims."""
    try:
        content = member.read(MOST_BYTES)
        shape, kind, start = _npy_header(content)
        if kind.hasobject:
            raise _wrong(
                file, f"{member.name} holds Python objects.", f"Use plain arrays. {SAVE_NPZ}"
            )
        if start + math.prod(shape) * kind.itemsize != len(content):
            raise _wrong(file, f"{member.name} is not as long as its header says.", SAVE_NPZ)
        loaded: NDArray[np.generic] = np.load(io.BytesIO(content), allow_pickle=False)
    except BadImage as error:
        raise _wrong(file, f"{member.name}: {error.reason}", SAVE_NPZ) from error
    except (ValueError, EOFError, OverflowError) as error:
        raise _wrong(file, f"{member.name} is not an array.", SAVE_NPZ) from error
    return loaded


def _npy_header(content: bytes) -> tuple[tuple[int, ...], np.dtype[np.generic], int]:
    stream = io.BytesIO(content)
    version = np.lib.format.read_magic(stream)
    read = (
        np.lib.format.read_array_header_1_0
        if version == (1, 0)
        else np.lib.format.read_array_header_2_0
    )
    shape, _, kind = read(stream)
    return shape, kind, stream.tell()


def _numbers(file: SourceFile, X: NDArray[np.generic]) -> NDArray[np.float64]:
    if X.ndim != 2 or X.dtype.kind not in "fiu" or 0 in X.shape:
        raise _wrong(
            file,
            f"X has shape {X.shape} and type {X.dtype}.",
            "It must be an array of numbers with the shape (n, d).",
        )
    if 8 * X.size > MOST_BYTES:
        raise _too_large(file)
    return X.astype(np.float64)


def _texts(file: SourceFile, name: str, values: NDArray[np.generic]) -> list[str]:
    if values.ndim != 1 or values.dtype.kind not in "USiufb":
        raise _wrong(
            file,
            f"{name} has shape {values.shape} and type {values.dtype}.",
            "It must hold one text or number for each row of X.",
        )
    try:
        return [_text(value) for value in values.tolist()]
    except UnicodeDecodeError as error:
        raise _wrong(file, f"{name} holds bytes that are not UTF-8.", SAVE_NPZ) from error


def _text(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8").strip()
    if isinstance(value, bool | float) and float(value).is_integer():
        return str(int(value))
    return str(value).strip()


def _row(file: SourceFile, line: int, cells: Sequence[str]) -> list[float]:
    try:
        return [float(cell) for cell in cells]
    except ValueError as error:
        raise _wrong(
            file,
            f"Line {line} has a cell that is not a number.",
            "Write numbers with a decimal point, and leave no cell empty.",
        ) from error


def _checked(
    file: SourceFile,
    X: NDArray[np.float64],
    ids: Sequence[str],
    labels: Sequence[str],
    images: Names,
) -> Features:
    if not len(X) == len(ids) == len(labels):
        raise _wrong(
            file,
            f"X has {len(X)} rows, y {len(labels)} and ids {len(ids)}.",
            "They must have the same length.",
        )
    bad = np.flatnonzero(~np.isfinite(X).all(axis=1))
    if len(bad):
        raise _wrong(
            file,
            f"Features are not finite in {plural(len(bad), 'row')}, such as that of {shown(ids[bad[0]])}.",
            "Compute them again, or leave those images out.",
        )
    return Features(X, _named(file, ids, images), tuple(labels))


def _named(file: SourceFile, ids: Sequence[str], images: Names) -> tuple[str, ...]:
    names = [images.found(written) for written in ids]
    lost = [shown(written) for written, name in zip(ids, names, strict=True) if name is None]
    if lost:
        raise _wrong(
            file,
            f"{plural(len(lost), 'id')} cannot be matched to exactly one image: {listed(lost)}.",
            "An id is the image's name relative to the folder, with or without its extension.",
        )
    found = tuple(name for name in names if name is not None)
    if len(set(found)) < len(found):
        twice = next(name for name in found if found.count(name) > 1)
        raise _wrong(file, f"{shown(twice)} has more than one row.", "Keep one row for each image.")
    return found


def _too_large(file: SourceFile) -> BadFeatures:
    return _wrong(
        file,
        f"The features take more than {MOST_BYTES:,} bytes.",
        "Reduce their number, for example by principal component analysis.",
    )


def _wrong(file: SourceFile, reason: str, remedy: str) -> BadFeatures:
    return BadFeatures(file=file.name, reason=reason, remedy=remedy)
