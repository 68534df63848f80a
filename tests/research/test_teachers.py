"""Teachers for experiments: Algorithm 1, against a simulation of the learner's update for every candidate, and SGD."""

import numpy as np
import pytest

from research.teachers import SGD, OmniscientJEDI
from teaching.engine import LearningRate, SimulatedLearner, make_worker, teach
from tests.teaching.engine.builders import class_pool, make_pool
from tests.teaching.engine.oracles import distance_after_update


@pytest.mark.parametrize("beta", [0.0, 0.5, 0.75, 0.9])
@pytest.mark.parametrize("k", [2, 3, 5])
def test_the_choice_is_the_one_that_brings_the_learner_closest(beta, k):
    pool = class_pool(25, 4, k=k, apart=0.5)
    rate = LearningRate(0.4, 20)
    rng = np.random.default_rng(k)
    first = rng.standard_normal((k, 4))
    learner = SimulatedLearner(first, beta=beta, learning_rate=rate, noise=0.05)
    teacher = OmniscientJEDI(learner=learner, beta=beta, learning_rate=rate)
    history = []
    for t in range(1, 21):
        after = np.array(
            [distance_after_update(pool, learner, i, beta=beta, eta=rate(t)) for i in range(pool.n)]
        )
        scores = teacher.scores(pool, history)
        constant = after - scores
        np.testing.assert_allclose(constant, constant[0], atol=1e-10)
        assert int(np.argmin(scores)) == int(np.argmin(after))
        choice = teacher.choose(pool, history, rng)
        x = pool.features[choice.example]
        history.append(choice.answered(learner.answer(x)))
        learner.learn(x, int(pool.labels[choice.example]))


def test_an_omniscient_teacher_beats_chance_by_far():
    pool = make_pool(100, 6)
    rate = LearningRate(0.5, 20)
    distances = {}
    for name, beta in (("memoryless", 0.0), ("with memory", 0.75)):
        learner = SimulatedLearner(np.zeros(6), beta=beta, learning_rate=rate)
        teacher = OmniscientJEDI(learner=learner, beta=beta, learning_rate=rate)
        teach(teacher, pool, learner, steps=60, rng=np.random.default_rng(0))
        distances[name] = np.linalg.norm(learner.concept - pool.target)
    assert max(distances.values()) < 0.35 * np.linalg.norm(pool.target)


def test_the_parts_add_up():
    pool = make_pool(25, 4)
    learner = SimulatedLearner(np.ones(4), beta=0.5)
    learner.learn(pool.features[0], int(pool.labels[0]))
    choice = OmniscientJEDI(learner=learner, beta=0.5).choose(pool, [], np.random.default_rng(0))
    assert choice.score == pytest.approx(choice.diversity - choice.usefulness)
    assert choice.p == learner.probabilities(pool.features)[choice.example, 1]


def test_sgd_is_random_from_the_first_step_and_keeps_no_estimate():
    pool = make_pool(30)
    learner = SimulatedLearner(np.zeros(4))
    history = teach(SGD(), pool, learner, steps=200, rng=np.random.default_rng(0))
    assert {s.p for s in history} == {0.5}
    first_five = {s.example for s in history[:5]}
    assert len({s.example for s in history}) == 30
    assert len(first_five) >= 3


def test_an_omniscient_teacher_reads_the_learner_inside_a_worker():
    pool, rate = make_pool(60, 4), LearningRate(0.5, 20)
    one = make_worker(pool, beta=0.5, learning_rate=rate, seed=1)
    before = np.linalg.norm(one.learner.concept - pool.target)
    teacher = OmniscientJEDI(learner=one.learner, beta=0.5, learning_rate=rate)
    teach(teacher, pool, one, steps=40, rng=np.random.default_rng(0))
    assert np.linalg.norm(one.learner.concept - pool.target) < 0.7 * before
