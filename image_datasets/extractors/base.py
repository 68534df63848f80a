"""The interface of extractors: describe every image by itself, then fit to the teaching pool.

Describing is the slow part and runs in any number of processes; a description is small, so ten thousand of them fit in
memory. Fitting uses only the descriptions and labels of the teaching pool, and returns an object that transforms any
descriptions into features.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
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
# All descriptions of one kind have the same shape and dtype; several are stacked along a new first axis.
Description: TypeAlias = npt.NDArray[Any]
ImageLike: TypeAlias = Image.Image | ByteArray

# Called with the name of the stage and the finished share of it, from 0 to 1.
Progress: TypeAlias = Callable[[str, float], None]
# Called regularly; true cancels the work.
CancelCheck: TypeAlias = Callable[[], bool]

# The number of features in the paper, and of each of our extractors.
FEATURES = 110
# Entries of feature vectors below this are rounding errors.
TINY = 1e-12
# Principal components with less than this share of the largest variance are rounding errors.
NO_VARIANCE = 1e-10
# Starting a process costs as much as describing this many images.
WORTH_A_PROCESS = 64
# Images sent to a process at a time: few enough for a smooth progress bar.
CHUNK = 8


def no_progress(stage: str, share: float) -> None:
    """Ignore the progress."""


def never() -> bool:
    """Never cancel."""
    return False


class ExtractorError(ValueError):
    """The base class of errors of extractors."""


class BadDescriptions(ExtractorError):
    """Descriptions, features or labels that an extractor or a concept cannot be fitted to."""


class ExtractorMissing(ExtractorError):
    """The extractor needs an optional package that is not installed."""


class Cancelled(Exception):
    """The work was cancelled."""


class Describer(ABC):
    """Describes one image by itself."""

    def missing(self) -> str | None:
        """How to install what is missing; None if everything is installed."""
        return None

    @abstractmethod
    def describe(self, image: ImageLike) -> Description:
        """The description of one image; the same in every process."""


class Fitted(ABC):
    """A fitted extractor: a frozen dataclass of arrays."""

    @abstractmethod
    def transform(self, descriptions: Description) -> FloatArray:
        """Features (n, d) of descriptions (n, …), centred on the teaching pool."""


class Extractor(Describer):
    """A kind of features. These attributes are all that the rest of the system knows about it."""

    name: ClassVar[str]
    title: ClassVar[str]
    """shown where the researcher chooses"""
    description: ClassVar[str]
    """shown on the import's page and in docs/datasets.md"""
    kind: ClassVar[str]
    """Extractors of the same kind share descriptions: an image is described once for all of them."""
    fitted: ClassVar[type[Fitted]]
    reads_images: ClassVar[bool] = True
    """False for precomputed features"""

    @abstractmethod
    def fit(self, descriptions: Description, labels: npt.ArrayLike, seed: int = 0) -> Fitted:
        """Fit to the teaching pool: descriptions (n, …) and class numbers (n,)."""


def square_canvas(image: ImageLike, side: int) -> ByteArray:
    """The image in RGB, resized to a square, (side, side, 3).

    Size and aspect ratio come from the camera, not from the concept, so both are discarded.
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
    """Rows scaled to length one; a row of zeros is unchanged."""
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    return np.asarray(rows / np.where(lengths > TINY, lengths, 1.0))


# An image in memory, a path, or the content of a file.
ImageSource: TypeAlias = ImageLike | Path | str | bytes


def describe_all(
    describer: Describer,
    sources: Sequence[ImageSource],
    *,
    processes: int | None = None,
    progress: Progress = no_progress,
    cancelled: CancelCheck = never,
) -> Description:
    """Descriptions (n, …) of n images in their order, the same for any number of processes.

    Images are read in the process that describes them, so only descriptions are in memory. Raises `Cancelled` soon
    after `cancelled()` returns true.
    """
    missing = describer.missing()
    if missing is not None:
        raise ExtractorMissing(missing)
    if not sources:
        raise ValueError("There are no images to describe.")
    workers = min(processes or os.cpu_count() or 1, len(sources) // WORTH_A_PROCESS)
    with mapped(partial(described, describer), sources, workers=workers, chunk=CHUNK) as work:
        descriptions = None
        for number, description in enumerate(work):
            if cancelled():
                raise Cancelled("Describing the images was cancelled.")
            if descriptions is None:
                shape = (len(sources), *description.shape)
                descriptions = np.empty(shape, dtype=description.dtype)
            descriptions[number] = description
            progress("describe", (number + 1) / len(sources))
    assert descriptions is not None, "there is at least one image"  # noqa: S101
    return descriptions


def described(describer: Describer, source: ImageSource) -> Description:
    """The description of one image from any source."""
    if isinstance(source, Image.Image | np.ndarray):
        return describer.describe(source)
    with Image.open(BytesIO(source) if isinstance(source, bytes) else source) as image:
        return describer.describe(image)


def principal_components(centred: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
    """Up to `count` axes (c, k) of centred rows (n, c) and the variance along each, largest first.

    The sign of each axis makes its largest entry positive.
    """
    n, c = centred.shape
    if c <= n:
        variances, axes = _largest(centred.T @ centred, count)
    else:
        # The same axes from the Gram matrix, which is smaller.
        variances, coordinates = _largest(centred @ centred.T, count)
        axes = centred.T @ (coordinates / np.sqrt(np.maximum(variances, NO_VARIANCE)))
    peaks = axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])]
    return axes * np.where(peaks < 0, -1.0, 1.0), variances / n


def _largest(product: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
    size = len(product)
    values, vectors = linalg.eigh(product, subset_by_index=(max(0, size - count), size - 1))
    values, vectors = values[::-1], vectors[:, ::-1]
    # At least one axis, so that a pool of identical rows has features too.
    kept = max(1, int((values > NO_VARIANCE * max(values[0], NO_VARIANCE)).sum()))
    return np.maximum(values[:kept], 0.0), np.ascontiguousarray(vectors[:, :kept])
