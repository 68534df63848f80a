"""Histories of two or three classes, as the models of the bank see them."""

import numpy as np

from teaching.engine import LearningRate, Pool, Shown
from teaching.engine.bank import Observations
from teaching.engine.bank.agreement import INITIAL_SPREAD
from teaching.engine.history import Past

RATE = LearningRate(0.7, 20)
BETA = 0.75


def class_pool(n=24, d=3, k=2, *, seed=0, offset=0.4):
    """Classes around different means; not centred, so that nothing depends on it."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % k
    means = rng.standard_normal((k, d))
    return Pool(rng.standard_normal((n, d)) + means[labels] + offset, labels, classes=k)


def class_history(pool, steps, *, seed=0, right=0.6):
    """Random examples, answered rightly as often as said."""
    rng = np.random.default_rng([seed, steps])
    even = [1 / pool.class_count] * pool.class_count
    history = []
    for example in rng.integers(0, pool.n, steps).tolist():
        wrong = int(rng.integers(pool.class_count))
        answer = int(pool.labels[example]) if rng.random() < right else wrong
        history.append(Shown(example, answer, even))
    return history


def observed_by(pool, history, *, beta=BETA, rate=RATE):
    return Observations.of(pool, Past.read(history, pool), beta, rate)


def made(steps=9, k=2, seed=0, **pool):
    own = class_pool(k=k, seed=seed, **pool)
    return observed_by(own, class_history(own, steps, seed=seed))


def logits_now(predictions):
    """The logits (m, n, k) of all models now, less their mean over the classes."""
    return centred(predictions.logits_at(slice(None)))


def centred(logits):
    """Less their mean over the classes, which say nothing about chances."""
    return logits - logits.mean(axis=-1, keepdims=True)


def chances(logits):
    """Softmax, written out."""
    powers = np.exp(logits - np.max(logits, axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def agreement(logits, labels):
    """The cosine between logits (n, k) and labels, with the initial spread, written out."""
    k, products, squares = logits.shape[1], [], []
    for row, label in zip(logits, labels, strict=True):
        centred = row - row.mean()
        truth = (np.eye(k)[label] - 1 / k) / np.sqrt(1 - 1 / k)
        products.append(truth @ centred)
        squares.append(centred @ centred)
    # Differences of root mean square o between two logits add (k − 1)/2·o² to the square of their length.
    return np.mean(products) / np.sqrt(np.mean(squares) + (k - 1) / 2 * INITIAL_SPREAD**2)
