"""All extractors by name, and fitted extractors on disk. A new extractor needs its own file and a row here.

A fitted extractor is stored as one file of plain arrays, without pickles.
"""

import dataclasses
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from .base import Extractor, ExtractorError, Fitted
from .deep import DeepExtractor
from .precomputed import PrecomputedExtractor
from .visual_words import ColourExtractor, PaperExtractor

EXTRACTORS: dict[str, Extractor] = {
    extractor.name: extractor
    for extractor in (PaperExtractor(), ColourExtractor(), DeepExtractor(), PrecomputedExtractor())
}
# Raised by one whenever the same file would give different features.
FORMAT = 1


class BadFittedFile(ExtractorError):
    """The file contains no fitted extractor that this version can read."""


def save(fitted: Fitted, path: str | Path) -> None:
    """Write a fitted extractor; the name ends in .npz."""
    arrays = {name: getattr(fitted, name) for name in _fields(type(fitted))}
    np.savez(path, allow_pickle=False, extractor=np.array(_name(fitted)), format=FORMAT, **arrays)


def load(path: str | Path) -> Fitted:
    """Read what `save` wrote."""
    try:
        # NumPy would leave a damaged file open.
        with Path(path).open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        version, name = int(arrays["format"]), str(arrays["extractor"])
        kind = EXTRACTORS[name].fitted
        fitted = kind(**{field: arrays[field] for field in _fields(kind)})
    except (OSError, KeyError, ValueError, TypeError, EOFError, BadZipFile) as error:
        raise BadFittedFile(
            f"{path} holds no fitted extractor ({error}); extract the features again."
        ) from error
    if version != FORMAT:
        raise BadFittedFile(f"{path} was written by another version; extract the features again.")
    return fitted


def _fields(kind: Any) -> list[str]:
    return [field.name for field in dataclasses.fields(kind)]


def _name(fitted: Fitted) -> str:
    return next(name for name, extractor in EXTRACTORS.items() if extractor.fitted is type(fitted))
