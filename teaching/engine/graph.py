"""The graph over the pool: k nearest neighbours, one weight rule, always connected.

An edge joins i and j when one is among the K nearest of the other. Distances are taken after
each feature is divided by its standard deviation, and the weight is the paper's

    A_ij = exp(−Σ_d (x_id − x_jd)² / σ_d²),   σ_d = s·std_d,

where the one number s adapts to the data: s² is the median squared (scaled) distance from an
example to its K-th neighbour, so a typical weakest edge weighs 1/e whatever the number of
features and their units.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from .arrays import FloatArray, IntArray, SparseArray
from .errors import BadAffinity
from .neighbours import COLUMNS, ROWS, nearest_neighbours

NEIGHBOURS = 10
# A lone example keeps a hold on its neighbours: without this floor its weights underflow,
# its estimate drowns in rounding and the iterative solver crawls. 1e-4 is the weight at
# three times the typical distance.
WEAKEST_EDGE = 1e-4
# An edge below this share of both its ends' degrees is lost when the degrees are summed.
INVISIBLE_EDGE = 1e-12
# Only ratios of weights matter, but squares of them must neither vanish nor overflow.
EXTREME_WEIGHT = 1e-100
# A matrix that came through a file or a float32 may differ this much from its transpose.
ASYMMETRY = 1e-6


@dataclass(frozen=True)
class Graph:
    """`affinity` (n, n) sparse and `bridges` (b, 2), the edges added to connect it."""

    affinity: SparseArray
    bridges: IntArray


def neighbour_graph(features: FloatArray) -> Graph:
    """Build the connected kNN graph of features (n, d)."""
    points = _scaled(features)
    k = min(NEIGHBOURS, len(points) - 1)
    neighbours, squared = nearest_neighbours(points, k)
    scale = _typical(squared)
    heads = np.repeat(np.arange(len(points)), k)
    tails = neighbours.ravel()
    linked = _union(heads, tails, squared.ravel(), scale, len(points))
    bridges, spans = _bridges(points, linked)
    if len(bridges):
        heads = np.concatenate([heads, bridges[:, 0]])
        tails = np.concatenate([tails, bridges[:, 1]])
        linked = _union(heads, tails, np.concatenate([squared.ravel(), spans]), scale, len(points))
    return Graph(linked, bridges)


def components_of(affinity: SparseArray) -> IntArray:
    """The number of each example's connected component, counted from 0; shape (n,)."""
    return connected_components(affinity, directed=False)[1].astype(np.intp)


def checked_affinity(affinity: npt.ArrayLike | SparseArray, n: int) -> SparseArray:
    """An affinity that somebody else built, checked and in the engine's form.

    Its diagonal is dropped: a self-loop cancels in the Laplacian but would link an example to
    its own answer.
    """
    given = _as_sparse(affinity)
    if given.shape != (n, n):
        raise BadAffinity(f"The affinity has shape {given.shape}; {n} examples need ({n}, {n}).")
    if not np.isfinite(given.data).all():
        raise BadAffinity("The affinity has entries that are not finite; replace them by weights.")
    if (given.data < 0).any():
        raise BadAffinity("The affinity has negative weights; a similarity is 0 or above.")
    loopless = _without_diagonal(given)
    largest = loopless.max()
    if largest and not EXTREME_WEIGHT <= largest <= 1 / EXTREME_WEIGHT:
        raise BadAffinity(f"The largest weight is {largest:g}; divide the affinity by it.")
    difference = abs(loopless - loopless.T)
    if difference.nnz and difference.max() > ASYMMETRY * largest:
        raise BadAffinity("The affinity is not symmetric; average it with its transpose first.")
    return _without_invisible_edges(_csr((loopless + loopless.T) / 2))


