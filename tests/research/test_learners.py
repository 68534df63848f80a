"""Learners of another kind, each against its definition written out."""

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from research.learners import (
    ExemplarLearner,
    HingeLearner,
    PartialView,
    PrototypeLearner,
    SquaredLearner,
)
from research.teachers import OmniscientJEDI
from teaching.engine import BadSetting, LearningRate, Shown, SimulatedLearner
from teaching.engine.classes import concept_vector
from tests.teaching.engine.builders import class_pool, make_pool

RATE = LearningRate(0.4, 20)
LOSSES = {
    SimulatedLearner: lambda u, y: np.log1p(np.exp(-y * u)),
    HingeLearner: lambda u, y: np.maximum(0, 1 - y * u),
    SquaredLearner: lambda u, y: (u - y) ** 2 / 2,
}


def taught(learner, pool, steps=12, seed=0):
    for example in np.random.default_rng(seed).integers(0, pool.n, steps):
        learner.learn(pool.features[example], int(pool.labels[example]))
    return learner


@pytest.mark.parametrize("kind", LOSSES)
@given(margin=st.floats(-5, 5), label=st.sampled_from([-1, 1]))
@settings(max_examples=50, deadline=None)
def test_a_slope_is_the_derivative_of_the_loss(kind, margin, label):
    h = 1e-6
    if kind is HingeLearner and abs(label * margin - 1) < 2 * h:
        return
    loss = LOSSES[kind]
    numeric = (loss(margin + h, label) - loss(margin - h, label)) / (2 * h)
    logits = np.array([-margin / 2, margin / 2])
    slopes = kind([0.0]).slopes(logits, np.array(int(label > 0)))
    assert slopes == pytest.approx([-numeric, numeric], abs=1e-5)


def class_losses(s, y):
    """The losses of many classes, from logits (k,) and a class."""
    others = np.delete(s, y)
    return {
        SimulatedLearner: np.log(np.exp(s).sum()) - s[y],
        HingeLearner: max(0, 1 - s[y] + others.max()),
        SquaredLearner: np.sum((s - s.mean() - np.eye(len(s))[y] + 1 / len(s)) ** 2),
    }


@pytest.mark.parametrize("kind", LOSSES)
@given(st.integers(2, 6), st.integers(0, 10**6))
@settings(max_examples=50, deadline=None)
def test_a_slope_of_many_classes_is_the_gradient_of_the_loss(kind, k, seed):
    h, rng = 1e-6, np.random.default_rng(seed)
    s, y = rng.normal(0, 2, k), int(rng.integers(k))
    numeric = [
        (class_losses(s + h * e, y)[kind] - class_losses(s - h * e, y)[kind]) / (2 * h)
        for e in np.eye(k)
    ]
    assert kind(np.zeros((k, 1))).slopes(s, np.array(y)) == pytest.approx(numeric, abs=1e-4)


@pytest.mark.parametrize("kind", [HingeLearner, SquaredLearner])
def test_an_update_follows_the_gradient_of_its_own_loss(kind):
    pool = make_pool(20, 3)
    learner = kind(np.zeros(3), beta=0.6, learning_rate=RATE)
    concept, momentum = np.zeros(3), np.zeros(3)
    for t, (x, y) in enumerate(zip(pool.features, pool.labels, strict=True), start=1):
        u, y = x @ concept, 2 * y - 1
        slope = (u - y) if kind is SquaredLearner else (-y if y * u < 1 else 0.0)
        momentum = 0.6 * momentum + slope * x
        concept = concept - RATE(t) * momentum
        learner.learn(x, int(y > 0))
    np.testing.assert_allclose(concept_vector(learner.concept), concept, atol=1e-12)


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("kind", [HingeLearner, SquaredLearner])
def test_the_omniscient_teacher_knows_the_loss_of_its_learner(kind, k):
    pool = class_pool(25, 4, k=k)
    learner = kind(np.random.default_rng(k).standard_normal((k, 4)), beta=0.5, learning_rate=RATE)
    teacher = OmniscientJEDI(learner=learner, beta=0.5, learning_rate=RATE)
    history = []
    for _ in range(8):
        after = []
        for x, y in zip(pool.features, pool.labels, strict=True):
            other = copy.copy(learner)
            other.learn(x, int(y))
            after.append(2 * np.sum((other.concept - pool.target) ** 2))
        scores = teacher.scores(pool, history)
        np.testing.assert_allclose(np.array(after) - scores, after[0] - scores[0], atol=1e-10)
        best = int(np.argmin(scores))
        learner.learn(pool.features[best], int(pool.labels[best]))
        history.append(Shown(best, 1, (1 / k,) * k))


