"""The simulated learner and its learning rate."""

import numpy as np
import pytest

from teaching.engine import BadSetting, LearningRate, SimulatedLearner
from teaching.engine.learners.paper import error_probability


def test_the_learning_rate_falls_as_the_paper_says():
    rate = LearningRate(initial=0.03, decay=20)
    assert rate(0) == 0.03
    assert rate(20) == pytest.approx(0.015)
    assert rate(30) == pytest.approx(0.03 * 20 / 50)


def test_an_infinite_decay_keeps_the_learning_rate():
    assert LearningRate(0.5, float("inf"))(1000) == 0.5


@pytest.mark.parametrize("initial, decay", [(0, 20), (-1, 20), (float("nan"), 20), (0.03, 0)])
def test_a_learning_rate_that_is_not_positive_is_refused(initial, decay):
    with pytest.raises(BadSetting, match="above 0"):
        LearningRate(initial, decay)


def test_two_updates_follow_the_papers_equations():
    learner = SimulatedLearner([0.5, -0.25], beta=0.6, learning_rate=LearningRate(0.1, 20))
    x1, y1, x2, y2 = np.array([1.0, 2.0]), 1, np.array([-1.0, 0.5]), -1
    w0 = np.array([0.5, -0.25])
    v1 = -y1 * x1 / (1 + np.exp(y1 * w0 @ x1))
    w1 = w0 - 0.1 * 20 / 21 * v1
    v2 = 0.6 * v1 - y2 * x2 / (1 + np.exp(y2 * w1 @ x2))
    w2 = w1 - 0.1 * 20 / 22 * v2
    learner.learn(x1, 1)
    learner.learn(x2, 0)
    np.testing.assert_allclose(learner.momentum, [-v2, v2], atol=1e-15)
    np.testing.assert_allclose(learner.concept, [-w2 / 2, w2 / 2], atol=1e-15)
    assert learner.t == 2


def test_updates_of_many_classes_follow_the_equations_class_by_class():
    rng = np.random.default_rng(3)
    concept, momentum = rng.standard_normal((4, 3)), np.zeros((4, 3))
    learner = SimulatedLearner(concept, beta=0.6, learning_rate=LearningRate(0.1, 20))
    for t in range(1, 6):
        x, label = rng.standard_normal(3), int(rng.integers(4))
        powers = [np.exp(concept[c] @ x) for c in range(4)]
        for c in range(4):
            slope = powers[c] / sum(powers) - (c == label)
            momentum[c] = 0.6 * momentum[c] + slope * x
        concept = concept - 0.1 * 20 / (20 + t) / 2 * momentum
        learner.learn(x, label)
    np.testing.assert_allclose(learner.momentum, momentum, atol=1e-14)
    np.testing.assert_allclose(learner.concept, concept, atol=1e-14)


def test_answers_of_many_classes_come_as_often_as_their_probabilities():
    concept = np.log([[0.5], [0.2], [0.3]])
    learner = SimulatedLearner(concept, answers="bernoulli", rng=np.random.default_rng(0))
    answers = [learner.answer(np.ones(1)) for _ in range(4000)]
    np.testing.assert_allclose(np.bincount(answers) / 4000, [0.5, 0.2, 0.3], atol=0.03)
    np.testing.assert_allclose(learner.probabilities(np.ones(1)), [0.5, 0.2, 0.3])


def test_a_tie_is_answered_plus():
    assert SimulatedLearner([0.0, 0.0]).answer(np.array([1.0, 1.0])) == 1


def test_a_deterministic_learner_answers_by_the_side_of_its_plane():
    learner = SimulatedLearner([1.0])
    assert [learner.answer(np.array([x])) for x in (2.0, -2.0)] == [1, 0]


def test_a_bernoulli_learner_answers_with_its_probability():
    learner = SimulatedLearner([1.0], answers="bernoulli", rng=np.random.default_rng(0))
    answers = [learner.answer(np.array([1.0])) for _ in range(4000)]
    assert np.mean(np.array(answers) > 0) == pytest.approx(1 / (1 + np.exp(-1)), abs=0.03)


def test_noise_falls_on_the_concept_after_learning():
    noisy = SimulatedLearner(np.zeros(500), noise=0.2, rng=np.random.default_rng(0))
    plain = SimulatedLearner(np.zeros(500))
    for learner in (noisy, plain):
        learner.learn(np.ones(500), 1)
    fallen = noisy.concept - plain.concept
    assert np.std(fallen[1] - fallen[0]) == pytest.approx(0.2, rel=0.15)
    np.testing.assert_array_equal(noisy.momentum, plain.momentum)


def test_a_learner_keeps_its_own_copy_of_the_concept():
    start = np.zeros(2)
    SimulatedLearner(start).learn(np.ones(2), 1)
    assert not start.any()


def test_a_confident_learner_overflows_nowhere():
    learner = SimulatedLearner([1e6])
    learner.learn(np.array([1e3]), 0)
    assert np.isfinite(learner.concept).all()
    assert learner.probabilities(np.array([1e3])).tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    "settings",
    [{"beta": 1.0}, {"beta": -0.1}, {"noise": -1.0}, {"answers": "guess"}, {"beta": float("nan")}],
)
def test_a_learner_outside_its_ranges_is_refused(settings):
    with pytest.raises(BadSetting):
        SimulatedLearner([0.0], **settings)


@pytest.mark.parametrize(
    "concept", [[[0.0]], [np.nan], 3.0, np.zeros((21, 2)), np.zeros((2, 2, 2))]
)
def test_a_concept_that_is_no_finite_matrix_of_some_classes_is_refused(concept):
    with pytest.raises(BadSetting, match="classes"):
        SimulatedLearner(concept)


def test_the_error_probability_is_the_chance_of_the_other_answer():
    p = np.array([0.2, 0.2, 0.0, 1.0])
    f = error_probability(np.column_stack([1 - p, p]), np.array([1, 0, 1, 1]))
    np.testing.assert_allclose(f, [0.8, 0.2, 1 - 1e-6, 1e-6])
