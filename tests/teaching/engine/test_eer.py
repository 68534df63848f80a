"""Expected error reduction, against the definition by loop."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teaching.engine import (
    Pool,
    PoolExhausted,
    PoolTooLarge,
    Shown,
    SimulatedLearner,
    make_teacher,
    teach,
)
from teaching.engine.teachers import eer as eer_file
from tests.teaching.engine.builders import (
    answered,
    class_history,
    graph_pool,
    make_pool,
    many_classes,
    path_graph,
    random_graph,
    random_history,
    star_graph,
)
from tests.teaching.engine.oracles import class_risks, eer_risks, harmonic_on_unseen


def eer(**options):
    return make_teacher("eer", **options)


def assert_same_risks(pool, history):
    scores = eer(cold_start=0).scores(pool, history)
    expected = eer_risks(pool.affinity.toarray(), pool.labels, history)
    unseen = sorted(expected)
    np.testing.assert_allclose(scores[unseen], [expected[i] for i in unseen], atol=1e-8)
    assert set(np.flatnonzero(np.isinf(scores))) == {s.example for s in history}


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("steps", [1, 2, 9, 28])
def test_scores_are_the_risks_of_the_loop(seed, steps):
    assert_same_risks(graph_pool(random_graph(24, seed=seed)), random_history(24, steps, seed=seed))


@pytest.mark.parametrize("k", [3, 5])
@pytest.mark.parametrize("steps", [1, 2, 9, 20])
def test_scores_of_many_classes_are_the_risks_of_the_loop(k, steps):
    for seed in range(3):
        features, labels = many_classes(24, 3, k=k, seed=seed)
        affinity = np.zeros((24, 24))
        affinity[:9, :9] = random_graph(9, seed=seed)
        affinity[9:, 9:] = random_graph(15, seed=seed)
        history = class_history(24, steps, k=k, seed=seed)
        history += class_history(9, 1, k=k, seed=seed)
        history += [Shown(15, 1, (1 / k,) * k)]
        pool = Pool(features, labels, affinity=affinity)
        scores = eer(cold_start=0).scores(pool, history)
        expected = class_risks(affinity, labels, history, k)
        unseen = sorted(expected)
        np.testing.assert_allclose(scores[unseen], [expected[i] for i in unseen], atol=1e-8)


def test_scores_on_a_built_graph_are_the_risks_of_the_loop():
    assert_same_risks(make_pool(70, 6), random_history(70, 20))


def test_scores_with_several_labelled_components_are_the_risks_of_the_loop():
    affinity = np.zeros((30, 30))
    affinity[:18, :18] = random_graph(18, seed=1)
    affinity[18:, 18:] = random_graph(12, seed=2)
    history = [*random_history(18, 6, seed=1), *answered((20, 1), (25, -1), (20, -1))]
    assert_same_risks(graph_pool(affinity), history)


def test_answers_that_all_agree_still_give_a_ranking():
    pool = make_pool(40)
    history = answered(*[(i, 1) for i in range(5)])
    assert_same_risks(pool, history)


def test_weakly_tied_examples_do_not_spoil_the_ranking():
    affinity = random_graph(24, seed=3)
    affinity[:, 0] *= 1e-7
    affinity[0, :] *= 1e-7
    assert_same_risks(graph_pool(affinity), answered((0, 1), (5, -1), (9, 1)))


def test_a_label_in_an_untouched_component_is_believed_throughout_it():
    # Two pairs; nothing is known of the second. One label there settles both of its examples.
    affinity = np.zeros((4, 4))
    affinity[0, 1] = affinity[1, 0] = affinity[2, 3] = affinity[3, 2] = 1.0
    pool = graph_pool(affinity, labels=[1, 1, -1, -1])
    scores = eer(cold_start=0).scores(pool, answered((0, 1)))
    # Now: example 1 is believed right, 2 and 3 are at one half each.
    np.testing.assert_allclose(scores[1:], [1.0, 0.0, 0.0], atol=1e-12)


def test_with_no_answers_at_all_a_choice_is_made():
    choice = eer(cold_start=0).choose(make_pool(20), [], np.random.default_rng(0))
    assert choice.p == 0.5


def test_on_a_path_the_middle_label_tells_most():
    # All labels beyond an end are +1 and that end was answered −1: the belief falls to 0 everywhere, and a
    # +1 at k lifts everything beyond k to 1 and the way there in a line.
    n = 9
    pool = graph_pool(path_graph(n), labels=[-1] + [1] * (n - 1))
    scores = eer(cold_start=0).scores(pool, answered((0, -1)))
    k = np.arange(1, n)
    risk_left_of_k = (k - 1) / 2
    np.testing.assert_allclose(scores[1:], risk_left_of_k, atol=1e-10)


def test_on_a_star_the_middle_tells_most():
    n = 8
    pool = graph_pool(star_graph(n), labels=[1, 1, 1, -1, 1, 1, 1, 1])
    scores = eer(cold_start=0).scores(pool, answered((3, -1)))
    assert int(np.argmin(scores)) == 0
    # The middle believed, all leaves follow it; a leaf believed, the middle is at one half.
    np.testing.assert_allclose(scores[0], 0.0, atol=1e-12)
    np.testing.assert_allclose(scores[1], 0.5 + 0.5 * (n - 3), atol=1e-12)


def test_the_estimate_is_one_hot_on_the_taught_and_harmonic_on_the_others():
    pool = graph_pool(random_graph(20, seed=5))
    history = random_history(20, 7, seed=5)
    believed = {s.example: float(s.answer > 0) for s in history}
    expected = harmonic_on_unseen(pool.affinity.toarray(), believed)
    choice = eer(cold_start=0).choose(pool, history, np.random.default_rng(0))
    assert choice.p == pytest.approx(expected[choice.example], abs=1e-10)
    assert choice.diversity is None


def test_a_used_up_pool_has_a_name():
    pool = make_pool(6)
    learner = SimulatedLearner(np.zeros(4))
    history = teach(eer(), pool, learner, steps=6, rng=np.random.default_rng(0))
    assert sorted(s.example for s in history) == list(range(6))
    with pytest.raises(PoolExhausted, match="larger pool"):
        eer().choose(pool, history, np.random.default_rng(0))


def test_a_pool_too_large_is_refused_with_a_remedy(monkeypatch):
    monkeypatch.setattr(eer_file, "INVERSE_LIMIT", 10)
    with pytest.raises(PoolTooLarge, match="another teacher or a smaller pool"):
        eer().choose(make_pool(11), [], np.random.default_rng(0))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(4, 14))
def test_eer_never_repeats(seed, n):
    pool = graph_pool(random_graph(n, seed=seed, density=0.2, connected=bool(seed % 2)))
    rng = np.random.default_rng(seed)
    learner = SimulatedLearner(np.zeros(3), answers="bernoulli", rng=rng)
    history = teach(eer(), pool, learner, steps=n, rng=rng)
    assert sorted(s.example for s in history) == list(range(n))
