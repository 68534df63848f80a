"""Image files of data sets: where they are, in which sizes, and whether they are complete."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import FilesLost

if TYPE_CHECKING:
    from .models import Dataset

# The longest side in pixels. Every image has the smallest size, from which features are computed; older data sets may
# have no other.
SMALLEST = 480
LARGER = (720, 960)

# The last bytes of a complete JPEG. Browsers show the upper part of a truncated one without complaint.
END_OF_IMAGE = b"\xff\xd9"


def datasets_folder() -> Path:
    # Processes that compute features import this module without Django.
    from django.conf import settings

    return Path(settings.JEDI_DATA_DIR) / "datasets"


def image_folder(dataset_key: str, side: int = SMALLEST) -> Path:
    """The images of a data set in one size. Not every data set has the larger ones."""
    return datasets_folder() / dataset_key / ("images" if side == SMALLEST else f"images-{side}")


def image_file(dataset_key: str, key: str, side: int = SMALLEST) -> Path:
    """The smallest file of an image that has enough pixels for a side, or else the largest there is."""
    path = image_folder(dataset_key) / f"{key}.jpg"
    for smaller, larger in pairwise((SMALLEST, *LARGER)):
        if side > smaller and (finer := image_folder(dataset_key, larger) / path.name).is_file():
            path = finer
    return path


def complete_image(dataset_key: str, key: str, side: int = SMALLEST) -> Path:
    """The file of an image, or its smallest size if a larger one is damaged."""
    for wanted in (side, SMALLEST):
        path = image_file(dataset_key, key, wanted)
        if is_complete(path):
            return path
    raise FilesLost from OSError(f"{path} is missing or truncated.")


def count_damaged_images(dataset: Dataset) -> int:
    """How many images are missing or truncated in the size that every image has."""
    folder = image_folder(dataset.key)
    keys = dataset.examples.values_list("key", flat=True)
    return sum(not is_complete(folder / f"{key}.jpg") for key in keys)


def is_complete(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            file.seek(-len(END_OF_IMAGE), os.SEEK_END)
            return file.read() == END_OF_IMAGE
    except OSError:
        return False
