"""Where the files of data sets are: everything here follows from keys alone."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from django.conf import settings

from .image_sides import LARGER, SMALLEST


def folder_of_all() -> Path:
    """Where the folders of all data sets are."""
    return _folder_of_all(settings.JEDI_DATA_DIR)


# Paths are kept: an image is asked for with every task, and to put its path together takes longer than to read it.
@lru_cache
def _folder_of_all(data_folder: str | Path) -> Path:
    return Path(data_folder) / "datasets"


def image_folder(dataset: str, side: int = SMALLEST) -> Path:
    """The images of a data set with a longest side of so many pixels. Not every data set has the larger ones."""
    return _image_folder(folder_of_all(), dataset, side)


@lru_cache(maxsize=256)
def _image_folder(of_all: Path, dataset: str, side: int) -> Path:
    return of_all / dataset / ("images" if side == SMALLEST else f"images-{side}")


def image_file(dataset: str, key: str, side: int = SMALLEST) -> Path:
    """The smallest file of an image that has enough pixels for a side, or else the largest that there is."""
    path = image_folder(dataset) / f"{key}.jpg"
    for smaller, larger in pairwise((SMALLEST, *LARGER)):
        if side > smaller and (finer := image_folder(dataset, larger) / path.name).is_file():
            path = finer
    return path
