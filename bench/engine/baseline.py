"""The textbook baseline: dense inverse, loop over candidates."""

import math
from collections.abc import Sequence

import numpy as np

from teaching.engine import Pool, Shown
from teaching.engine.classes import concept_vector


def baseline_jedi(
    pool: Pool, affinity: np.ndarray, history: Sequence[Shown], eta: float, beta: float
) -> int:
    """Algorithm 2 step by step: padded graph, inverse, then one candidate after the other."""
    newest = {step.example: step.answer for step in history}
    taught = list(newest)
    n, total = pool.n, pool.n + len(taught)
    padded = np.zeros((total, total))
    padded[:n, :n] = affinity
    padded[n:, :n] = affinity[taught]
    padded[:n, n:] = affinity[:, taught]
    degrees = np.diag(padded.sum(axis=1))
    labels = np.array([[newest[i] == 1, newest[i] == 0] for i in taught], dtype=float)
    estimate = np.linalg.inv(degrees[:n, :n] - padded[:n, :n]) @ padded[:n, n:] @ labels
    p = np.clip(estimate[:, 0], 1e-6, 1 - 1e-6)
    signs, target = 2 * pool.labels - 1, concept_vector(pool.target)
    momentum = np.zeros(pool.dimensions)
    for step in history:
        y = signs[step.example]
        f = 1 - step.p if y > 0 else step.p
        momentum = beta * momentum - y * f * pool.features[step.example]
    window = math.floor(2 / (1 - beta) + 0.5)
    recent = {step.example for step in history[-window:]}
    best, best_score = -1, math.inf
    for i in range(n):
        if i in recent:
            continue
        x, y = pool.features[i], signs[i]
        f = 1 - p[i] if y > 0 else p[i]
        diversity = np.linalg.norm(y * f * x - beta * momentum) ** 2
        usefulness = math.log((1 / (1 - f)) / (1 + math.exp(-y * (target @ x))))
        score = eta**2 * diversity - 2 * eta * usefulness
        if score < best_score:
            best, best_score = i, score
    return best


def baseline_eer(pool: Pool, affinity: np.ndarray, history: Sequence[Shown]) -> int:
    """Johns et al.: the inverse of the unseen block, then each candidate's total risk."""
    newest = {step.example: step.answer for step in history}
    taught = list(newest)
    unseen = np.setdiff1d(np.arange(pool.n), taught)
    laplacian = np.diag(affinity.sum(axis=1)) - affinity
    inverse = np.linalg.inv(laplacian[np.ix_(unseen, unseen)])
    says_plus = np.array([newest[i] > 0 for i in taught], dtype=float)
    f = inverse @ (affinity[np.ix_(unseen, taught)] @ says_plus)
    truth = (pool.labels[unseen] > 0).astype(float)
    best, best_risk = -1, math.inf
    for k, example in enumerate(unseen):
        after = f + (truth[k] - f[k]) * inverse[:, k] / inverse[k, k]
        risk = float(np.abs(truth - after).sum())
        if risk < best_risk:
            best, best_risk = int(example), risk
    return best
