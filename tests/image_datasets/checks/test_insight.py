"""What the data-set page tells, against definitions and on pools made for each warning."""

import json
from dataclasses import asdict

import numpy as np
import pytest

from image_datasets.checks import insight
from image_datasets.checks.insight import (
    component_layout,
    graph_health,
    graph_layout,
    hardest,
    insight_of,
    map_of,
    most_ambiguous,
    percent,
)
from image_datasets.checks.target import accuracy_of_features
from teaching.engine import Pool


def classes(n=120, distance=2.0, seed=0, share=0.5, d=4):
    """Features (n, d) and labels of two Gaussian classes in random order."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.where(np.arange(n) < share * n, 1.0, -1.0))
    features = rng.normal(size=(n, d))
    features[:, 0] += labels * distance / 2
    return features - features.mean(axis=0), labels


def found_in(features, labels, **more):
    accuracy = accuracy_of_features(features, labels, with_similarity=True)
    names = [f"class {number}" for number in range(accuracy.probabilities.shape[1])]
    return insight_of(Pool(features, labels), accuracy, **{"classes": names} | more)


def of_two(*p):
    """The probabilities of both classes from that of class 1."""
    return np.column_stack([1 - np.array(p), p])


def codes(found):
    return {concern.code for concern in found.warnings}


def test_the_hardest_are_wrong_and_surest_first():
    labels = np.array([1, 1, 0, 0, 1, 0])
    probabilities = of_two(0.1, 0.9, 0.8, 0.2, 0.45, 0.99)
    found = hardest(labels, probabilities)
    assert [example.pool_index for example in found] == [5, 0, 2, 4]
    assert (found[0].label, found[0].said, found[0].probability) == (0, 1, 0.99)
    assert (found[1].label, found[1].said, found[1].probability) == (1, 0, 0.9)
    assert [example.pool_index for example in hardest(labels, probabilities, 1)] == [5]


def test_of_many_classes_the_hardest_are_furthest_from_their_own():
    probabilities = np.array([[0.5, 0.4, 0.1], [0.1, 0.5, 0.4], [0.2, 0.3, 0.5], [0.45, 0.1, 0.45]])
    found = hardest(np.array([1, 0, 2, 0]), probabilities)
    assert [(one.pool_index, one.said) for one in found] == [(1, 1), (0, 0), (3, 2)]
    unsure = most_ambiguous(np.array([1, 0, 2, 0]), probabilities, 2)
    assert [one.pool_index for one in unsure] == [3, 0]


def test_the_most_ambiguous_are_nearest_to_one_half():
    probabilities = of_two(0.1, 0.52, 0.8, 0.45, 0.5)
    found = most_ambiguous(np.array([1, 0, 1, 0, 1]), probabilities, 3)
    assert [example.pool_index for example in found] == [4, 1, 3]


def test_a_shuffled_pool_keeps_its_probabilities():
    features, labels = classes()
    accuracy = accuracy_of_features(features, labels)
    order = np.random.default_rng(5).permutation(len(labels))
    pool = Pool(features[order], labels[order])
    found = insight_of(pool, accuracy, order=order, classes=["a", "b"])
    for example in [*found.hardest, *found.ambiguous]:
        place = order[example.pool_index]
        assert example.label == int(labels[place] > 0)
        expected = accuracy.probabilities[place, example.said]
        assert example.probability == pytest.approx(expected, abs=1e-4)
    assert all(example.said != example.label for example in found.hardest)


def test_the_graph_says_how_many_neighbours_there_are():
    pool = Pool(*classes(40))
    neighbours = (pool.affinity.toarray() > 0).sum(axis=1)
    found = graph_health(pool)
    assert found.homophily_by_chance == 0.5
    assert found.fewest_neighbours == neighbours.min()
    assert found.most_neighbours == neighbours.max()
    assert (found.pieces_before_bridges, found.bridges) == (1, [])


def test_groups_apart_are_counted_and_their_bridges_named():
    features, labels = classes(60, distance=400.0, d=1)
    found = found_in(features, labels)
    assert found.graph.pieces_before_bridges == 2
    (one, other) = found.graph.bridges[0]
    assert labels[one] != labels[other]
    assert "bridges" in codes(found)


def test_the_component_layout_is_the_first_two_singular_vectors():
    features, _ = classes(30)
    left, lengths, _ = np.linalg.svd(features, full_matrices=False)
    found = component_layout(features)
    np.testing.assert_allclose(np.abs(found), np.abs(left[:, :2] * lengths[:2]), atol=1e-8)


def test_the_graph_layout_is_two_smoothest_functions_with_a_fixed_sign():
    features, labels = classes(40)
    pool = Pool(features, labels)
    found = graph_layout(pool)
    walk = pool.affinity.toarray() / pool.degrees[:, None]
    values = np.sort(np.linalg.eigvals(walk).real)[::-1]
    for column in range(2):
        stretched = walk @ found[:, column]
        np.testing.assert_allclose(stretched, values[column + 1] * found[:, column], atol=1e-4)
        assert found[np.abs(found[:, column]).argmax(), column] > 0


def test_the_map_takes_the_layout_that_shows_the_classes_better():
    # The classes differ along the weakest of the features, which the components leave out but the
    # graph, in units of each feature's deviation, does not.
    features, labels = classes(150, distance=30.0)
    features[:, 0] /= 1e3
    found = map_of(Pool(features, labels))
    assert found.method == "graph"
    near = component_layout(features)
    assert near.shape == (150, 2)


def test_the_map_lies_on_the_unit_square_and_is_the_same_every_time():
    features, labels = classes()
    first, second = (map_of(Pool(features, labels)) for _ in range(2))
    assert first == second
    for axis in (first.x, first.y):
        assert (min(axis), max(axis)) == (0, 1)
    assert first.label == (labels > 0).astype(int).tolist()


def test_the_map_of_a_large_pool_shows_some_of_it(monkeypatch):
    monkeypatch.setattr(insight, "POINTS", 50)
    found = map_of(Pool(*classes()))
    assert len(found.x) == len(found.y) == len(found.label) == len(found.pool_index) == 50


@pytest.mark.parametrize(
    ("features", "labels"),
    [
        (np.array([[0.0], [1.0], [0.1], [1.1]]), [-1, 1, -1, 1]),
        (np.ones((12, 3)), np.tile([-1, 1], 6)),
        (np.vstack([np.zeros((6, 2)), np.ones((6, 2))]), np.repeat([-1, 1], 6)),
    ],
)
def test_degenerate_pools_have_a_page_too(features, labels):
    found = found_in(features, np.asarray(labels, dtype=float))
    json.dumps(asdict(found), allow_nan=False)
    assert "few_images" in codes(found)


def test_a_sound_pool_has_no_warnings():
    found = found_in(*classes(300, 2.5))
    assert codes(found) <= {"contradicting"}
    assert found.counts == (150, 150)


def test_a_task_that_neighbours_solve_may_be_too_easy():
    found = found_in(*classes(200, 12.0))
    concern = next(concern for concern in found.warnings if concern.code == "too_easy")
    assert concern.message == ("This task may be too easy: nearest-neighbour accuracy is 100 %.")
    assert concern.remedy


def test_noise_is_at_chance_and_its_graph_is_mixed():
    found = found_in(*classes(200, 0.0, seed=3))
    assert {"at_chance", "mixed_graph"} <= codes(found)


def test_a_weak_concept_is_named():
    assert "weak" in codes(found_in(*classes(600, 0.9)))


def test_few_and_unbalanced_images_are_named_with_their_class():
    found = found_in(*classes(120, 3.0, share=0.2), classes=("cats", "dogs"))
    messages = {concern.code: concern.message for concern in found.warnings}
    assert messages["few_images"] == "There are only 24 teaching images of the class “dogs”."
    assert messages["unbalanced"] == ("The classes are unbalanced: 96 teaching images against 24.")


def test_labels_that_are_surely_wrong_are_pointed_out():
    features, labels = classes(200, 8.0)
    labels[7] *= -1
    found = found_in(features, labels)
    assert found.hardest[0].pool_index == 7
    assert "contradicting" in codes(found)


def test_five_classes_have_a_page():
    rng = np.random.default_rng(0)
    labels = rng.permutation(np.repeat(np.arange(5), [60, 60, 60, 60, 20]))
    features = rng.normal(size=(260, 6))
    features[np.arange(260), labels] += 3
    found = found_in(features - features.mean(axis=0), labels, classes=[*"abcde"])
    assert found.counts == (60, 60, 60, 60, 20)
    assert codes(found) <= {"few_images", "unbalanced", "contradicting"}
    assert set(found.map.label) == {0, 1, 2, 3, 4}
    assert np.sum(found.accuracy["confusion"], axis=1).tolist() == [60, 60, 60, 60, 20]
    assert found.graph.homophily_by_chance == pytest.approx((4 * 60**2 + 20**2) / 260**2, abs=1e-4)


def test_the_page_is_plain_json():
    found = asdict(found_in(*classes(), classes=("cats", "dogs")))
    again = json.loads(json.dumps(found, allow_nan=False))
    assert again["classes"] == ["cats", "dogs"]
    assert again["accuracy"]["low"] < again["accuracy"]["mean"] < again["accuracy"]["high"]
    assert "probabilities" not in again["accuracy"]
    assert set(again["map"]) == {"method", "pool_index", "label", "x", "y"}


@pytest.mark.parametrize(
    ("share", "text"), [(1, "100 %"), (0.999, "99 %"), (0.5, "50 %"), (0.001, "1 %"), (0, "0 %")]
)
def test_a_share_is_rounded_but_never_to_certainty(share, text):
    assert percent(share) == text
