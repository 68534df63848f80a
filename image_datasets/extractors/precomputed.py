"""Precomputed features from a file beside the images, scaled for teaching."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from teaching.engine.arrays import FloatArray

from .base import (
    BadDescriptions,
    Description,
    Extractor,
    Fitted,
    ImageLike,
    checked_labels,
    principal_components,
)

# More columns are projected onto this many principal components: the time to fit a target concept grows with the
# square of their number, and a pool of thousands does not benefit from more.
MAX_COLUMNS = 256


@dataclass(frozen=True)
class FittedPrecomputed(Fitted):
    """The mean and scale of each column, and the principal components of wide rows."""

    mean: FloatArray
    """(b,)"""
    scale: FloatArray
    """(b,)"""
    axes: FloatArray
    """(b, d), or (0, 0) without a projection"""

    def transform(self, descriptions: Description) -> FloatArray:
        """Features (n, d) of precomputed rows (n, b)."""
        scaled = (checked_rows(descriptions) - self.mean) * self.scale
        return np.asarray(scaled @ self.axes) if self.axes.size else scaled


class PrecomputedExtractor(Extractor):
    """Standardised columns, scaled so that a typical row has length one."""

    # Stored with data sets and in their files.
    name = "brought"
    title = "Your precomputed features"
    description = "your own, from a file beside the images"
    kind = "brought"
    fitted = FittedPrecomputed
    reads_images = False

    def describe(self, image: ImageLike) -> Description:
        """Never called."""
        raise BadDescriptions("Precomputed features come in a file; they are not read from images.")

    def fit(
        self, descriptions: Description, labels: npt.ArrayLike, seed: int = 0
    ) -> FittedPrecomputed:
        """Mean and standard deviation of the teaching pool; constant columns become 0."""
        rows = checked_rows(descriptions)
        checked_labels(labels, len(rows))
        mean, deviation = rows.mean(axis=0), rows.std(axis=0)
        varies = deviation > 1e-12 * np.maximum(np.max(np.abs(rows), axis=0), np.finfo(float).tiny)
        scale = np.where(varies, 1 / np.where(varies, deviation, 1.0), 0.0)
        scale /= math.sqrt(max(1, int(varies.sum())))
        if rows.shape[1] <= MAX_COLUMNS:
            return FittedPrecomputed(mean, scale, np.empty((0, 0)))
        return FittedPrecomputed(
            mean, scale, principal_components((rows - mean) * scale, MAX_COLUMNS)[0]
        )


def checked_rows(descriptions: Description) -> FloatArray:
    """Precomputed rows (n, b) of finite numbers."""
    try:
        rows = np.asarray(descriptions, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise BadDescriptions(
            "Precomputed features are a matrix of numbers with one row per image."
        ) from error
    if rows.ndim != 2 or rows.shape[1] < 1:
        raise BadDescriptions(
            f"Precomputed features have the shape {rows.shape}; they need one row per image."
        )
    # All formulas sum squares, so the squares must be finite.
    with np.errstate(over="ignore", invalid="ignore"):
        finite = np.isfinite(np.einsum("ij,ij->i", rows, rows))
    if not finite.all():
        raise BadDescriptions(
            f"Row {int(np.argmin(finite)) + 1} of the precomputed features has numbers that are "
            "missing, infinite or too large; replace or scale them."
        )
    return rows
