"""Prototype models against prototypes that move example by example."""

import numpy as np
import pytest

from teaching.engine.bank.prototype import LEAST_STEPS, Prototype

from .builders import agreement, centred, logits_now, made


class Mover:
    """Prototypes as vectors, moved one example at a time, beginning at the centre."""

    def __init__(self, points, k, least_step):
        self.points = points
        self.prototypes = np.zeros((k, points.shape[1]))
        self.counts = np.ones(k)
        self.least_step = least_step

    def near(self, rows):
        squares = ((self.points[rows][:, None] - self.prototypes) ** 2).sum(axis=-1)
        return (self.points[rows] ** 2).sum(axis=-1)[:, None] - squares

    def move(self, example, label):
        self.counts[label] += 1
        step = max(1 / self.counts[label], self.least_step)
        self.prototypes[label] += step * (self.points[example] - self.prototypes[label])


def mover_of(predictions, model):
    space = predictions.observed.spaces.both[predictions.spaces[model]]
    points = (space.points - space.points.mean(axis=0)) / np.sqrt(space.variance)
    return Mover(points, predictions.observed.k, LEAST_STEPS[predictions.which[model]])


@pytest.mark.parametrize("k", [2, 3])
def test_models_take_the_nearest_prototype(k):
    observed = made(10, k)
    predictions = Prototype().predict(observed)
    for model in (0, 4, 11, 17):
        mover = mover_of(predictions, model)
        for step, example in enumerate(observed.examples):
            expected = predictions.sharpness[model] * mover.near([example])[0]
            np.testing.assert_allclose(predictions.logits[model, step], expected, atol=1e-9)
            mover.move(example, observed.labels[step])
        now = logits_now(predictions)[model]
        expected = predictions.sharpness[model] * mover.near(slice(None))
        np.testing.assert_allclose(now, centred(expected), atol=1e-9)


@pytest.mark.parametrize("k", [2, 3])
def test_the_gain_is_the_rise_of_the_agreement_when_the_prototype_moves(k):
    observed = made(14, k)
    predictions = Prototype().predict(observed)
    labels = observed.pool.labels
    models = np.arange(18)
    found = predictions.gains(models)
    for model in (0, 5, 9, 17):
        mover, sharpness = mover_of(predictions, model), predictions.sharpness[model]
        for step, example in enumerate(observed.examples):
            mover.move(example, observed.labels[step])
        prototypes, counts = mover.prototypes.copy(), mover.counts.copy()
        before = agreement(sharpness * mover.near(slice(None)), labels)
        gains = found[model]
        for x in range(observed.pool.n):
            mover.prototypes, mover.counts = prototypes.copy(), counts.copy()
            mover.move(x, labels[x])
            after = agreement(sharpness * mover.near(slice(None)), labels)
            assert gains[x] == pytest.approx(after - before, abs=1e-9)
