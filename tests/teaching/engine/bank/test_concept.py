"""The paper's learner in the bank, against the learner itself."""

import numpy as np
import pytest

from teaching.engine import LearningRate, SimulatedLearner
from teaching.engine.bank.concept import Concept, Grid

from .builders import RATE, agreement, believed, centred, gains_of, made


def learner_of(followed, model):
    """The learner that a model stands for, and the points that it looks at."""
    seen, grid = followed.seen, followed.grid
    space = seen.spaces.both[grid.places[model]]
    rate = LearningRate(grid.rates[model] / space.square, RATE.decay)
    start = np.zeros((seen.k, space.points.shape[1]))
    learner = SimulatedLearner(start, beta=grid.betas[model], learning_rate=rate)
    return learner, space.points


def some_models(followed):
    return [*range(0, len(followed.grid.rates), 5), len(followed.grid.rates) - 1]


@pytest.mark.parametrize("k", [2, 3])
def test_models_believe_what_their_learners_do(k):
    seen = made(12, k)
    followed = Concept().follow(seen)
    for model in some_models(followed):
        learner, points = learner_of(followed, model)
        for step, example in enumerate(seen.examples):
            logits = points[example] @ learner.concept.T
            np.testing.assert_allclose(followed.logits[model, step], logits, atol=1e-9)
            learner.learn(points[example], int(seen.labels[step]))
        now = believed(followed)[model]
        np.testing.assert_allclose(now, centred(points @ learner.concept.T), atol=1e-9)


@pytest.mark.parametrize("k", [2, 3])
def test_the_gain_is_the_rise_of_the_agreement_when_the_learner_is_shown_the_example(k):
    seen = made(12, k)
    followed = Concept().follow(seen)
    models = np.array(some_models(followed))
    gains = gains_of(followed, models)
    for place, model in enumerate(models):
        expected = rises_when_taught(followed, model)
        np.testing.assert_allclose(gains[place], expected, atol=1e-9)


def rises_when_taught(followed, model):
    """How much the agreement is higher after each example is shown than if the momentum alone went on."""
    seen = followed.seen
    labels = seen.pool.labels
    learner, points = learner_of(followed, model)
    for step, example in enumerate(seen.examples):
        learner.learn(points[example], int(seen.labels[step]))
    rate = learner.learning_rate(len(seen) + 1) / 2
    carried = (learner.concept - rate * learner.beta * learner.momentum) @ points.T
    concept, momentum, t = learner.concept, learner.momentum, learner.t
    reached = []
    for example in range(seen.pool.n):
        learner.concept, learner.momentum, learner.t = concept, momentum, t
        learner.learn(points[example], int(labels[example]))
        reached.append(agreement(points @ learner.concept.T, labels))
    return np.array(reached) - agreement(carried.T, labels)


def test_the_study_s_own_rate_and_decay_are_among_the_models():
    seen = made(3)
    grid = Grid.around(seen)
    own = RATE.initial * seen.spaces.given.square
    assert any(np.isclose(grid.rates, own) & (grid.betas == seen.beta))
    assert Concept().follow(seen).first_shares.sum() == pytest.approx(1)


def test_the_inferred_rate_and_decay_are_those_of_the_model_with_all_weight():
    seen = made(3)
    followed = Concept().follow(seen)
    rate, beta = followed.inferred(np.eye(len(followed.grid.rates))[4])
    assert rate == pytest.approx(followed.grid.rates[4] / seen.spaces.given.square)
    assert beta == pytest.approx(followed.grid.betas[4])
