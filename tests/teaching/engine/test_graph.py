"""The neighbour graph: who is joined, how strongly, and that it holds together."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from teaching.engine import BadAffinity, Pool, belief, graph, neighbours
from teaching.engine.graph import components_of, neighbour_graph
from tests.teaching.engine.builders import (
    answered,
    gaussian_classes,
    graph_pool,
    make_pool,
    path_graph,
)


def neighbours_by_loop(features, k):
    """The k nearest others of each example after scaling, from all pairs."""
    scaled = features / features.std(axis=0)
    squared = ((scaled[:, None] - scaled[None]) ** 2).sum(axis=2)
    np.fill_diagonal(squared, np.inf)
    return squared, np.argsort(squared, axis=1)[:, :k]


def test_an_edge_joins_two_examples_when_either_is_among_the_nearest_of_the_other():
    features, _ = gaussian_classes(60, 4)
    _, nearest = neighbours_by_loop(features, 10)
    expected = np.zeros((60, 60), dtype=bool)
    expected[np.arange(60)[:, None], nearest] = True
    built = neighbour_graph(features).affinity.toarray()
    np.testing.assert_array_equal(built > 0, expected | expected.T)


def test_weights_fall_with_the_squared_distance_on_the_scale_of_the_data():
    features, _ = gaussian_classes(60, 4)
    squared, nearest = neighbours_by_loop(features, 10)
    scale = np.median(np.take_along_axis(squared, nearest, axis=1)[:, -1])
    built = neighbour_graph(features).affinity.tocoo()
    expected = np.maximum(np.exp(-squared[built.row, built.col] / scale), 1e-4)
    np.testing.assert_allclose(built.data, expected, rtol=1e-12)


def test_blocks_of_rows_and_columns_do_not_show(monkeypatch):
    features, _ = gaussian_classes(203, 5)
    whole = neighbour_graph(features).affinity.toarray()
    for module in (graph, neighbours):
        monkeypatch.setattr(module, "ROWS", 17)
        monkeypatch.setattr(module, "COLUMNS", 23)
    np.testing.assert_allclose(neighbour_graph(features).affinity.toarray(), whole, rtol=1e-10)


def test_the_graph_is_symmetric_without_loops():
    affinity = make_pool(80).affinity.toarray()
    np.testing.assert_array_equal(affinity, affinity.T)
    assert not affinity.diagonal().any()


def test_units_and_offsets_of_the_features_do_not_matter():
    features, _ = gaussian_classes(60, 4)
    plain = neighbour_graph(features).affinity.toarray()
    other = neighbour_graph(features * [1e-3, 1, 50, 1e6] + [5, -3, 0, 1e6]).affinity.toarray()
    np.testing.assert_allclose(other, plain, rtol=1e-6)


def test_a_constant_feature_does_not_matter():
    features, _ = gaussian_classes(60, 4)
    biased = np.column_stack([features, np.full(60, 0.1)])
    np.testing.assert_allclose(
        neighbour_graph(biased).affinity.toarray(),
        neighbour_graph(features).affinity.toarray(),
        rtol=1e-9,
    )


def test_separate_clusters_are_bridged_by_their_nearest_pair():
    left, _ = gaussian_classes(30, 2, seed=1)
    features = np.vstack([left, left + 1000.0, left - 1000.0])
    pool = Pool(features, np.where(np.arange(90) % 2, 1, -1))
    assert pool.component_count == 1
    assert len(pool.bridges) == 2
    for i, j in pool.bridges:
        assert pool.affinity[i, j] == 1e-4
        mine, other = np.arange(90) // 30 == i // 30, np.arange(90) // 30 == j // 30
        gaps = np.linalg.norm(features[mine][:, None] - features[other][None], axis=2)
        assert np.linalg.norm(features[i] - features[j]) == pytest.approx(gaps.min())


def test_a_graph_that_is_connected_already_has_no_bridges():
    assert make_pool(80).bridges.shape == (0, 2)


def test_duplicates_and_zero_rows_break_nothing():
    features, labels = gaussian_classes(60, 4)
    features[:25] = features[0]
    features[30:50] = 0.0
    pool = Pool(features, labels)
    assert pool.component_count == 1
    assert np.isfinite(belief(pool, answered((0, 1), (31, -1)))).all()


@pytest.mark.parametrize("n", [2, 3, 11, 12, 40])
def test_a_pool_of_copies_is_one_clique_of_full_weights(n):
    pool = Pool(np.ones((n, 3)), np.where(np.arange(n) % 2, 1, -1))
    assert pool.component_count == 1
    assert set(pool.affinity.data) == {1.0}


@settings(max_examples=40, deadline=None)
@given(
    st.integers(2, 40),
    st.integers(1, 4),
    st.integers(0, 10**6),
    st.sampled_from([0, 1, 3]),
)
def test_a_built_graph_is_always_connected(n, d, seed, decimals):
    # Few decimals make duplicates and constant features.
    features = np.round(np.random.default_rng(seed).standard_normal((n, d)) ** 3, decimals)
    built = neighbour_graph(features)
    assert components_of(built.affinity).max() == 0
    assert ((built.affinity.data > 0) & (built.affinity.data <= 1)).all()


# Graphs from elsewhere.


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.coo_matrix, np.array, np.ndarray.tolist])
def test_a_graph_may_come_dense_or_sparse(form):
    pool = graph_pool(path_graph(6))
    given_graph = Pool(pool.features, pool.labels, affinity=form(path_graph(6)))
    np.testing.assert_array_equal(given_graph.affinity.toarray(), path_graph(6))
    assert given_graph.bridges.shape == (0, 2)


def test_a_given_graph_keeps_its_components():
    affinity = path_graph(6)
    affinity[2, 3] = affinity[3, 2] = 0
    pool = graph_pool(affinity)
    assert pool.components.tolist() == [0, 0, 0, 1, 1, 1]


def test_rounding_differences_across_the_diagonal_are_averaged():
    affinity = path_graph(6)
    affinity[0, 1] += 1e-8
    pool = graph_pool(affinity)
    assert pool.affinity[0, 1] == pool.affinity[1, 0]


def test_edges_below_rounding_are_dropped():
    affinity = path_graph(6)
    affinity[2, 3] = affinity[3, 2] = 1e-14
    assert graph_pool(affinity).component_count == 2


def skewed():
    affinity = path_graph(6)
    affinity[0, 1] = 2.0
    return affinity


def spoiled(value):
    affinity = path_graph(6)
    affinity[2, 3] = affinity[3, 2] = value
    return affinity


@pytest.mark.parametrize(
    "affinity, remedy",
    [
        (path_graph(5), "need"),
        (np.ones((6, 5)), "need"),
        (np.ones(6), "matrix"),
        ("words", "matrix"),
        (skewed(), "average it"),
        (spoiled(-1.0), "0 or above"),
        (spoiled(np.nan), "finite"),
        (spoiled(np.inf), "finite"),
        (path_graph(6) * 1e-200, "divide"),
        (path_graph(6) * 1e200, "divide"),
    ],
)
def test_an_affinity_that_is_no_graph_is_refused_with_the_remedy(affinity, remedy):
    features, labels = gaussian_classes(6, 3)
    with pytest.raises(BadAffinity, match=remedy):
        Pool(features, labels, affinity=affinity)


def test_groups_tied_too_weakly_to_compute_with_are_refused_with_the_remedy():
    # Every edge counts at its own ends, but the strong pair in either group hangs together
    # 10¹⁸ times as strongly as the groups do.
    affinity = np.zeros((6, 6))
    edges = [(0, 1, 1.0), (1, 2, 1e6), (0, 3, 2e-12), (3, 4, 1.0), (4, 5, 1e6)]
    for i, j, weight in edges:
        affinity[i, j] = affinity[j, i] = weight
    pool = graph_pool(affinity)
    assert pool.component_count == 1
    with pytest.raises(BadAffinity, match="raise the weak weights"):
        belief(pool, answered((0, 1)))