def _as_sparse(affinity: npt.ArrayLike | SparseArray) -> SparseArray:
    try:
        if sparse.issparse(affinity):
            return _csr(affinity)
        dense = np.asarray(affinity, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise BadAffinity("The affinity is a matrix (n, n) of numbers, dense or sparse.") from error
    if dense.ndim != 2:
        raise BadAffinity(f"The affinity has {dense.ndim} dimensions; give a matrix (n, n).")
    return _csr(dense)


def _csr(matrix: Any) -> SparseArray:
    compressed: SparseArray = sparse.csr_array(matrix, dtype=np.float64)
    return compressed


def _without_diagonal(affinity: SparseArray) -> SparseArray:
    entries = affinity.tocoo()
    keep = (entries.row != entries.col) & (entries.data > 0)
    return _assembled(entries.row[keep], entries.col[keep], entries.data[keep], affinity.shape[0])


def _without_invisible_edges(affinity: SparseArray) -> SparseArray:
    degrees: FloatArray = np.asarray(affinity.sum(axis=1))
    entries = affinity.tocoo()
    weaker = np.minimum(degrees[entries.row], degrees[entries.col])
    keep = entries.data >= INVISIBLE_EDGE * weaker
    return _assembled(entries.row[keep], entries.col[keep], entries.data[keep], affinity.shape[0])


def _assembled(
    heads: npt.NDArray[np.integer], tails: npt.NDArray[np.integer], weights: FloatArray, n: int
) -> SparseArray:
    matrix = sparse.csr_array((weights, (heads, tails)), shape=(n, n))
    matrix.sort_indices()
    # 32-bit indices halve the traffic of a product; no pool comes near 2³¹ edges.
    matrix.indices = matrix.indices.astype(np.int32, copy=False)
    matrix.indptr = matrix.indptr.astype(np.int32, copy=False)
    return matrix


def _scaled(features: FloatArray) -> FloatArray:
    """Features (n, d), centred and divided by their standard deviations.

    Centring changes no distance and keeps the digits of small ones. Constant features say
    nothing about distance and stay at 0.
    """
    centred: FloatArray = features - features.mean(axis=0)
    deviations = centred.std(axis=0)
    # What rounding leaves of a constant feature is no variation.
    constant = deviations <= 1e-12 * np.abs(features).max(axis=0)
    centred /= np.where(constant, 1.0, deviations)
    centred[:, constant] = 0.0
    return centred


def _typical(squared: FloatArray) -> float:
    """The median squared distance to the k-th neighbour, or a stand-in among duplicates."""
    median = float(np.median(squared[:, -1]))
    if median > 0:
        return median
    apart = squared[squared > 0]
    return float(apart.mean()) if apart.size else 1.0


def _union(
    heads: IntArray, tails: IntArray, squared: FloatArray, scale: float, n: int
) -> SparseArray:
    """The symmetric graph that has an edge where either end names the other."""
    weights = np.maximum(np.exp(-squared / scale), WEAKEST_EDGE)
    directed = _assembled(heads, tails, weights, n)
    return _csr(directed.maximum(directed.T))


def _bridges(points: FloatArray, affinity: SparseArray) -> tuple[IntArray, FloatArray]:
    """Join the components by nearest pairs until one is left: pairs (b, 2), squared lengths (b,).

    Each round ties every component but the largest to its nearest outsider, so the number of
    components at least halves.
    """
    spans: dict[tuple[int, int], float] = {}
    norms = np.einsum("ij,ij->i", points, points)
    component = components_of(affinity)
    while component.max() > 0:
        members = np.split(np.argsort(component, kind="stable"), np.cumsum(np.bincount(component)))
        smaller = sorted(members[:-1], key=len)[:-1]
        for rows in smaller:
            pair = _nearest_pair(points, norms, rows, component)
            apart = points[pair[0]] - points[pair[1]]
            spans[pair] = float(apart @ apart)
        heads, tails = np.array(list(spans)).T
        ties = _assembled(heads, tails, np.ones(len(spans)), len(points))
        component = components_of(_csr(affinity + ties))
    return np.array(list(spans), dtype=np.intp).reshape(-1, 2), np.array(list(spans.values()))


def _nearest_pair(
    points: FloatArray, norms: FloatArray, members: IntArray, component: IntArray
) -> tuple[int, int]:
    """The shortest way out of a component, as a pair in ascending order."""
    outsiders = np.flatnonzero(component != component[members[0]])
    shortest, pair = np.inf, (0, 0)
    for start in range(0, len(members), ROWS):
        rows = members[start : start + ROWS]
        for left in range(0, len(outsiders), COLUMNS):
            columns = outsiders[left : left + COLUMNS]
            distances = (-2 * points[rows]) @ points[columns].T
            distances += norms[columns]
            distances += norms[rows][:, None]
            nearest = int(np.argmin(distances))
            if distances.flat[nearest] < shortest:
                shortest = distances.flat[nearest]
                row, column = divmod(nearest, len(columns))
                pair = (int(rows[row]), int(columns[column]))
    return min(pair), max(pair)
