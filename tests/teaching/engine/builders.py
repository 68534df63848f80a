"""Pools, graphs and histories to test with; every default is small and seeded."""

from types import SimpleNamespace

import numpy as np

from teaching.engine import Pool, Shown


def gaussian_classes(n=40, d=4, *, seed=0, apart=1.0):
    """Two overlapping classes: features (n, d) and labels (n,) in {−1, +1}, both present."""
    rng = np.random.default_rng(seed)
    labels = np.where(np.arange(n) % 2 == 0, 1, -1)
    rng.shuffle(labels)
    features = rng.standard_normal((n, d))
    features[:, 0] += apart * labels
    return features, labels


def make_pool(n=40, d=4, *, seed=0, apart=1.0, **given):
    features, labels = gaussian_classes(n, d, seed=seed, apart=apart)
    return Pool(features, labels, **given)


def many_classes(n=40, d=4, *, k=3, seed=0, apart=1.5):
    """k overlapping classes: features (n, d), centred, and class numbers (n,), all present."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(n) % k)
    centres = rng.standard_normal((k, d)) * apart
    features = rng.standard_normal((n, d)) + centres[labels]
    return features - features.mean(axis=0), labels


def class_pool(n=40, d=4, *, k=3, seed=0, apart=1.5, **given):
    features, labels = many_classes(n, d, k=k, seed=seed, apart=apart)
    return Pool(features, labels, **given)


def as_signs(pool):
    """A pool of two classes in the letters of the paper: labels −1 and +1, and w* of shape (d,)."""
    return SimpleNamespace(
        n=pool.n,
        features=pool.features,
        labels=2.0 * pool.labels - 1,
        target=pool.target[1] - pool.target[0],
        affinity=pool.affinity,
    )


def random_graph(n, *, seed=0, density=0.3, connected=True):
    """A symmetric affinity (n, n) with weights over three decades."""
    rng = np.random.default_rng(seed)
    weights = np.triu(10.0 ** rng.uniform(-3, 0, (n, n)) * (rng.random((n, n)) < density), 1)
    if connected:
        order = rng.permutation(n)
        weights[np.minimum(order[1:], order[:-1]), np.maximum(order[1:], order[:-1])] = 0.1
    return weights + weights.T


def graph_pool(affinity, *, labels=None, seed=0, target=None):
    """A pool over a given graph; its features are noise unless the test does not care."""
    n = len(affinity)
    features, made = gaussian_classes(n, 3, seed=seed)
    return Pool(features, made if labels is None else labels, affinity=affinity, target=target)


def path_graph(n):
    return np.eye(n, k=1) + np.eye(n, k=-1)


def star_graph(n):
    """Example 0 in the middle."""
    affinity = np.zeros((n, n))
    affinity[0, 1:] = affinity[1:, 0] = 1.0
    return affinity


def random_history(n, steps, *, seed=0, distinct=False):
    """Random steps, with repeated examples and changed answers unless distinct."""
    rng = np.random.default_rng(seed)
    pick = rng.choice(n, steps, replace=False) if distinct else rng.integers(0, n, steps)
    return [
        Shown(int(example), int(rng.choice([-1, 1])), float(rng.uniform(0.05, 0.95)))
        for example in pick
    ]


def class_history(n, steps, *, k=3, seed=0, distinct=False):
    """Random steps of k classes, each with the probabilities of all of them."""
    rng = np.random.default_rng(seed)
    pick = rng.choice(n, steps, replace=False) if distinct else rng.integers(0, n, steps)
    return [
        Shown(int(example), int(rng.integers(k)), tuple(rng.dirichlet(np.ones(k))))
        for example in pick
    ]


def answered(*pairs):
    """A history from (example, answer) pairs, with p of ½."""
    return [Shown(example, answer, 0.5) for example, answer in pairs]
