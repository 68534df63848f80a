"""What every extractor is: it describes one image at a time, then learns from the teaching pool.

Describing is the slow part, needs no other image and runs in any number of processes; a
description is small, so that ten thousand of them fit in memory. Fitting sees the descriptions
and labels of the teaching pool only, and what it returns turns any descriptions into features.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt
from PIL import Image

from teaching.engine.arrays import FloatArray, IntArray
from teaching.engine.classes import class_numbers
from teaching.engine.errors import BadPool

Float32Array: TypeAlias = npt.NDArray[np.float32]
ByteArray: TypeAlias = npt.NDArray[np.uint8]
# One description, of a shape and type that all images share; many have one more axis in front.
Description: TypeAlias = npt.NDArray[Any]
ImageLike: TypeAlias = Image.Image | ByteArray

# Called with the name of the stage and the finished share of it, from 0 to 1.
Progress: TypeAlias = Callable[[str, float], None]
# Asked now and then; true stops the work.
CancelCheck: TypeAlias = Callable[[], bool]

# The paper teaches with 110 features, and so does each of our extractors.
FEATURES = 110
# Below this an entry of a feature vector is what rounding left of nothing.
TINY = 1e-12


def no_progress(stage: str, share: float) -> None:
    """Report to nobody."""


def never() -> bool:
    """Nobody cancels."""
    return False


class ExtractorError(ValueError):
    """Anything that an extractor refuses."""


class BadDescriptions(ExtractorError):
    """Descriptions, features or labels that nothing can be learned from."""


class ExtractorMissing(ExtractorError):
    """An extractor that needs an extra which is not installed."""


class Cancelled(Exception):
    """Somebody stopped the work."""


class Describer(ABC):
    """Whatever describes one image by itself."""

    def missing(self) -> str | None:
        """What to install and how, if something is missing."""
        return None

    @abstractmethod
    def describe(self, image: ImageLike) -> Description:
        """The description of one image, of the same shape for all, on every machine and in every process."""


class Fitted(ABC):
    """What an extractor learned from the teaching pool: a frozen dataclass of arrays."""

    @abstractmethod
    def transform(self, descriptions: Description) -> FloatArray:
        """Features (n, d) of descriptions (n, …), about the mean of the teaching pool."""


class Extractor(Describer):
    """One way from images to features. Everything else learns about it from these attributes."""

    name: ClassVar[str]
    title: ClassVar[str]
    """A few words for the researcher who chooses."""
    description: ClassVar[str]
    """What the features are: on the import's page, in the command's help and in docs/datasets.md."""
    kind: ClassVar[str]
    """Extractors of one kind read the same descriptions: an image is described once for all."""
    fitted: ClassVar[type[Fitted]]
    reads_images: ClassVar[bool] = True
    """Whether it starts from images; if not, it takes the precomputed features that came with them."""

    @abstractmethod
    def fit(self, descriptions: Description, labels: npt.ArrayLike, seed: int = 0) -> Fitted:
        """Learn from the teaching pool: descriptions (n, …) and class numbers (n,)."""


def square_canvas(image: ImageLike, side: int) -> ByteArray:
    """The image in red, green and blue on a square canvas, (side, side, 3).

    Squeezing keeps all that the image shows and tells nothing of its size or shape: both come
    from the camera, not from the concept.
    """
    opened = image if isinstance(image, Image.Image) else Image.fromarray(image)
    small = opened.convert("RGB").resize((side, side), Image.Resampling.BILINEAR)
    return np.asarray(small, dtype=np.uint8)


def checked_labels(labels: npt.ArrayLike, n: int) -> IntArray:
    """Labels as class numbers 0 … k−1 (n,), every class with an example; −1 and +1 are two classes as well."""
    if len(np.unique(np.asarray(labels))) < 2:
        raise BadDescriptions("All examples are of one class; there is nothing to tell apart.")
    try:
        return class_numbers(labels, n)[0]
    except BadPool as error:
        raise BadDescriptions(str(error)) from error


def normalised(rows: FloatArray) -> FloatArray:
    """Every row at length one; a row of zeros stays as it is."""
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    return np.asarray(rows / np.where(lengths > TINY, lengths, 1.0))
