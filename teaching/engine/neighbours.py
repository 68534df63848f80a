"""The k nearest neighbours of every point, exact, in blocks that fit a core's cache."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from .arrays import FloatArray, IntArray

# Blocks of distances that stay in a core's cache while they are written, compared and dropped.
ROWS, COLUMNS = 256, 2048


def nearest_neighbours(points: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
    """The k nearest others of each of n points (n, d), k < n.

    Returns their indices (n, k), nearest first, and the squared distances to them (n, k).
    """
    n = len(points)
    norms = np.einsum("ij,ij->i", points, points)
    neighbours = np.empty((n, k), dtype=np.intp)
    squared = np.empty((n, k))

    def fill(start: int) -> None:
        rows = slice(start, min(start + ROWS, n))
        found = _nearest_of_block(points, norms, rows, k)
        # Differences, not the expanded square: the distances of near-duplicates keep their digits.
        apart = points[found] - points[rows, None, :]
        exact = np.einsum("ijk,ijk->ij", apart, apart)
        order = np.argsort(exact, axis=1, kind="stable")
        neighbours[rows] = np.take_along_axis(found, order, axis=1)
        squared[rows] = np.take_along_axis(exact, order, axis=1)

    # NumPy lets go of the interpreter in the products and comparisons that fill the time.
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        # Taken from the iterator, or an error in a thread would be lost.
        list(threads.map(fill, range(0, n, ROWS)))
    return neighbours, squared


def _nearest_of_block(points: FloatArray, norms: FloatArray, rows: slice, k: int) -> IntArray:
    """Indices (rows, k) of the k nearest others, in no particular order."""
    height = rows.stop - rows.start
    columns = _column_blocks(len(points), at_least=k + 1)
    best, found = _smallest(_relative_distances(points, norms, rows, next(columns)), k)
    for block in columns:
        distances = _relative_distances(points, norms, rows, block)
        # The flat form of `nonzero` skips empty stretches many times faster than the other.
        hits = np.flatnonzero(distances < best.max(axis=1)[:, None])
        closer, column = np.divmod(hits, distances.shape[1])
        owner = np.concatenate([np.repeat(np.arange(height), k), closer])
        value = np.concatenate([best.ravel(), distances[closer, column]])
        index = np.concatenate([found.ravel(), column + block.start])
        order = np.lexsort((value, owner))
        first = np.searchsorted(owner[order], np.arange(height))
        keep = order[first[:, None] + np.arange(k)]
        best, found = value[keep], index[keep]
    return found


def _column_blocks(n: int, at_least: int) -> Iterator[slice]:
    """Cut 0 … n−1 into blocks, the first of which has `at_least` entries where n allows."""
    start = 0
    while start < n:
        stop = min(max(start + COLUMNS, at_least), n)
        yield slice(start, stop)
        start = stop


def _relative_distances(
    points: FloatArray, norms: FloatArray, rows: slice, columns: slice
) -> FloatArray:
    """Squared distances less the row's own norm (which ranks the same); infinite to oneself."""
    distances = (-2 * points[rows]) @ points[columns].T
    distances += norms[columns]
    selves = np.arange(max(rows.start, columns.start), min(rows.stop, columns.stop))
    distances[selves - rows.start, selves - columns.start] = np.inf
    return distances


def _smallest(distances: FloatArray, k: int) -> tuple[FloatArray, IntArray]:
    index = np.argpartition(distances, k - 1, axis=1)[:, :k]
    return np.take_along_axis(distances, index, axis=1), index
