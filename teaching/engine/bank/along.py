"""Products with every example of the pool: those that all families need, in one pass over its features."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

import numpy as np

from ..arrays import FloatArray
from ..spaces import Spaces

# Of a space by its place in `Spaces.both`: vectors v with numbers a and b, (r, q + 2), or vᵀx + a + b‖x‖²/2 of every
# example, (r, n), with ‖x‖² in units of the spread.
ByPlace = dict[int, FloatArray]


def asked_for(
    vectors: FloatArray, more: FloatArray | float = 0.0, halves: FloatArray | float = 0.0
) -> FloatArray:
    """Vectors (…, q) with their a and b as rows (r, q + 2)."""
    q = vectors.shape[-1]
    rows = np.empty((vectors.size // q, q + 2))
    rows[:, :q] = vectors.reshape(-1, q)
    rows[:, q], rows[:, q + 1] = more, halves
    return rows


def along_all(spaces: Spaces, asked: Sequence[ByPlace]) -> list[ByPlace]:
    """The products (r, n) of everything that was asked for, each in arrays of its own.

    A pass over the features of a large pool takes nearly as long for one vector as for ten.
    """
    found: list[ByPlace] = [{} for _ in asked]
    for place, space in enumerate(spaces.both):
        own = [number for number, one in enumerate(asked) if place in one]
        if own:
            parts = [asked[number][place] for number in own]
            products = np.concatenate(parts) @ space.columns
            ends = accumulate((len(part) for part in parts), initial=0)
            for number, (first, last) in zip(own, pairwise(ends), strict=True):
                found[number][place] = products[first:last]
    return found
