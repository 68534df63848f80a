"""Sums of Gaussians along lines, against the sums written out."""

import numpy as np
import pytest

from teaching.engine.gauss import CELLS, OFFSETS, REACH, Lines

POINTS = [
    np.random.default_rng(0).standard_normal(500),
    np.resize([-1.0, 1.0], 500),
    np.resize([0.03, -0.03, 0.09, 250.0, -1e6], 500),
    np.zeros(500),
    # The ends of blocks and cells, and what rounding puts next to them.
    np.nextafter(REACH * np.arange(-250, 250), np.resize([-1.0, 0.0, 1.0], 500)),
]


@pytest.mark.parametrize("chosen", [[0], [1, 3], [4, 3, 2, 1, 0]])
def test_a_sum_is_that_of_every_source_at_every_point(chosen):
    rng = np.random.default_rng(1)
    lines, weights = Lines.of(np.stack(POINTS)), rng.random((3, 30))
    sources = np.stack([rng.choice(POINTS[line], 30) for line in chosen])
    found = lines.sums(np.array(chosen), sources, weights, 0.6)
    for place, line in enumerate(chosen):
        near = np.exp(-(((POINTS[line][:, None] - sources[place]) / 0.6) ** 2))
        np.testing.assert_allclose(found[:, place], weights @ near.T, atol=1e-12)


def test_points_are_no_farther_from_the_centre_of_their_cell_than_its_half():
    lines = Lines.of(np.stack(POINTS))
    assert np.abs(lines.beyond).max() <= REACH * (1 + 1e-9)
    for line, cells in enumerate(lines.cells):
        # No block is kept in which nothing lies.
        blocks = np.arange(lines.starts[line + 1] - lines.starts[line])
        np.testing.assert_array_equal(np.unique(cells // CELLS), blocks)
        centres = lines.centres[lines.starts[line] + cells // CELLS] + OFFSETS[cells % CELLS]
        np.testing.assert_allclose(centres + lines.beyond[line], POINTS[line], atol=1e-9)


def test_without_sources_there_is_nothing():
    lines = Lines.of(np.arange(8.0).reshape(2, 4))
    found = lines.sums(np.arange(2), np.empty((2, 0)), np.empty((2, 0)), 0.6)
    assert found.shape == (2, 2, 4)
    assert not found.any()
