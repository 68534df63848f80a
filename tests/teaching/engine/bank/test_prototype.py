"""Prototype models against prototypes that move example by example."""

import numpy as np
import pytest

from teaching.engine.bank.prototype import LEAST_STEPS, Prototype

from .builders import agreement, believed, centred, gains_of, made


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


def mover_of(followed, model):
    space = followed.seen.spaces.both[followed.places[model]]
    points = (space.points - space.points.mean(axis=0)) / np.sqrt(space.spread)
    return Mover(points, followed.seen.k, LEAST_STEPS[followed.which[model]])


@pytest.mark.parametrize("k", [2, 3])
def test_models_take_the_nearest_prototype(k):
    seen = made(10, k)
    followed = Prototype().follow(seen)
    for model in (0, 4, 11, 17):
        mover = mover_of(followed, model)
        for step, example in enumerate(seen.examples):
            expected = followed.sharpness[model] * mover.near([example])[0]
            np.testing.assert_allclose(followed.logits[model, step], expected, atol=1e-9)
            mover.move(example, seen.labels[step])
        now = believed(followed)[model]
        expected = followed.sharpness[model] * mover.near(slice(None))
        np.testing.assert_allclose(now, centred(expected), atol=1e-9)


@pytest.mark.parametrize("k", [2, 3])
def test_the_gain_is_the_rise_of_the_agreement_when_the_prototype_moves(k):
    seen = made(14, k)
    followed = Prototype().follow(seen)
    labels = seen.pool.labels
    models = np.arange(18)
    found = gains_of(followed, models)
    for model in (0, 5, 9, 17):
        mover, sharpness = mover_of(followed, model), followed.sharpness[model]
        for step, example in enumerate(seen.examples):
            mover.move(example, seen.labels[step])
        prototypes, counts = mover.prototypes.copy(), mover.counts.copy()
        before = agreement(sharpness * mover.near(slice(None)), labels)
        gains = found[model]
        for x in range(seen.pool.n):
            mover.prototypes, mover.counts = prototypes.copy(), counts.copy()
            mover.move(x, labels[x])
            after = agreement(sharpness * mover.near(slice(None)), labels)
            assert gains[x] == pytest.approx(after - before, abs=1e-9)
