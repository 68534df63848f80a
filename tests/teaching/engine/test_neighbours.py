"""The nearest neighbours, against all pairs."""

import numpy as np
import pytest

from teaching.engine import neighbours
from teaching.engine.neighbours import nearest_neighbours
from tests.teaching.engine.builders import gaussian_classes


def by_all_pairs(points, k):
    squared = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    np.fill_diagonal(squared, np.inf)
    nearest = np.argsort(squared, axis=1, kind="stable")[:, :k]
    return nearest, np.take_along_axis(squared, nearest, axis=1)


@pytest.mark.parametrize("k", [1, 4, 59])
def test_they_are_those_of_all_pairs_nearest_first(k):
    points, _ = gaussian_classes(60, 3)
    found, squared = nearest_neighbours(points, k)
    expected, distances = by_all_pairs(points, k)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_allclose(squared, distances, rtol=1e-12)


def test_blocks_do_not_show(monkeypatch):
    points, _ = gaussian_classes(203, 5)
    monkeypatch.setattr(neighbours, "ROWS", 17)
    monkeypatch.setattr(neighbours, "COLUMNS", 23)
    found, _ = nearest_neighbours(points, 30)
    np.testing.assert_array_equal(found, by_all_pairs(points, 30)[0])


def test_no_point_is_its_own_neighbour_even_among_copies():
    found, squared = nearest_neighbours(np.ones((7, 2)), 6)
    for point, others in enumerate(found):
        assert sorted(others) == [other for other in range(7) if other != point]
    assert not squared.any()


def test_close_points_keep_the_digits_of_their_distance():
    points = np.array([[1e6, 0.0], [1e6 + 1e-5, 0.0], [0.0, 0.0]])
    _, squared = nearest_neighbours(points, 1)
    apart = points[1, 0] - points[0, 0]
    assert squared[0, 0] == squared[1, 0] == apart**2
