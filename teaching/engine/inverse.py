"""One dense inverse per pool, shared by every participant and every step.

H = (L + d dᵀ/Σd)⁻¹, with L the graph Laplacian and d the degrees, block by block where the
graph has several components. For any z that sums to 0 on each component, Hz solves L(Hz) = z:
H does what the pseudo-inverse does. It is preferred to the pseudo-inverse because the latter
centres each solution by its plain mean, through which one weakly tied example enters every
entry with the reciprocal of its tiny weight; the mean weighted by degree keeps it out.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from .arrays import FloatArray, IntArray, SparseArray, sums_by
from .errors import BadAffinity

# Columns that are filled or mirrored at once, to keep temporary arrays small beside H.
COLUMNS = 256
# A pivot below this share of its diagonal entry is what rounding left of a difference.
LOST_PIVOT = 1e-13


@dataclass(frozen=True)
class SharedInverse:
    """`matrix` is H (n, n); `diagonal` its H_kk (n,); `label_sums` is HY (n, k−1).

    Y are the `label_contrasts` of the pool.
    """

    matrix: FloatArray
    diagonal: FloatArray
    label_sums: FloatArray


def shared_inverse(
    affinity: SparseArray,
    degrees: FloatArray,
    components: IntArray,
    label_contrasts: FloatArray,
) -> SharedInverse:
    """Compute H for an affinity (n, n) with degrees and components (n,), and contrasts (n, k−1)."""
    matrix = _grounded_laplacian(affinity, degrees, components)
    diagonal = matrix.diagonal().copy()
    factor, failed = lapack.dpotrf(matrix, lower=1, clean=0, overwrite_a=1)
    if failed or (factor.diagonal() ** 2 < LOST_PIVOT * diagonal).any():
        raise BadAffinity(
            "The affinity joins groups of examples by weights too weak beside those within them "
            "to compute with; raise the weak weights or set them to 0."
        )
    matrix, _ = lapack.dpotri(factor, lower=1, overwrite_c=1)
    _mirror_lower_triangle(matrix)
    symmetric = matrix.T  # the same numbers, with rows that lie in one piece
    parts = (symmetric, symmetric.diagonal().copy(), symmetric @ label_contrasts)
    for part in parts:
        part.setflags(write=False)
    return SharedInverse(*parts)


def _grounded_laplacian(
    affinity: SparseArray, degrees: FloatArray, components: IntArray
) -> FloatArray:
    """L + d dᵀ/Σd on each component (n, n), in the column order that LAPACK works in place on."""
    n = len(degrees)
    totals = sums_by(components, degrees, components.max() + 1)[components]
    shares = np.divide(degrees, totals, out=np.zeros(n), where=totals > 0)
    matrix = np.empty((n, n), order="F")
    for start in range(0, n, COLUMNS):
        columns = slice(start, min(start + COLUMNS, n))
        together = components[:, None] == components[columns]
        matrix[:, columns] = np.where(together, degrees[:, None] * shares[columns], 0.0)
        # The affinity is symmetric: its rows are the columns that are due here.
        matrix[:, columns] -= affinity[columns].toarray().T
    # An isolated example is a component of its own, which no answer reaches: any number will do.
    matrix[np.diag_indices(n)] += np.where(degrees > 0, degrees, 1.0)
    return matrix


def _mirror_lower_triangle(matrix: FloatArray) -> None:
    n = len(matrix)
    for start in range(0, n, COLUMNS):
        stop = min(start + COLUMNS, n)
        corner = np.tril(matrix[start:stop, start:stop])
        matrix[start:stop, start:stop] = corner + np.tril(corner, -1).T
        matrix[start:stop, stop:] = matrix[stop:, start:stop].T
