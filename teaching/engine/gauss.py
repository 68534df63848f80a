"""Sums of Gaussians along a line, at many points at once.

The points lie in cells. In each cell the sum is a Taylor series about the centre, whose coefficients follow from those
of exp(−d²): with c_j = f⁽ʲ⁾/j!, (j + 1)c_{j+1} = −2(d·c_j + c_{j−1}). So a sum costs an exponential for each cell and
source instead of one for each point and source.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .arrays import FloatArray, IntArray

# Points are this far from the centre of their cell at most. By Cramér's bound |c_j s^j| ≤ 1.09·(√2·s)^j/√j!, so
# this many terms leave 1e-13 of a source where Gaussians exp(−(x − y)²/w²) are as wide as w = 0.6.
REACH = 0.03
TERMS = 10


@dataclass(frozen=True)
class Line:
    """n points: the centres (g,) of the cells that hold any, which of them (n,), and how far beyond it (n,)."""

    centres: FloatArray
    which: IntArray
    beyond: FloatArray

    @classmethod
    def of(cls, points: FloatArray) -> Line:
        cells, which = np.unique(np.rint(points / (2 * REACH)), return_inverse=True)
        centres = 2 * REACH * cells
        return cls(centres, which.astype(np.intp), points - centres[which])

    def sums(self, sources: FloatArray, weights: FloatArray, width: float) -> FloatArray:
        """Σ_r weight_r exp(−(x − source_r)²/width²) at every point, (k, n), for sources (t,) and weights (k, t)."""
        coefficients = _series((self.centres[:, None] - sources) / width) @ weights.T
        beyond = self.beyond / width
        *lower, highest = coefficients.swapaxes(1, 2)
        total = np.take(highest, self.which, axis=1)
        for one in reversed(lower):
            total *= beyond
            total += np.take(one, self.which, axis=1)
        return total


def _series(apart: FloatArray) -> FloatArray:
    """The first Taylor coefficients of exp(−d²) at d (…), (TERMS, …)."""
    found = np.empty((TERMS, *apart.shape))
    found[0] = np.exp(-(apart**2))
    found[1] = -2 * apart * found[0]
    for j in range(1, TERMS - 1):
        found[j + 1] = (apart * found[j] + found[j - 1]) * (-2 / (j + 1))
    return found