def test_what_is_not_seen_is_neither_learned_nor_used():
    pool = make_pool(20, 4)
    visible = np.array([True, False, True, False])
    inner = SimulatedLearner([0.1, 0.0, -0.2, 0.0], beta=0.5, learning_rate=RATE)
    blind = PartialView(inner, visible)
    taught(blind, pool)
    assert (inner.concept[:, ~visible] == 0).all()
    assert (inner.concept[:, visible] != 0).all()
    x = pool.features[3]
    for hidden in (-50.0, 50.0):
        changed = np.where(visible, x, hidden)
        assert (blind.probabilities(changed) == blind.probabilities(x)).all()
        assert blind.answer(changed) == blind.answer(x)


def test_a_prototype_is_the_mean_of_what_was_shown_and_of_a_first_example_in_the_middle():
    pool = class_pool(30, 3, k=3)
    learner = taught(PrototypeLearner(3, classes=3, min_step=0.0), pool, steps=25)
    order = np.random.default_rng(0).integers(0, 30, 25)
    for label in range(3):
        shown = pool.features[[i for i in order if pool.labels[i] == label]]
        np.testing.assert_allclose(
            learner.prototypes[label], shown.sum(axis=0) / (len(shown) + 1), atol=1e-12
        )


def test_the_nearer_prototype_decides():
    learner = PrototypeLearner(2, min_step=1.0)
    learner.learn(np.array([1.0, 0.0]), 1)
    learner.learn(np.array([-3.0, 0.0]), 0)
    assert learner.answer(np.array([-0.9, 5.0])) == 1
    assert learner.answer(np.array([-1.1, 5.0])) == 0
    # Halfway between them, and a tie says +1.
    assert learner.probabilities(np.array([-1.0, 2.0])) == pytest.approx([0.5, 0.5])


def test_an_exemplar_learner_goes_by_similarity_and_age():
    learner = ExemplarLearner(1, width=2.0, decay=0.5)
    assert learner.probabilities(np.array([3.0])).tolist() == [0.5, 0.5]
    for x, label in ((0.0, 1), (1.0, 0), (0.5, 1)):
        learner.learn(np.array([x]), label)
    x = 0.8
    plus = 0.25 * np.exp(-(x**2) / 2) + np.exp(-((x - 0.5) ** 2) / 2)
    minus = 0.5 * np.exp(-((x - 1) ** 2) / 2)
    assert learner.probabilities(np.array([x]))[1] == pytest.approx(plus / (plus + minus))


def test_where_nothing_is_alike_an_exemplar_learner_has_no_opinion():
    learner = ExemplarLearner(1, width=1e-4)
    learner.learn(np.array([0.0]), 0)
    assert learner.probabilities(np.array([5.0])).tolist() == [0.5, 0.5]
    assert learner.probabilities(np.array([0.0])).tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    "learner",
    [
        PrototypeLearner(4, scale=2.0),
        ExemplarLearner(4, width=6.0),
        PrototypeLearner(4, classes=4, scale=2.0),
        ExemplarLearner(4, classes=4, width=6.0),
    ],
    ids=["prototypes", "exemplars", "four prototypes", "exemplars of four"],
)
def test_a_learner_with_a_memory_learns_from_random_examples(learner):
    pool = class_pool(80, 4, k=learner.classes)
    taught(learner, pool, steps=40)
    p = learner.probabilities(pool.features)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert (p.argmax(axis=1) == pool.labels).mean() > 0.7
    for x, believed in zip(pool.features, p, strict=True):
        assert learner.probabilities(x) == pytest.approx(believed)
        assert learner.answer(x) == believed.argmax()


def test_settings_outside_their_range_are_refused_by_name():
    for wrong in (
        lambda: PrototypeLearner(2, min_step=1.5),
        lambda: PrototypeLearner(2, scale=0.0),
        lambda: ExemplarLearner(2, width=0.0),
        lambda: ExemplarLearner(2, width=1.0, decay=0.0),
    ):
        with pytest.raises(BadSetting):
            wrong()
