"""Products with the whole pool, and sums over neighbours, against loops."""

import numpy as np
import pytest

from teaching.engine.bank.along import along_all, asked_for
from teaching.engine.bank.base import GIVEN, RELEVANT

from .builders import class_pool


@pytest.mark.parametrize("k", [2, 3])
def test_everyone_gets_the_products_of_their_own_vectors(k):
    rng, spaces = np.random.default_rng(0), class_pool(k=k).spaces
    sizes = [{GIVEN: 2, RELEVANT: 1}, {}, {RELEVANT: 3}, {GIVEN: 1}]
    asked = [
        {
            place: rng.standard_normal((r, spaces.both[place].points.shape[1] + 2))
            for place, r in one.items()
        }
        for one in sizes
    ]
    for one, found in zip(asked, along_all(spaces, asked), strict=True):
        assert found.keys() == one.keys()
        for place, rows in one.items():
            space = spaces.both[place]
            for row, product in zip(rows, found[place], strict=True):
                *vector, more, halves = row
                expected = [
                    np.dot(vector, x) + more + halves * (x @ x) / (2 * space.spread)
                    for x in space.points
                ]
                np.testing.assert_allclose(product, expected, atol=1e-10)


def test_vectors_are_asked_for_as_rows():
    vectors = np.arange(12.0).reshape(2, 2, 3)
    rows = asked_for(vectors, np.array([5.0, 6, 7, 8]), -1.0)
    np.testing.assert_array_equal(rows[2], [6, 7, 8, 7, -1])
    np.testing.assert_array_equal(asked_for(vectors)[:, 3:], 0)


@pytest.mark.parametrize("k", [2, 3])
def test_a_memory_reaches_its_neighbours_by_the_values_of_its_own_class(k):
    pool = class_pool(k=k)
    values = np.random.default_rng(0).random((3, k, pool.n))
    found = (pool.memory_links @ values.ravel()).reshape(2, pool.n)
    similar = pool.affinity.toarray() + np.eye(pool.n)
    for x, label in enumerate(pool.labels):
        first, second, third = values[:, label]
        once = similar[x] @ first / pool.n
        both = (2 * similar[x] @ second + (1 - 1 / k) * similar[x] ** 2 @ third) / pool.n
        np.testing.assert_allclose(found[:, x], [once, both], atol=1e-12)
