"""The paper's learner in the bank, against the learner itself."""

import numpy as np
import pytest

from teaching.engine import LearningRate, SimulatedLearner
from teaching.engine.bank.concept import Concept

from .builders import RATE, agreement, centred, logits_now, made


def learner_of(predictions, model):
    """The learner that a model stands for, and the points that it looks at."""
    observed, grid = predictions.observed, predictions.grid
    space = observed.spaces.both[grid.spaces[model]]
    rate = LearningRate(grid.rates[model] / space.mean_square, RATE.decay)
    start = np.zeros((observed.k, space.points.shape[1]))
    learner = SimulatedLearner(start, beta=grid.betas[model], learning_rate=rate)
    return learner, space.points


def some_models(predictions):
    return [*range(0, len(predictions.grid.rates), 5), len(predictions.grid.rates) - 1]


@pytest.mark.parametrize("k", [2, 3])
def test_models_believe_what_their_learners_do(k):
    observed = made(12, k)
    predictions = Concept().predict(observed)
    for model in some_models(predictions):
        learner, points = learner_of(predictions, model)
        for step, example in enumerate(observed.examples):
            logits = points[example] @ learner.concept.T
            np.testing.assert_allclose(predictions.logits[model, step], logits, atol=1e-9)
            learner.learn(points[example], int(observed.labels[step]))
        now = logits_now(predictions)[model]
        np.testing.assert_allclose(now, centred(points @ learner.concept.T), atol=1e-9)


@pytest.mark.parametrize("k", [2, 3])
def test_the_gain_is_the_rise_of_the_agreement_when_the_learner_is_shown_the_example(k):
    observed = made(12, k)
    predictions = Concept().predict(observed)
    models = np.array(some_models(predictions))
    gains = predictions.gains(models)
    for place, model in enumerate(models):
        expected = rises_when_taught(predictions, model)
        np.testing.assert_allclose(gains[place], expected, atol=1e-9)


def rises_when_taught(predictions, model):
    """How much the agreement is higher after each example is shown than if the momentum alone went on."""
    observed = predictions.observed
    labels = observed.pool.labels
    learner, points = learner_of(predictions, model)
    for step, example in enumerate(observed.examples):
        learner.learn(points[example], int(observed.labels[step]))
    rate = learner.learning_rate(len(observed) + 1) / 2
    carried = (learner.concept - rate * learner.beta * learner.momentum) @ points.T
    concept, momentum, t = learner.concept, learner.momentum, learner.t
    reached = []
    for example in range(observed.pool.n):
        learner.concept, learner.momentum, learner.t = concept, momentum, t
        learner.learn(points[example], int(labels[example]))
        reached.append(agreement(points @ learner.concept.T, labels))
    return np.array(reached) - agreement(carried.T, labels)


def test_the_study_s_own_rate_and_decay_are_among_the_models():
    observed = made(3)
    grid = Concept().predict(observed).grid
    own = RATE.initial * observed.spaces.given.mean_square
    assert any(np.isclose(grid.rates, own) & (grid.betas == observed.beta))
    assert Concept().predict(observed).prior.sum() == pytest.approx(1)


def test_the_inferred_rate_and_decay_are_those_of_the_model_with_all_weight():
    observed = made(3)
    predictions = Concept().predict(observed)
    rate, beta = predictions.inferred(np.eye(len(predictions.grid.rates))[4])
    assert rate == pytest.approx(predictions.grid.rates[4] / observed.spaces.given.mean_square)
    assert beta == pytest.approx(predictions.grid.betas[4])
