"""Sums of Gaussians along lines, at many points at once.

The points of a line lie in cells, so many side by side in a block. In each block the sum is a Taylor series about the
centre, whose coefficients follow from those of exp(−d²): with c_j = f⁽ʲ⁾/j!, (j + 1)c_{j+1} = −2(d·c_j + c_{j−1}). So a
sum costs an exponential for each block and source instead of one for each point and source. Multiples q_j = σ_j c_j
with σ_{j+1} = ½(j + 1)σ_{j−1} take less time, q_{j+1} = −(σ_{j−1}/σ_j)d·q_j − q_{j−1}. About the centre of a cell the
same series needs fewer terms, which are sums of those of its block.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import comb

from .arrays import FloatArray, IntArray, pieces

# Points are this far from the centre of their block or cell at most. By Cramér's bound |c_j s^j| ≤ 1.09·(√2·s)^j/√j!,
# so this many terms leave 3e-13 of a source where Gaussians exp(−(x − y)²/w²) are as wide as w = 0.6.
BLOCK_REACH, BLOCK_TERMS = 0.18, 16
CELLS = 32
REACH, TERMS = BLOCK_REACH / CELLS, 6
# How far the centre of each cell is beyond that of its block.
OFFSETS = REACH * (2 * np.arange(CELLS) + 1) - BLOCK_REACH
SCALES = [1.0, 1.0]
for term in range(2, BLOCK_TERMS):
    SCALES.append(term / 2 * SCALES[term - 2])


@dataclass(frozen=True)
class Lines:
    """n points on each of s lines, in cells.

    `centres` (G,) are those of the blocks that hold any point, one line after the other, those of line l from
    `starts[l]` on. `cells` (s, n) says in which of the cells of its line each point lies, and `beyond` (s, n) how far
    beyond the centre of that cell.
    """

    centres: FloatArray
    starts: IntArray
    cells: IntArray
    beyond: FloatArray

    @classmethod
    def of(cls, points: FloatArray) -> Lines:
        """From points (s, n)."""
        centres, cells, beyond = zip(*(_in_cells(one) for one in points), strict=True)
        return cls(
            centres=np.concatenate(centres),
            starts=np.cumsum([0, *(own.size for own in centres)]),
            cells=np.stack(cells),
            beyond=np.stack(beyond),
        )

    def sums(
        self,
        lines: IntArray,
        sources: FloatArray,
        weights: FloatArray,
        width: float,
        at: slice = slice(None),
    ) -> FloatArray:
        """Σ_r weight_r exp(−(x − source_r)²/width²) at some points of some lines, (k, len(lines), e).

        Each line has sources of its own, (len(lines), t); the weights (k, t) are the same for all.
        """
        all_cells, all_beyond = self.cells[:, at], self.beyond[:, at]
        n, k = all_beyond.shape[1], len(weights)
        sizes = self.starts[lines + 1] - self.starts[lines]
        ends = np.cumsum(sizes)
        blocks = np.arange(ends[-1]) + np.repeat(self.starts[lines] - ends + sizes, sizes)
        apart = self.centres[blocks] - np.repeat(sources.T, sizes, axis=1)
        series = _of_cells(weights @ _series(apart / width), width)
        firsts, found = CELLS * (ends - sizes)[:, None], np.empty((k, lines.size, n))
        for some in pieces(lines.size, n * k):
            cells = all_cells[lines[some]]
            cells += firsts[some]
            found[:, some] = _at_points(series, cells, all_beyond[lines[some]])
        return found


def _in_cells(points: FloatArray) -> tuple[FloatArray, IntArray, FloatArray]:
    """The centres of the blocks of points (n,), and the cell of each point and how far it is beyond, (n,) each."""
    numbers, block = np.unique(np.rint(points / (2 * BLOCK_REACH)), return_inverse=True)
    centres = 2 * BLOCK_REACH * numbers
    beyond = points - centres[block]
    # Rounding may leave a point at the end of a block outside.
    cell = np.clip(np.floor((beyond + BLOCK_REACH) / (2 * REACH)), 0, CELLS - 1).astype(np.intp)
    return centres, CELLS * block + cell, beyond - OFFSETS[cell]


def _series(apart: FloatArray) -> FloatArray:
    """Multiples of the first Taylor coefficients of exp(−d²) at apart (…), (BLOCK_TERMS, …)."""
    found = np.empty((BLOCK_TERMS, *apart.shape))
    np.exp(-(apart**2), out=found[0])
    np.multiply(apart, -2 * found[0], out=found[1])
    for j in range(1, BLOCK_TERMS - 1):
        now = np.multiply(apart, -SCALES[j - 1] / SCALES[j], out=found[j + 1])
        now *= found[j]
        now -= found[j - 1]
    return found


def _of_cells(series: FloatArray, width: float) -> FloatArray:
    """From multiples of the series (BLOCK_TERMS, k, G) of blocks those of their cells, (TERMS, k, G·CELLS)."""
    terms, k, blocks = series.shape
    rows = series.reshape(terms, k * blocks).T
    return np.asarray(rows @ _moved(width)).reshape(TERMS, k, blocks * CELLS)


@lru_cache
def _moved(width: float) -> FloatArray:
    """By what multiples of the terms of a block each term of its cells is made, (TERMS, BLOCK_TERMS, CELLS)."""
    of_cell, of_block = np.arange(TERMS)[:, None, None], np.arange(BLOCK_TERMS)[:, None]
    # About a centre that is o beyond, Σ_j c_j x^j has the coefficients Σ_j c_j binom(j, i) o^{j−i}, none for j < i.
    moves = comb(of_block, of_cell) * OFFSETS ** np.maximum(of_block - of_cell, 0)
    return np.asarray(moves / (np.array(SCALES)[:, None] * width**of_block))


def _at_points(series: FloatArray, cells: IntArray, beyond: FloatArray) -> FloatArray:
    """The series (TERMS, k, C) of cells at points that lie in some of them, so far beyond the centres, (k, …)."""
    *lower, highest = series
    # No cell is outside; to look at that takes longer than to take what is there.
    total = np.take(highest, cells, axis=1, mode="clip")
    for one in reversed(lower):
        total *= beyond
        total += np.take(one, cells, axis=1, mode="clip")
    return total
