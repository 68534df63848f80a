"""Sums of Gaussians along lines, at many points at once.

The points of a line lie in cells. In each cell the sum is a Taylor series about the centre, whose coefficients follow
from those of exp(−d²): with c_j = f⁽ʲ⁾/j!, (j + 1)c_{j+1} = −2(d·c_j + c_{j−1}). So a sum costs an exponential for each
cell and source instead of one for each point and source. Multiples q_j = σ_j c_j with σ_{j+1} = ½(j + 1)σ_{j−1} take
less time, q_{j+1} = −(σ_{j−1}/σ_j)d·q_j − q_{j−1}, and the sums are divided by σ_j.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .arrays import FloatArray, IntArray, pieces

# Points are this far from the centre of their cell at most. By Cramér's bound |c_j s^j| ≤ 1.09·(√2·s)^j/√j!, so
# this many terms leave 1e-13 of a source where Gaussians exp(−(x − y)²/w²) are as wide as w = 0.6.
REACH = 0.045
TERMS = 10
SCALES = [1.0, 1.0]
for term in range(2, TERMS):
    SCALES.append(term / 2 * SCALES[term - 2])


@dataclass(frozen=True)
class Lines:
    """n points on each of s lines, in cells.

    `centres` (G,) are those of the cells that hold any point, and `counts` (G,) say how many; one line after the other,
    those of line l from `starts[l]` on. Each line has its points in ascending order, so that those of a cell are side
    by side: `beyond` (s, n) says how far beyond the centre each is, `places` (s, n) where each point of the line went.
    """

    centres: FloatArray
    counts: IntArray
    starts: IntArray
    beyond: FloatArray
    places: IntArray

    @classmethod
    def of(cls, points: FloatArray) -> Lines:
        """From points (s, n)."""
        order = np.argsort(points, axis=1, kind="stable")
        rising = np.take_along_axis(points, order, axis=1)
        found = [np.unique(np.rint(one / (2 * REACH)), return_counts=True) for one in rising]
        centres = 2 * REACH * np.concatenate([cells for cells, _ in found])
        counts = np.concatenate([own for _, own in found])
        starts = np.cumsum([0, *(own.size for own, _ in found)])
        beyond = rising - np.repeat(centres, counts).reshape(rising.shape)
        return cls(centres, counts, starts, beyond, np.argsort(order, axis=1))

    def sums(
        self, lines: IntArray, sources: FloatArray, weights: FloatArray, width: float
    ) -> FloatArray:
        """Σ_r weight_r exp(−(x − source_r)²/width²) at every point of some lines, (k, len(lines), n).

        Each line has sources of its own, (len(lines), t); the weights (k, t) are the same for all.
        """
        n = self.beyond.shape[1]
        found = np.empty((len(weights), lines.size, n))
        for some in pieces(lines.size, n * len(weights)):
            found[:, some] = self._sums_of_few(lines[some], sources[some], weights, width)
        return found

    def _sums_of_few(
        self, lines: IntArray, sources: FloatArray, weights: FloatArray, width: float
    ) -> FloatArray:
        sizes = self.starts[lines + 1] - self.starts[lines]
        ends = np.cumsum(sizes)
        cells = np.arange(ends[-1]) + np.repeat(self.starts[lines] - ends + sizes, sizes)
        apart = self.centres[cells] - np.repeat(sources.T, sizes, axis=1)
        series = weights @ _series(apart / width)
        series /= (np.array(SCALES) * width ** np.arange(TERMS))[:, None, None]
        sums = _evaluated(series, self.counts[cells], self.beyond[lines].ravel())
        places = self.places[lines] + self.beyond.shape[1] * np.arange(lines.size)[:, None]
        # No place is outside; to look at that takes longer than to take what is there.
        return np.asarray(np.take(sums, places, axis=1, mode="clip"))


def _series(apart: FloatArray) -> FloatArray:
    """Multiples of the first Taylor coefficients of exp(−d²) at apart (…), (TERMS, …)."""
    found = np.empty((TERMS, *apart.shape))
    np.exp(-(apart**2), out=found[0])
    np.multiply(apart, -2 * found[0], out=found[1])
    for j in range(1, TERMS - 1):
        now = np.multiply(apart, -SCALES[j - 1] / SCALES[j], out=found[j + 1])
        now *= found[j]
        now -= found[j - 1]
    return found


def _evaluated(coefficients: FloatArray, counts: IntArray, beyond: FloatArray) -> FloatArray:
    """The series (TERMS, k, G) of cells at so many points each, so far beyond the centres, (k, len(beyond))."""
    *lower, highest = coefficients
    total = np.repeat(highest, counts, axis=1)
    for one in reversed(lower):
        total *= beyond
        total += np.repeat(one, counts, axis=1)
    return total
