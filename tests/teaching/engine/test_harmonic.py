"""The harmonic estimate, against the paper's padded graph and against closed forms."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teaching.engine import BadAffinity, Pool, Shown, belief, harmonic
from teaching.engine.history import Past
from tests.teaching.engine.builders import (
    answered,
    class_history,
    gaussian_classes,
    graph_pool,
    make_pool,
    many_classes,
    path_graph,
    random_graph,
    random_history,
    star_graph,
)
from tests.teaching.engine.oracles import direct_belief, padded_belief, padded_beliefs

every_solver = pytest.mark.parametrize("paged_limit", [4_000, 0])


@every_solver
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("steps", [1, 5, 40])
def test_belief_is_that_of_the_padded_graph_with_repeats_and_changed_answers(
    monkeypatch, paged_limit, seed, steps
):
    monkeypatch.setattr(harmonic, "PAGED_LIMIT", paged_limit)
    affinity = random_graph(30, seed=seed)
    history = random_history(30, steps, seed=seed)
    expected = padded_belief(affinity, history)
    np.testing.assert_allclose(belief(graph_pool(affinity), history), expected, atol=1e-10)


@every_solver
@pytest.mark.parametrize("k", [3, 5])
@pytest.mark.parametrize("steps", [1, 5, 40])
def test_belief_in_many_classes_is_that_of_one_padded_graph_for_each(
    monkeypatch, paged_limit, k, steps
):
    monkeypatch.setattr(harmonic, "PAGED_LIMIT", paged_limit)
    for seed in range(4):
        affinity = random_graph(30, seed=seed)
        history = class_history(30, steps, k=k, seed=seed)
        features, labels = many_classes(30, 3, k=k, seed=seed)
        found = belief(Pool(features, labels, affinity=affinity), history)
        np.testing.assert_allclose(found, padded_beliefs(affinity, history, k), atol=1e-10)


def test_where_no_label_reaches_many_classes_are_alike():
    affinity = np.zeros((6, 6))
    affinity[:3, :3] = affinity[3:, 3:] = 1 - np.eye(3)
    features, labels = many_classes(6, 2, k=3)
    pool = Pool(features, labels, affinity=affinity)
    assert (belief(pool, []) == 1 / 3).all()
    found = belief(pool, [Shown(0, 2, (0.2, 0.3, 0.5))])
    np.testing.assert_allclose(found[:3], [[0, 0, 1]] * 3, atol=1e-12)
    assert (found[3:] == 1 / 3).all()


def test_belief_on_a_built_graph_is_that_of_the_padded_graph():
    pool = make_pool(200, 10)
    history = random_history(200, 30)
    expected = padded_belief(pool.affinity.toarray(), history)
    np.testing.assert_allclose(belief(pool, history), expected, atol=1e-10)


def test_without_answers_nothing_is_known():
    assert (belief(make_pool(), []) == 0.5).all()


def test_on_a_path_belief_falls_in_a_line_between_opposite_answers():
    # Answers at both ends of a path sit beyond its second and second-last example, so the
    # examples between them climb in equal steps and each end follows its only neighbour.
    n = 7
    p = belief(graph_pool(path_graph(n)), answered((0, -1), (n - 1, 1)))
    # Nodes 1 … n−2 form a chain of n−3 edges with one labelled node tied to either end.
    inner = np.arange(1, n - 2 + 1) / (n - 1)
    np.testing.assert_allclose(p[1:-1], inner, atol=1e-12)
    np.testing.assert_allclose(p[[0, -1]], inner[[0, -1]], atol=1e-12)


def test_on_a_star_every_leaf_believes_what_the_middle_does():
    # Leaves 1, 2 and 3 answered: the middle sees their padded copies and averages them.
    p = belief(graph_pool(star_graph(8)), answered((1, 1), (2, 1), (3, -1)))
    np.testing.assert_allclose(p, 2 / 3, atol=1e-12)


def test_a_taught_middle_of_a_star_reaches_every_leaf_but_not_itself_directly():
    # Each leaf is tied to the middle and to its labelled copy; the middle only to leaves.
    p = belief(graph_pool(star_graph(5)), answered((0, 1)))
    np.testing.assert_allclose(p, 1.0, atol=1e-12)


def test_one_sided_answers_are_believed_everywhere():
    pool = make_pool(30)
    np.testing.assert_allclose(belief(pool, answered((0, 1), (3, 1), (9, 1))), 1.0, atol=1e-9)
    np.testing.assert_allclose(belief(pool, answered((0, -1), (3, -1))), 0.0, atol=1e-9)


def test_a_component_without_answers_stays_at_one_half():
    affinity = np.zeros((6, 6))
    affinity[:3, :3] = affinity[3:, 3:] = 1 - np.eye(3)
    pool = graph_pool(affinity)
    p = belief(pool, answered((0, 1)))
    assert pool.component_count == 2
    np.testing.assert_allclose(p[:3], 1.0, atol=1e-12)
    assert (p[3:] == 0.5).all()


def test_components_with_answers_are_estimated_apart():
    affinity = np.zeros((60, 60))
    affinity[:30, :30] = random_graph(30, seed=1)
    affinity[30:, 30:] = random_graph(30, seed=2)
    history = random_history(60, 25, seed=3)
    expected = padded_belief(affinity, history)
    np.testing.assert_allclose(belief(graph_pool(affinity), history), expected, atol=1e-10)


@every_solver
def test_an_isolated_example_has_one_half_and_tells_nothing(monkeypatch, paged_limit):
    monkeypatch.setattr(harmonic, "PAGED_LIMIT", paged_limit)
    affinity = path_graph(5)
    affinity[4, 3] = affinity[3, 4] = 0
    pool = graph_pool(affinity)
    assert (belief(pool, answered((4, 1))) == 0.5).all()
    p = belief(pool, answered((4, 1), (0, -1)))
    assert p[4] == 0.5
    np.testing.assert_allclose(p[:4], 0.0, atol=1e-12)


def test_the_same_answer_again_changes_nothing():
    pool = make_pool()
    once = answered((3, 1), (8, -1))
    assert (belief(pool, once) == belief(pool, once + answered((3, 1)))).all()


def test_belief_does_not_depend_on_the_stored_estimates():
    pool = make_pool()
    steps = [(3, 1), (8, -1), (12, 1)]
    other = [Shown(example, answer, 0.9) for example, answer in steps]
    assert (belief(pool, answered(*steps)) == belief(pool, other)).all()


def test_a_weakly_tied_example_does_not_blur_the_others():
    affinity = random_graph(25, seed=4)
    affinity[:, 0] *= 1e-9
    affinity[0, :] *= 1e-9
    history = random_history(25, 12, seed=4)
    expected = padded_belief(affinity, history)
    np.testing.assert_allclose(belief(graph_pool(affinity), history), expected, atol=1e-10)


@pytest.mark.parametrize("components", [1, 3])
def test_the_iteration_equals_a_direct_solve(monkeypatch, components):
    monkeypatch.setattr(harmonic, "PAGED_LIMIT", 0)
    monkeypatch.setattr(harmonic, "INVERSE_LIMIT", 0)
    blocks = [random_graph(150, seed=seed, density=0.05) for seed in range(components)]
    n = 150 * components
    affinity = np.zeros((n, n))
    for start, block in zip(range(0, n, 150), blocks, strict=True):
        affinity[start : start + 150, start : start + 150] = block
    history = random_history(n, 12, seed=5)
    reached = np.zeros(n, dtype=bool)
    for step in history:
        reached[step.example // 150 * 150 :][:150] = True
    p = belief(graph_pool(affinity), history)
    inside = np.flatnonzero(reached)
    place = {int(i): position for position, i in enumerate(inside)}
    moved = [Shown(place[s.example], s.answer, s.p) for s in history]
    expected = padded_belief(affinity[np.ix_(inside, inside)], moved)
    np.testing.assert_allclose(p[inside], expected, atol=1e-8)
    assert (p[~reached] == 0.5).all()


@pytest.mark.parametrize("inverse_limit", [0, 10_000])
def test_a_pool_of_thousands_equals_a_direct_solve(monkeypatch, inverse_limit):
    monkeypatch.setattr(harmonic, "INVERSE_LIMIT", inverse_limit)
    pool = Pool(*gaussian_classes(4_500, 3))
    history = random_history(pool.n, 30)
    expected = direct_belief(pool.affinity, history)
    np.testing.assert_allclose(belief(pool, history), expected, atol=1e-8)


@every_solver
def test_a_component_of_tiny_weights_is_estimated_as_well_as_the_others(monkeypatch, paged_limit):
    monkeypatch.setattr(harmonic, "PAGED_LIMIT", paged_limit)
    affinity = np.zeros((40, 40))
    affinity[:20, :20] = random_graph(20, seed=1)
    affinity[20:, 20:] = random_graph(20, seed=2)
    history = random_history(40, 15, seed=3)
    expected = padded_belief(affinity, history)
    affinity[20:, 20:] *= 1e-30
    np.testing.assert_allclose(belief(graph_pool(affinity), history), expected, atol=1e-9)


@every_solver
@pytest.mark.parametrize("scale", [1e-90, 1e90])
def test_the_unit_of_the_weights_does_not_matter(monkeypatch, paged_limit, scale):
    monkeypatch.setattr(harmonic, "PAGED_LIMIT", paged_limit)
    affinity = random_graph(40, seed=1)
    history = random_history(40, 15, seed=3)
    expected = padded_belief(affinity, history)
    np.testing.assert_allclose(belief(graph_pool(affinity * scale), history), expected, atol=1e-9)


def test_an_iteration_that_does_not_converge_gives_way_to_the_shared_inverse(monkeypatch):
    monkeypatch.setattr(harmonic, "PAGED_LIMIT", 0)
    monkeypatch.setattr(harmonic, "MAX_ITERATIONS", 1)
    affinity = random_graph(40, seed=6)
    history = random_history(40, 9, seed=6)
    expected = padded_belief(affinity, history)
    np.testing.assert_allclose(belief(graph_pool(affinity), history), expected, atol=1e-10)


def test_without_an_inverse_a_graph_on_which_nothing_converges_is_refused(monkeypatch):
    monkeypatch.setattr(harmonic, "PAGED_LIMIT", 0)
    monkeypatch.setattr(harmonic, "INVERSE_LIMIT", 0)
    monkeypatch.setattr(harmonic, "MAX_ITERATIONS_ALONE", 1)
    with pytest.raises(BadAffinity, match="raise the weak weights"):
        belief(graph_pool(random_graph(40, seed=6)), random_history(40, 9, seed=6))


def test_far_clusters_on_single_weak_edges_equal_a_direct_solve(monkeypatch):
    monkeypatch.setattr(harmonic, "PAGED_LIMIT", 0)
    monkeypatch.setattr(harmonic, "INVERSE_LIMIT", 0)
    features, labels = gaussian_classes(1_500, 5)
    features += 50 * np.random.default_rng(0).integers(0, 30, 1_500)[:, None]
    pool = Pool(features, labels)
    assert len(pool.bridges) > 20
    for seed in range(4):
        history = random_history(pool.n, 30, seed=seed)
        expected = direct_belief(pool.affinity, history)
        np.testing.assert_allclose(belief(pool, history), expected, atol=1e-8)


@pytest.mark.parametrize(("support", "iterations"), [(0, 300), (0, 1), (10**6, 300)])
def test_every_way_to_solve_a_pool_gives_the_same_belief(monkeypatch, support, iterations):
    monkeypatch.setattr(harmonic, "SMALL_SUPPORT", support)
    monkeypatch.setattr(harmonic, "MAX_ITERATIONS", iterations)
    affinity = random_graph(60, seed=8)
    history = random_history(60, 20, seed=8)
    expected = padded_belief(affinity, history)
    np.testing.assert_allclose(belief(graph_pool(affinity), history), expected, atol=1e-10)


graphs = st.builds(
    random_graph,
    st.integers(4, 14),
    seed=st.integers(0, 10**6),
    density=st.floats(0.05, 0.9),
    connected=st.booleans(),
)
seeds = st.integers(0, 10**6)
quick = settings(max_examples=60, deadline=None)


@quick
@given(graphs, seeds, st.integers(0, 12))
def test_belief_is_a_probability(affinity, seed, steps):
    p = belief(graph_pool(affinity), random_history(len(affinity), steps, seed=seed))
    assert ((p >= 0) & (p <= 1)).all()


@quick
@given(graphs, seeds, st.integers(0, 12))
def test_opposite_answers_give_the_opposite_belief(affinity, seed, steps):
    pool = graph_pool(affinity)
    history = random_history(pool.n, steps, seed=seed)
    flipped = [Shown(s.example, -s.answer, s.p) for s in history]
    np.testing.assert_allclose(belief(pool, flipped), 1 - belief(pool, history), atol=1e-9)


@quick
@given(graphs, seeds, st.integers(0, 12))
def test_renumbering_the_examples_renumbers_the_belief(affinity, seed, steps):
    history = random_history(len(affinity), steps, seed=seed)
    order = np.random.default_rng(seed).permutation(len(affinity))
    place = np.argsort(order)
    moved = [Shown(int(place[s.example]), s.answer, s.p) for s in history]
    renumbered = belief(graph_pool(affinity[np.ix_(order, order)]), moved)
    np.testing.assert_allclose(renumbered, belief(graph_pool(affinity), history)[order], atol=1e-9)


@quick
@given(graphs, seeds, st.integers(1, 12))
def test_the_order_of_answers_to_distinct_examples_does_not_matter(affinity, seed, steps):
    pool = graph_pool(affinity)
    history = random_history(pool.n, min(steps, pool.n), seed=seed, distinct=True)
    shuffled = [history[i] for i in np.random.default_rng(seed).permutation(len(history))]
    assert (belief(pool, history) == belief(pool, shuffled)).all()


@quick
@given(graphs, seeds, st.integers(1, 12))
def test_the_newest_answer_wins(affinity, seed, steps):
    pool = graph_pool(affinity)
    history = random_history(pool.n, steps, seed=seed)
    newest = {s.example: s for s in history}
    assert (belief(pool, history) == belief(pool, list(newest.values()))).all()


def test_votes_are_the_weights_of_the_neighbours_with_each_newest_answer():
    affinity = random_graph(30, seed=0)
    past = Past.read(random_history(30, 40), graph_pool(affinity))
    votes = np.zeros((2, 30))
    for example, answer in zip(past.taught, past.newest, strict=True):
        votes[answer] += affinity[:, example]
    found = harmonic.votes_for(graph_pool(affinity), past)
    np.testing.assert_allclose(found, votes, atol=1e-14)
