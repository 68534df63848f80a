"""Array types of the engine, and sums and distances that several modules need."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.intp]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
# A selection of the examples of a pool.
Examples: TypeAlias = IntArray | slice
SparseArray: TypeAlias = "sparse.csr_array[np.float64, tuple[int, int]]"


def sums_by(group: npt.NDArray[np.integer], values: FloatArray, count: int) -> FloatArray:
    """The sums of values (n,) or (m, n) over each group 0 … count−1, shape (count,) or (m, count)."""
    if values.ndim == 2:
        return np.stack([sums_by(group, row, count) for row in values])
    return np.asarray(np.bincount(group, weights=values, minlength=count), dtype=np.float64)


def squared_distances(a: FloatArray, b: FloatArray) -> FloatArray:
    """‖aᵢ − bⱼ‖², shape (n, m), for rows (n, d) and (m, d)."""
    squares = np.vecdot(a, a)[:, None] + np.vecdot(b, b) - 2 * a @ b.T
    return np.asarray(np.maximum(squares, 0.0))
