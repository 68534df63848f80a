"""Sums of Gaussians along a line, against the sums written out."""

import numpy as np
import pytest

from teaching.engine.gauss import Line


@pytest.mark.parametrize(
    "points",
    [
        np.random.default_rng(0).standard_normal(500),
        np.array([-1.0, 1.0, -1.0, 1.0]),
        np.array([0.03, -0.03, 0.09, 250.0, -1e6]),
        np.zeros(7),
    ],
)
def test_a_sum_is_that_of_every_source_at_every_point(points):
    rng = np.random.default_rng(1)
    sources, weights = rng.choice(points, 30), rng.random((3, 30))
    near = np.exp(-(((points[:, None] - sources) / 0.6) ** 2))
    found = Line.of(points).sums(sources, weights, 0.6)
    np.testing.assert_allclose(found, weights @ near.T, atol=1e-12)


def test_without_sources_there_is_nothing():
    found = Line.of(np.arange(4.0)).sums(np.empty(0), np.empty((2, 0)), 0.6)
    assert found.shape == (2, 4)
    assert not found.any()
