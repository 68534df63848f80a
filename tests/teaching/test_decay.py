"""The memory decay that fits the answers of a session: against brute force and known learners."""

import numpy as np
import pytest
from scipy.stats import chi2

from teaching import decay
from teaching.engine import LearningRate, SimulatedLearner


def taught(beta: float, steps: int, seed: int, factor: float = 1.0, classes: int = 2):
    """Examples, classes and answers of a learner with a known β, who draws its answers."""
    rng = np.random.default_rng(seed)
    rate = LearningRate(0.6)
    features = rng.normal(size=(steps, 3))
    concept = np.outer(np.linspace(-1, 1, classes), [1.0, -1.0, 0.5])
    labels = (features @ concept.T).argmax(axis=1)
    if classes > 2:
        labels = rng.integers(classes, size=steps)
    learner = SimulatedLearner(
        np.zeros((classes, 3)),
        beta=beta,
        learning_rate=LearningRate(0.6 * factor),
        answers="bernoulli",
        rng=rng,
    )
    answers = []
    for x, label in zip(features, labels, strict=True):
        answers.append(learner.answer(x))
        learner.learn(x, int(label))
    return features, labels, np.array(answers), rate, classes


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_the_likelihood_is_that_of_the_learner_run_step_by_step(classes):
    features, labels, answers, rate, _ = told = taught(0.5, 12, seed=1, classes=classes)
    surface = decay.log_likelihoods(*told)
    for i, j in ((0, 2), (20, 2), (38, 4), (10, 0)):
        slow = LearningRate(rate.initial * decay.RATES[j], rate.decay)
        start = np.zeros((classes, 3))
        learner = SimulatedLearner(start, beta=decay.BETAS[i], learning_rate=slow)
        total = 0.0
        for x, label, answer in zip(features, labels, answers, strict=True):
            p = learner.probabilities(x)[answer]
            total += np.log(decay.GUESS / classes + (1 - decay.GUESS) * p)
            learner.learn(x, int(label))
        assert surface[i, j] == pytest.approx(total, abs=1e-10)


def test_intervals_hold_the_true_decay_about_as_often_as_they_say():
    fits = [decay.fit_decay(*taught(0.75, 80, seed)) for seed in range(40)]
    inside = sum(fit.low <= 0.75 <= fit.high for fit in fits)
    assert inside >= 34
    assert all(fit.low <= fit.beta <= fit.high for fit in fits)


def test_many_answers_find_the_decay_and_the_rate():
    quick = [decay.fit_decay(*taught(0.0, 400, seed)) for seed in range(8)]
    slow = [decay.fit_decay(*taught(0.9, 400, seed)) for seed in range(8)]
    assert np.mean([fit.beta for fit in slow]) - np.mean([fit.beta for fit in quick]) > 0.3


def test_answers_of_a_coin_prefer_no_decay():
    rng = np.random.default_rng(4)
    features, labels, _, rate, _ = taught(0.5, 6, seed=3)
    fit = decay.fit_decay(features * 1e-9, labels, rng.integers(2, size=6), rate)
    assert fit.tells_nothing
    assert fit.log_likelihood == pytest.approx(fit.without_learning, abs=1e-6)


def test_the_interval_is_that_of_the_likelihood_ratio_test():
    assert pytest.approx(chi2.ppf(0.95, 1) / 2) == decay.ALLOWED_DROP
