"""JEDI with the harmonic estimate, against its formula written out."""

import numpy as np
import pytest

from teaching.engine import LearningRate, Shown, belief, make_teacher, teach
from teaching.engine.learners.paper import SimulatedLearner
from tests.teaching.engine.builders import (
    answered,
    class_history,
    class_pool,
    make_pool,
    random_history,
)
from tests.teaching.engine.oracles import class_score, jedi_score, padded_beliefs

RATE = LearningRate(0.7, 20)


def jedi(**settings):
    return make_teacher("jedi", **({"beta": 0.75, "learning_rate": RATE} | settings))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("beta", [0.0, 0.368, 0.75, 0.999])
def test_scores_are_the_objective_written_out(seed, beta):
    pool = make_pool(30, 5, seed=seed)
    history = random_history(30, 17, seed=seed)
    scores = jedi(beta=beta, repeat_window=0).scores(pool, history)
    p, eta = belief(pool, history), RATE(len(history) + 1)
    expected = [jedi_score(pool, history, p, i, beta=beta, eta=eta) for i in range(pool.n)]
    np.testing.assert_allclose(scores, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("beta", [0.0, 0.75])
def test_scores_of_many_classes_are_the_objective_written_out(k, beta):
    for seed in range(3):
        pool = class_pool(30, 5, k=k, seed=seed)
        history = class_history(30, 17, k=k, seed=seed)
        scores = jedi(beta=beta, repeat_window=0).scores(pool, history)
        believed = padded_beliefs(pool.affinity.toarray(), history, k)
        eta = RATE(len(history) + 1)
        expected = [
            class_score(pool, history, believed, i, beta=beta, eta=eta) for i in range(pool.n)
        ]
        np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-9)


def test_the_choice_is_the_least_score_and_says_why():
    pool = make_pool(30, 5)
    history = random_history(30, 9)
    choice = jedi(repeat_window=0).choose(pool, history, np.random.default_rng(0))
    scores = jedi(repeat_window=0).scores(pool, history)
    assert choice.example == int(np.argmin(scores))
    assert choice.score == scores.min()
    assert choice.diversity - choice.usefulness == pytest.approx(choice.score)
    assert choice.p == belief(pool, history)[choice.example]
    assert choice.f == pytest.approx(1 - choice.p if pool.labels[choice.example] > 0 else choice.p)
    assert choice.learning_rate == RATE(10)
    assert not choice.is_cold_start


def test_momentum_uses_the_estimates_stored_with_the_steps():
    pool = make_pool(30, 5)
    history = random_history(30, 9)
    certain = [Shown(s.example, s.answer, 0.9) for s in history]
    assert not np.allclose(jedi().scores(pool, history), jedi().scores(pool, certain))


def test_the_newest_step_weighs_most_in_the_momentum():
    pool = make_pool(30, 5)
    steps = random_history(30, 8, distinct=True)
    turned = [steps[-1], *steps[1:-1], steps[0]]
    assert (belief(pool, steps) == belief(pool, turned)).all()
    assert not np.allclose(jedi().scores(pool, steps), jedi().scores(pool, turned))


def test_one_sided_answers_give_finite_scores():
    pool = make_pool(30, 5)
    history = answered(*[(i, 1) for i in range(6)])
    scores = jedi(repeat_window=0).scores(pool, history)
    assert np.isfinite(scores).all()


@pytest.mark.parametrize(
    "beta, window", [(0.0, 2), (0.368, 3), (0.5, 4), (0.75, 8), (0.875, 16), (0.999, 29)]
)
def test_the_default_window_is_twice_the_memory(beta, window):
    pool = make_pool(30)
    history = random_history(30, 60, distinct=False)
    left_out = np.isinf(jedi(beta=beta).scores(pool, history))
    assert set(np.flatnonzero(left_out)) == {s.example for s in history[-window:]}


def test_older_examples_come_back():
    pool = make_pool(12, 3)
    learner = SimulatedLearner(np.zeros(3), beta=0.5, answers="bernoulli")
    history = teach(jedi(beta=0.5), pool, learner, steps=40, rng=np.random.default_rng(0))
    examples = [s.example for s in history]
    assert len(set(examples)) < len(examples)
    for t in range(5, 40):
        assert examples[t] not in examples[max(t - 4, 0) : t]
