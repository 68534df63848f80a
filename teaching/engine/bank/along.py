"""Products with every example of the pool: those that all families need, in one pass over its features."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import FloatArray
from ..spaces import Spaces

# Vectors (r, q) of a space by its place in `Spaces.both`, or their products with every example, (r, n).
ByPlace = dict[int, FloatArray]


def along_all(spaces: Spaces, asked: Sequence[ByPlace]) -> list[ByPlace]:
    """The products (r, n) of everything that was asked for, each in arrays of its own.

    A pass over the features of a large pool takes nearly as long for one vector as for ten.
    """
    found: list[ByPlace] = [{} for _ in asked]
    for place, space in enumerate(spaces.both):
        own = [number for number, one in enumerate(asked) if place in one]
        if own:
            parts = [asked[number][place] for number in own]
            products = np.concatenate(parts) @ space.points.T
            ends = np.cumsum([len(part) for part in parts])
            for number, product in zip(own, np.split(products, ends[:-1]), strict=True):
                found[number][place] = product
    return found
