"""Faults that earlier code of this kind had, each kept out by name."""

import numpy as np
import pytest

from teaching.engine import BadPool, Pool, belief, make_teacher
from tests.teaching.engine.builders import (
    answered,
    gaussian_classes,
    graph_pool,
    make_pool,
    path_graph,
    random_graph,
    random_history,
)
from tests.teaching.engine.oracles import eer_risks, padded_belief


def test_fault_1_no_label_map_turns_every_label_into_plus_one():
    features, labels = gaussian_classes(20)
    numbers = ((labels + 1) // 2).tolist()
    assert Pool(features, labels).labels.tolist() == numbers
    assert Pool(features, numbers).labels.tolist() == numbers
    with pytest.raises(BadPool, match="Class 0 of 2 has no example"):
        Pool(features, np.ones(20))


def test_fault_1_a_minus_answer_is_not_counted_as_plus():
    assert belief(make_pool(20), answered((0, -1), (1, -1))).max() < 1e-9


@pytest.mark.parametrize("name", ["jedi", "imt", "tracked"])
def test_fault_2_no_off_by_one_slice_makes_a_choice_raise(name):
    pool = make_pool(12)
    for steps in range(30):
        history = random_history(12, steps, seed=steps)
        choice = make_teacher(name, beta=0.8).choose(pool, history, np.random.default_rng(0))
        assert 0 <= choice.example < 12


@pytest.mark.parametrize("name", ["jedi", "imt", "eer", "tracked"])
def test_fault_3_the_best_candidate_is_the_one_shown(name):
    pool = make_pool(60)
    for seed in range(20):
        history = random_history(60, 10, seed=seed)
        teacher = make_teacher(name, beta=0.7)
        scores = teacher.scores(pool, history)
        choice = teacher.choose(pool, history, np.random.default_rng(seed))
        assert choice.example == min(range(60), key=lambda i: (scores[i], i))


def test_fault_3_ties_go_to_the_lowest_index():
    # Four copies of each example: equal scores wherever the graph is symmetric.
    pool = Pool([[1.0]] * 4 + [[-1.0]] * 4, [1] * 4 + [-1] * 4, affinity=1 - np.eye(8))
    scores = make_teacher("imt", cold_start=0).scores(pool, [])
    assert np.unique(scores).size == 1
    choice = make_teacher("imt", cold_start=0).choose(pool, [], np.random.default_rng(0))
    assert choice.example == 0


def test_fault_4_the_newest_answer_counts_not_the_first():
    pool = make_pool(20)
    changed = answered((4, 1), (7, -1), (4, -1))
    assert (belief(pool, changed) == belief(pool, answered((4, -1), (7, -1)))).all()
    assert not np.allclose(belief(pool, changed), belief(pool, answered((4, 1), (7, -1))))


def test_fault_5_a_sub_matrix_is_read_not_a_diagonal():
    affinity = random_graph(20, seed=1)
    history = answered((11, 1), (3, -1), (17, 1), (5, -1))
    p = belief(graph_pool(affinity), history)
    np.testing.assert_allclose(p, padded_belief(affinity, history), atol=1e-10)


def test_fault_5_a_self_loop_does_not_link_an_example_to_its_own_answer():
    affinity = path_graph(6)
    looped = affinity + 5 * np.eye(6)
    history = answered((2, 1), (4, -1))
    assert (belief(graph_pool(looped), history) == belief(graph_pool(affinity), history)).all()


def test_fault_6_eer_returns_an_index_into_the_pool():
    pool = graph_pool(random_graph(20, seed=2))
    for seed in range(10):
        # Low indices are taken, so a position among the unseen is never an index.
        history = answered(*[(i, (-1) ** (i + seed)) for i in range(8)])
        choice = make_teacher("eer").choose(pool, history, np.random.default_rng(seed))
        risks = eer_risks(pool.affinity.toarray(), pool.labels, history)
        assert choice.example == min(risks, key=lambda i: risks[i])


@pytest.mark.parametrize("name", ["jedi", "imt", "eer", "rt", "tracked"])
def test_fault_7_five_random_images_not_six(name):
    pool = make_pool(40)
    teacher = make_teacher(name, beta=0.7)
    cold = [
        teacher.choose(pool, random_history(40, t), np.random.default_rng(t)).is_cold_start
        for t in range(8)
    ]
    assert cold == [True] * 5 + [False] * 3


@pytest.mark.parametrize("name", ["jedi", "imt", "eer", "tracked"])
def test_fault_7_the_sixth_choice_does_not_depend_on_chance(name):
    pool = make_pool(40)
    history = random_history(40, 5, distinct=True)
    teacher = make_teacher(name, beta=0.7)
    assert (
        len({teacher.choose(pool, history, np.random.default_rng(s)).example for s in range(9)})
        == 1
    )
