"""Visual words: a vocabulary by k-means, counts over a spatial pyramid, TF-IDF, choosing features."""

import math
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.random import Generator
from scipy.cluster.vq import kmeans2

from teaching.engine.arrays import FloatArray, IntArray

from .base import ByteArray, Float32Array

# Words in a vocabulary.
WORDS = 100
# The three levels of the pyramid: 1 + 4 + 16 cells.
LEVELS = (1, 2, 4)
CELLS = sum(level**2 for level in LEVELS)
# k-means learns from this many descriptors at most, and has settled after these rounds.
SAMPLE = 12_000
ROUNDS = 12
# Descriptors compared with the vocabulary at a time: 13 MB of distances at 100 words.
BLOCK = 1 << 15
# Columns compared between the classes at a time.
COLUMNS = 256


def vocabulary(descriptors: ByteArray, seed: int) -> Float32Array:
    """The words (WORDS, b) of the descriptors (n, m, b) of n images."""
    rng = np.random.default_rng(seed)
    return k_means(sampled(descriptors, SAMPLE, rng), WORDS, rng)


def sampled(descriptors: ByteArray, most: int, rng: Generator) -> Float32Array:
    """Up to `most` of the descriptors (n, m, b), every image with the same chance; (s, b)."""
    n, m, width = descriptors.shape
    chosen = rng.choice(n * m, size=min(most, n * m), replace=False)
    images, places = np.divmod(np.sort(chosen), m)
    return descriptors[images, places].astype(np.float32).reshape(-1, width)


def k_means(points: Float32Array, k: int, rng: Generator) -> Float32Array:
    """Centres (k, b) of points (s, b), by Lloyd's rounds from distinct first points.

    k-means++ would be the textbook's start; on photographs it finds words no better than these and
    takes 70 times as long. Among fewer than k distinct points some centres are repeated, and the
    repetitions are words that never occur.
    """
    distinct = rng.permutation(np.unique(points, axis=0))
    first = np.resize(distinct[:k], (k, points.shape[1]))
    with warnings.catch_warnings():
        # SciPy leaves a centre that no point is nearest to where it is, as it should.
        warnings.filterwarnings("ignore", "One of the clusters is empty")
        centres, _ = kmeans2(points, first, iter=ROUNDS, minit="matrix", check_finite=False)
    return np.asarray(centres, dtype=np.float32)


def word_counts(descriptors: ByteArray, vocabulary: Float32Array) -> Float32Array:
    """How often each word occurs in each cell of the pyramid; (n, CELLS · words).

    The descriptors (n, m, b) of an image stand on a square grid, row by row.
    """
    found = words_of(descriptors, vocabulary)
    return pyramid_counts(found, math.isqrt(descriptors.shape[1]), len(vocabulary))


def nearest_centres(points: Float32Array, centres: Float32Array) -> IntArray:
    """The nearest centre of each point, the first among equals; (s,).

    SciPy's `vq` rounds otherwise and gives a descriptor half way between two words to the other
    one: what was fitted and stored before would give other features.
    """
    # |p − c|² less |p|², which all centres share.
    distances = points @ (-2 * centres.T)
    distances += np.einsum("ij,ij->i", centres, centres)
    return np.asarray(np.argmin(distances, axis=1), dtype=np.intp)


def words_of(descriptors: ByteArray, centres: Float32Array) -> IntArray:
    """The word of every descriptor (n, m, b), in blocks of bounded memory; (n, m)."""
    words = np.empty(descriptors.shape[:2], dtype=np.intp)
    for rows in _blocks(descriptors.shape[0], max(1, BLOCK // descriptors.shape[1])):
        block = descriptors[rows]
        flat = block.reshape(-1, block.shape[2]).astype(np.float32)
        words[rows] = nearest_centres(flat, centres).reshape(block.shape[:2])
    return words


def _blocks(n: int, height: int) -> Iterator[slice]:
    return (slice(start, min(start + height, n)) for start in range(0, n, height))


def pyramid_counts(words: IntArray, side: int, count: int) -> Float32Array:
    """How often each word stands in each cell of the pyramid; (n, CELLS · count).

    `words` (n, side²) stand on a square grid, row by row. Cells come level by level and row by
    row, and within a cell the words in order.
    """
    n = len(words)
    finest = LEVELS[-1]
    strip = np.arange(side) * finest // side
    cell = (strip[:, None] * finest + strip).ravel()
    slots = (np.arange(n)[:, None] * finest**2 + cell) * count + words
    fine = np.bincount(slots.ravel(), minlength=n * finest**2 * count)
    counts = fine.astype(np.float32).reshape(n, finest, finest, count)
    return np.concatenate([_summed(counts, level).reshape(n, -1) for level in LEVELS], axis=1)


def _summed(counts: Float32Array, level: int) -> Float32Array:
    """Counts (n, finest, finest, k) added up to (n, level, level, k)."""
    n, finest, _, k = counts.shape
    width = finest // level
    blocks = counts.reshape(n, level, width, level, width, k)
    return np.asarray(blocks.sum(axis=(2, 4)), dtype=np.float32)


def inverse_document_frequency(counts: Float32Array) -> FloatArray:
    """How rare each column of counts (n, c) is: log((1 + n)/(1 + images that have it)) + 1.

    The ones keep a word that every image has: it differs in how often it stands there.
    """
    present = np.count_nonzero(counts, axis=0)
    return np.asarray(np.log((1 + len(counts)) / (1 + present)) + 1)


def analysis_of_variance(columns: npt.NDArray[np.floating], labels: npt.NDArray[Any]) -> FloatArray:
    """F of each column of (n, c): variance between the classes over variance within; (c,).

    A column that does not vary within the classes tells them apart perfectly or not at all.
    """
    scores = np.empty(columns.shape[1])
    for part in _blocks(columns.shape[1], COLUMNS):
        scores[part] = _variance_ratio(columns[:, part].astype(np.float64), labels)
    return scores


def _variance_ratio(columns: FloatArray, labels: npt.NDArray[Any]) -> FloatArray:
    classes = [columns[labels == label] for label in np.unique(labels)]
    overall = columns.mean(axis=0)
    between = sum(len(rows) * (rows.mean(axis=0) - overall) ** 2 for rows in classes)
    within = sum(((rows - rows.mean(axis=0)) ** 2).sum(axis=0) for rows in classes)
    freedom = max(len(columns) - len(classes), 1) / max(len(classes) - 1, 1)
    noise = 1e-12 * np.maximum((columns**2).sum(axis=0), np.finfo(float).tiny)
    return np.asarray(np.where(between > noise, between * freedom / np.maximum(within, noise), 0.0))


def highest(scores: FloatArray, count: int) -> IntArray:
    """The indices of the highest scores in ascending order; the first among equals."""
    return np.sort(np.argsort(-scores, kind="stable")[:count])
