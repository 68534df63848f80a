"""The paper's affinities, between nearest neighbours: what the engine's own rule differs from."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from teaching.engine.arrays import FloatArray, SparseArray, squared_distances

NEIGHBOURS = 10
# The scale of the angle in the graphs that belong to the paper's own features.
ANGLE_SCALE = 0.03


def by_features(features: FloatArray) -> SparseArray:
    """exp(−Σ_d (x_d − x'_d)²/σ_d²) with σ_d the standard deviation of feature d, for pools of a few hundred."""
    scaled = features / features.std(axis=0)
    return _nearest(np.exp(-squared_distances(scaled, scaled)))


def by_angle(features: FloatArray) -> SparseArray:
    """exp(−(1 − cos)/0.03), for features whose length says nothing; rows of zeros stay alone."""
    lengths = np.sqrt(np.einsum("ij,ij->i", features, features))
    turned = features / np.where(lengths > 0, lengths, 1)[:, None]
    affinity = np.exp(-(1 - turned @ turned.T) / ANGLE_SCALE)
    affinity[lengths == 0] = affinity[:, lengths == 0] = 0
    return _nearest(affinity)


def _nearest(affinity: FloatArray) -> SparseArray:
    """The edges to the ten nearest of either end.

    Not the engine's search: texts without a word in common are equally far apart, and the published numbers rest
    on taking the first of equals.
    """
    np.fill_diagonal(affinity, 0)
    n = len(affinity)
    nearest = np.argsort(-affinity, axis=1, kind="stable")[:, : min(NEIGHBOURS, n - 1)]
    is_near = np.zeros((n, n), dtype=np.bool_)
    np.put_along_axis(is_near, nearest, True, axis=1)
    return sparse.csr_array(np.where(is_near | is_near.T, affinity, 0.0))
