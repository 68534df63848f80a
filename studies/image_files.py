"""The image files of data sets, and whether they are whole."""

from __future__ import annotations

import os
from pathlib import Path

from .errors import FilesLost
from .image_places import image_file
from .image_sides import SMALLEST
from .models import Dataset

# The last bytes of a whole JPEG. Browsers show the upper half of a cut one without a word.
END_OF_IMAGE = b"\xff\xd9"


def whole_image(dataset: str, key: str, side: int = SMALLEST) -> Path:
    """The file of an image, by the keys of its data set and its own, or the smallest one if a larger one is damaged:
    nobody is asked about half a picture."""
    for wanted in (side, SMALLEST):
        path = image_file(dataset, key, wanted)
        if _is_whole(path):
            return path
    raise FilesLost from OSError(f"{path} is missing or cut.")


def damaged_images(dataset: Dataset) -> int:
    """How many images are missing or cut, in the size that every image has."""
    folder = dataset.image_folder()
    keys = dataset.examples.values_list("key", flat=True)
    return sum(not _is_whole(folder / f"{key}.jpg") for key in keys)


def _is_whole(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            file.seek(-len(END_OF_IMAGE), os.SEEK_END)
            return file.read() == END_OF_IMAGE
    except OSError:
        return False
