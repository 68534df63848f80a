"""Slow and literal forms of what the engine computes, written from the definitions."""

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import spsolve

from teaching.engine import Shown, SimulatedLearner
from tests.teaching.engine.builders import as_signs


def newest_answers(history):
    return {step.example: step.answer for step in history}


def padded_belief(affinity, history):
    """The paper's construction: an extra labelled node per taught example, with its edges."""
    newest = newest_answers(history)
    n, extra = len(affinity), len(newest)
    padded = np.zeros((n + extra, n + extra))
    padded[:n, :n] = affinity
    for node, example in enumerate(newest, start=n):
        padded[node, :n] = affinity[example]
        padded[:n, node] = affinity[example]
    laplacian = np.diag(padded.sum(axis=1)) - padded
    says_plus = np.array([answer > 0 for answer in newest.values()], dtype=float)
    return np.linalg.solve(laplacian[:n, :n], padded[:n, n:] @ says_plus)


def direct_belief(affinity, history):
    """The reduced system by a sparse factorisation, for pools too large to pad."""
    newest = newest_answers(history)
    columns = affinity[:, list(newest)].toarray()
    says_plus = np.array([answer > 0 for answer in newest.values()], dtype=float)
    diagonal = affinity.sum(axis=1) + columns.sum(axis=1)
    return spsolve((sparse.diags_array(diagonal) - affinity).tocsc(), columns @ says_plus)


def distance_after_update(pool, learner, example, *, beta, eta):
    """2‖W_t − W*‖², of two classes ‖w_t − w*‖², if this example is shown next: one update of a copy."""
    copy = SimulatedLearner(learner.concept, beta=beta, learning_rate=lambda t: eta)
    copy.momentum = learner.momentum.copy()
    copy.learn(pool.features[example], int(pool.labels[example]))
    return float(2 * np.sum((copy.concept - pool.target) ** 2))


def jedi_score(pool, history, p, example, *, beta, eta):
    """Algorithm 2's objective for one candidate of two classes, term by term."""
    pool = as_signs(pool)
    momentum = np.zeros(pool.features.shape[1])
    for step in history:
        label = pool.labels[step.example]
        p_then = np.clip(step.p[1] if np.ndim(step.p) else step.p, 1e-6, 1 - 1e-6)
        wrong = 1 - p_then if label > 0 else p_then
        momentum = beta * momentum - label * wrong * pool.features[step.example]
    x, y = pool.features[example], pool.labels[example]
    chance = min(max(p[example], 1e-6), 1 - 1e-6)
    f = 1 - chance if y > 0 else chance
    diversity = f**2 * (x @ x) - 2 * beta * y * f * (x @ momentum)
    learner_loss = np.log(1 / (1 - f))
    target_loss = np.log(1 + np.exp(-y * (pool.target @ x)))
    return eta**2 * diversity - 2 * eta * (learner_loss - target_loss)


def harmonic_on_unseen(affinity, believed):
    """Belief in +1 with the nodes of `believed` clamped to 0 or 1, the others harmonic."""
    n = len(affinity)
    seen = sorted(believed)
    unseen = [i for i in range(n) if i not in believed]
    laplacian = np.diag(affinity.sum(axis=1)) - affinity
    belief = np.empty(n)
    belief[seen] = [believed[i] for i in seen]
    belief[unseen] = np.linalg.solve(
        laplacian[np.ix_(unseen, unseen)], affinity[np.ix_(unseen, seen)] @ belief[seen]
    )
    return belief


def eer_risks(affinity, labels, history):
    """Total risk over the unseen for each unseen candidate, by solving again for each."""
    believed = {i: float(answer > 0) for i, answer in newest_answers(history).items()}
    unseen = [i for i in range(len(affinity)) if i not in believed]
    risks = {}
    for candidate in unseen:
        after = harmonic_on_unseen(affinity, believed | {candidate: float(labels[candidate] > 0)})
        right = np.where(labels > 0, after, 1 - after)
        risks[candidate] = float(np.sum(1 - right[unseen]))
    return risks


# The same for k classes, one class at a time.


def padded_beliefs(affinity, history, k):
    """The belief in each class, (n, k), by the padded graph of that class against the others."""
    columns = [
        padded_belief(affinity, [Shown(s.example, int(s.answer == c), 0.5) for s in history])
        for c in range(k)
    ]
    return np.stack(columns, axis=1)


def class_score(pool, history, believed, example, *, beta, eta):
    """Algorithm 2's objective for one candidate of k classes: 2‖·‖² with the rate η/2, term by term."""
    k, d = pool.target.shape
    momentum = np.zeros((k, d))
    for step in history:
        for c in range(k):
            slope = step.p[c] - (c == pool.labels[step.example])
            momentum[c] = beta * momentum[c] + slope * pool.features[step.example]
    x, y = pool.features[example], pool.labels[example]
    believed = np.clip(believed[example], 1e-6, 1 - 1e-6)
    believed = believed / believed.sum()
    wrong = sum(believed[c] ** 2 for c in range(k) if c != y) + (1 - believed[y]) ** 2
    crossed = sum((believed[c] - (c == y)) * (momentum[c] @ x) for c in range(k))
    wanted = np.exp(pool.target @ x)
    gained = np.log(1 / believed[y]) - np.log(wanted.sum() / wanted[y])
    rate = eta / 2
    return 2 * (rate**2 * (wrong * (x @ x) + 2 * beta * crossed) - 2 * rate * gained)


def class_risks(affinity, labels, history, k):
    """Total risk over the unseen for each unseen candidate, by solving again for each class."""
    newest = newest_answers(history)
    unseen = [i for i in range(len(affinity)) if i not in newest]
    risks = {}
    for candidate in unseen:
        believed = newest | {candidate: int(labels[candidate])}
        after = [
            harmonic_on_unseen(affinity, {i: float(said == c) for i, said in believed.items()})
            for c in range(k)
        ]
        risks[candidate] = float(sum(1 - after[labels[i]][i] for i in unseen))
    return risks
