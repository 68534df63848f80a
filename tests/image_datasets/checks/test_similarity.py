"""Similar images, and whether they are of one class: by a literal loop."""

import numpy as np
import pytest

from image_datasets.checks.target import (
    Fold,
    SimilarityCount,
    homophily_by_chance,
    neighbour_accuracy,
)
from teaching.engine.graph import neighbour_graph


def some_points(n=40, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.choice([-1.0, 1.0], n)
    return rng.normal(size=(n, 3)) + 0.7 * labels[:, None], labels


def squared(one, other):
    return float(np.sum((one - other) ** 2))


def test_unseen_images_are_compared_with_learned_ones_only():
    points, labels = some_points()
    held_out, train = np.arange(0, 40, 4), np.flatnonzero(np.arange(40) % 4)
    count = SimilarityCount(labels)
    count.add(Fold(train, held_out, points[train], points[held_out]))
    right = sum(
        labels[min(train, key=lambda j: squared(points[i], points[j]))] == labels[i]
        for i in held_out
    )
    order = [*held_out, *train]
    weights = neighbour_graph(points[order]).affinity.toarray()
    pairs = [
        (weights[a, b], labels[order[a]] == labels[order[b]])
        for a in range(10)
        for b in range(10, 40)
    ]
    within = sum(weight for weight, same in pairs if same)
    assert count.total.neighbours.mean == pytest.approx(right / 10)
    assert count.total.homophily == pytest.approx(within / sum(weight for weight, _ in pairs))


@pytest.mark.parametrize("k", [1, 3])
def test_neighbours_vote_without_the_example_itself(k):
    features, labels = some_points()
    right = 0
    for i in range(40):
        others = sorted(set(range(40)) - {i}, key=lambda j: squared(features[i], features[j]))
        right += sum(labels[others[:k]]) * labels[i] > 0
    assert neighbour_accuracy(features, labels, k).mean == pytest.approx(right / 40)


def test_a_tied_vote_is_no_majority():
    line = np.array([[0.0], [1.0], [-1.0], [9.0], [10.0], [11.0]])
    labels = np.array([0, 0, 1, 1, 1, 1])
    assert neighbour_accuracy(line, labels, 2).mean == pytest.approx(3 / 6)


def test_chance_is_that_two_images_have_one_class():
    assert homophily_by_chance(np.repeat([0, 1, 2], [2, 3, 5])) == pytest.approx(0.38)
