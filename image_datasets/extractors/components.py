"""Principal components: the directions in which the teaching pool varies most."""

import numpy as np
from scipy import linalg

from teaching.engine.arrays import FloatArray

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
