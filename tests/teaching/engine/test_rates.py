"""The suggested learning rate: simulated learners get somewhere at it, on any scale."""

import time

import numpy as np
import pytest

from teaching.engine import (
    BadSetting,
    LearningRate,
    Pool,
    SimulatedLearner,
    make_teacher,
    suggest_learning_rate,
    teach,
)
from teaching.engine.classes import concept_vector, likeliest
from tests.teaching.engine.builders import gaussian_classes, make_pool


def accuracy_after(pool, initial, *, name="jedi", learners=8):
    """Mean accuracy on the pool of learners who start anywhere and see 30 examples."""
    rate = LearningRate(initial)
    reached = []
    for seed in range(learners):
        rng = np.random.default_rng(seed)
        length = np.linalg.norm(concept_vector(pool.target))
        start = rng.standard_normal(pool.dimensions) * length / 10
        learner = SimulatedLearner(start, beta=0.5, learning_rate=rate, rng=rng)
        teacher = make_teacher(name, beta=0.5, learning_rate=rate)
        teach(teacher, pool, learner, steps=30, rng=rng)
        reached.append(np.mean(likeliest(pool.features @ learner.concept.T) == pool.labels))
    return np.mean(reached)


@pytest.mark.parametrize("scale", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("name", ["jedi", "rt"])
def test_a_learner_comes_close_to_the_target_at_the_suggested_rate(scale, name):
    features, labels = gaussian_classes(150, 10, apart=1.5)
    pool = Pool(scale * (features - features.mean(axis=0)), labels)
    best = np.mean(likeliest(pool.features @ pool.target.T) == pool.labels)
    suggested = suggest_learning_rate(pool)
    reached = accuracy_after(pool, suggested, name=name)
    assert reached > 0.5 + 0.7 * (best - 0.5)
    # A hundredth of it moves nobody, and a hundred times as much gains nothing.
    assert accuracy_after(pool, suggested / 100, name=name) < 0.5 + 0.35 * (best - 0.5)
    assert accuracy_after(pool, suggested * 100, name=name) < reached + 0.03


def test_the_default_rate_fails_where_the_suggested_one_works():
    features, labels = gaussian_classes(150, 10, apart=1.5)
    pool = Pool(0.01 * (features - features.mean(axis=0)), labels)
    assert accuracy_after(pool, LearningRate().initial) < 0.6
    assert accuracy_after(pool, suggest_learning_rate(pool)) > 0.8


def test_the_rule_is_the_way_over_the_steps():
    pool = make_pool(40, 4)
    length = np.sqrt((pool.features**2).sum(axis=1).mean()) / 2
    steps = sum(20 / (20 + t) for t in range(1, 31))
    expected = np.linalg.norm(concept_vector(pool.target)) / (length * steps)
    assert suggest_learning_rate(pool) == pytest.approx(expected)


def test_a_longer_session_needs_a_smaller_rate():
    pool = make_pool(40, 4)
    assert suggest_learning_rate(pool, steps=60) < suggest_learning_rate(pool, steps=20)


def test_a_pool_with_nothing_to_learn_keeps_the_default():
    pool = Pool(np.zeros((6, 2)), [1, -1] * 3)
    assert suggest_learning_rate(pool) == LearningRate().initial


def test_a_session_without_steps_is_refused():
    with pytest.raises(BadSetting):
        suggest_learning_rate(make_pool(10), steps=0)


def test_a_suggestion_takes_no_time():
    pool = make_pool(1000, 20)
    started = time.process_time()
    first = suggest_learning_rate(pool)
    assert time.process_time() - started < 1
    assert suggest_learning_rate(pool) == first
