"""What every extractor is: it describes one image at a time, then learns from the teaching pool.

Describing is the slow part, needs no other image and runs in any number of processes; a
description is small, so that ten thousand of them fit in memory. Fitting sees the descriptions
and labels of the teaching pool only, and what it returns turns any descriptions into features.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt
from PIL import Image
from scipy import linalg

from jobs.processes import mapped
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


# An image in memory, or where to find one: a file or its content.
ImageSource: TypeAlias = ImageLike | Path | str | bytes

# Starting a process costs as much as describing this many images.
WORTH_A_PROCESS = 64
# Images handed to a process at a time: few enough for a lively progress bar.
CHUNK = 8


def describe_all(
    describer: Describer,
    sources: Sequence[ImageSource],
    *,
    processes: int | None = None,
    progress: Progress = no_progress,
    cancelled: CancelCheck = never,
) -> Description:
    """Descriptions (n, …) of n images in their order, the same for any number of processes.

    Images are read where they are described, so that only their descriptions are in memory.
    Raises `Cancelled` soon after `cancelled()` is true.
    """
    missing = describer.missing()
    if missing is not None:
        raise ExtractorMissing(missing)
    if not sources:
        raise ValueError("There are no images to describe.")
    workers = min(processes or os.cpu_count() or 1, len(sources) // WORTH_A_PROCESS)
    with mapped(partial(described, describer), sources, workers=workers, chunk=CHUNK) as work:
        return _gathered(work, len(sources), progress, cancelled)


def described(describer: Describer, source: ImageSource) -> Description:
    """The description of one image, wherever it is."""
    if isinstance(source, Image.Image | np.ndarray):
        return describer.describe(source)
    with Image.open(BytesIO(source) if isinstance(source, bytes) else source) as image:
        return describer.describe(image)


def _gathered(
    work: Iterable[Description], n: int, progress: Progress, cancelled: CancelCheck
) -> Description:
    gathered: Description | None = None
    for done, description in enumerate(work, start=1):
        if cancelled():
            raise Cancelled("Describing the images was cancelled.")
        if gathered is None:
            gathered = np.empty((n, *description.shape), dtype=description.dtype)
        gathered[done - 1] = description
        progress("describe", done / n)
    assert gathered is not None, "there is at least one image"  # noqa: S101
    return gathered


# A direction with less than this share of the largest variance is what rounding left.
NO_VARIANCE = 1e-10


def principal_components(centred: FloatArray, most: int) -> tuple[FloatArray, FloatArray]:
    """Up to `most` axes (c, k) of centred rows (n, c) and the variance along each, largest first.

    The sign of an axis, which is arbitrary, is the one that makes its largest entry positive.
    """
    n, c = centred.shape
    if c <= n:
        variances, axes = _largest(centred.T @ centred, most)
    else:
        # The same axes from the smaller of the two products.
        variances, coordinates = _largest(centred @ centred.T, most)
        axes = centred.T @ (coordinates / np.sqrt(np.maximum(variances, NO_VARIANCE)))
    peaks = axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])]
    return axes * np.where(peaks < 0, -1.0, 1.0), variances / n


def _largest(product: FloatArray, most: int) -> tuple[FloatArray, FloatArray]:
    size = len(product)
    values, vectors = linalg.eigh(product, subset_by_index=(max(0, size - most), size - 1))
    values, vectors = values[::-1], vectors[:, ::-1]
    # At least one axis stays, so that a pool of identical rows has features too.
    kept = max(1, int((values > NO_VARIANCE * max(values[0], NO_VARIANCE)).sum()))
    return np.maximum(values[:kept], 0.0), np.ascontiguousarray(vectors[:, :kept])
