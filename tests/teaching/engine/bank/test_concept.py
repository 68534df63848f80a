"""The paper's learner in the bank, against the learner itself."""

import numpy as np
import pytest

from teaching.engine import LearningRate, SimulatedLearner
from teaching.engine.bank.base import GIVEN, RELEVANT, judged_firmness
from teaching.engine.bank.concept import Concept, Grid, follow_grid

from .builders import RATE, class_pool, made, mean_loss


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
            believed = points[example] @ learner.concept.T
            np.testing.assert_allclose(followed.logits[model, step], believed, atol=1e-9)
            learner.learn(points[example], int(seen.labels[step]))
        now = followed.beliefs(np.array([model]))[0]
        np.testing.assert_allclose(now, points @ learner.concept.T, atol=1e-9)


@pytest.mark.parametrize("k", [2, 3])
def test_the_gain_of_a_small_step_is_the_drop_of_the_loss(k):
    seen = made(12, k)
    places = np.array([GIVEN, RELEVANT])
    grid = Grid(np.full(2, 1e-3), np.array([0.0, 0.6]), places, np.full(2, 0.5))
    followed = follow_grid(seen, grid)
    # As though it had believed more: logits of a thousandth are judged at the largest firmness.
    models = np.arange(2)
    beliefs = followed.beliefs(models)
    gains = followed.gains(models, beliefs)
    for model in models:
        losses, carried = taught_losses(followed, model)
        np.testing.assert_allclose(gains[model], carried - losses, rtol=0.05, atol=1e-7)


@pytest.mark.parametrize("k", [2, 3])
def test_of_usual_steps_the_gain_ranks_examples_as_the_loss_does(k):
    seen = made(15, k, n=40)
    followed = Concept().follow(seen)
    for model in (6, 10, len(followed.grid.rates) - 6):
        losses, carried = taught_losses(followed, model)
        gains = followed.gains(np.array([model]), followed.beliefs(np.array([model])))[0]
        assert np.corrcoef(gains, carried - losses)[0, 1] > 0.9


def taught_losses(followed, model):
    """The mean loss over the pool after each example is shown, and if the momentum alone went on."""
    seen = followed.seen
    labels = seen.pool.labels
    learner, points = learner_of(followed, model)
    for step, example in enumerate(seen.examples):
        learner.learn(points[example], int(seen.labels[step]))
    rate = learner.learning_rate(len(seen) + 1) / 2
    carried = (learner.concept - rate * learner.beta * learner.momentum) @ points.T
    firmness = judged_firmness(carried.T[None])[0]
    losses = []
    concept, momentum, t = learner.concept, learner.momentum, learner.t
    for example in range(seen.pool.n):
        learner.concept, learner.momentum, learner.t = concept, momentum, t
        learner.learn(points[example], int(labels[example]))
        losses.append(mean_loss(points @ learner.concept.T, labels, firmness))
    return np.array(losses), mean_loss(carried.T, labels, firmness)


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


def test_a_large_pool_is_judged_by_as_many_examples_as_a_smaller_one():
    pool = class_pool(n=4_500)
    seen = made(2)
    assert len(range(4_500)[type(seen)(pool, *[None] * 5).judged]) == 1_500
