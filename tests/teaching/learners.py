"""Sessions of the paper's learner with a known decay, who draws its answers and now and then guesses."""

import numpy as np

from teaching import decay
from teaching.decay import Fit
from teaching.engine import LearningRate, Pool, Shown, SimulatedLearner, suggest_learning_rate

RATE = LearningRate(0.6)
GUESS = 0.1


def told_apart(n: int = 200, d: int = 8) -> Pool:
    """Two classes that differ in some of their features."""
    rng = np.random.default_rng(0)
    labels = np.arange(n) % 2
    apart = np.where(np.arange(d) < 3, 1.2, 0.0)
    return Pool(rng.standard_normal((n, d)) + labels[:, None] * apart, labels)


def session_of(pool: Pool, beta: float, steps: int, seed: int, factor: float = 1.0) -> Fit:
    """The fit to a learner of this β whose rate is a multiple of what a study would assume."""
    rng = np.random.default_rng(seed)
    initial = suggest_learning_rate(pool)
    learner = SimulatedLearner(
        np.zeros((2, pool.dimensions)),
        beta=beta,
        learning_rate=LearningRate(factor * initial),
        answers="bernoulli",
        rng=rng,
    )
    history = []
    for example in rng.integers(0, pool.n, steps).tolist():
        x = pool.features[example]
        answer = rng.integers(2) if rng.random() < GUESS else learner.answer(x)
        history.append(Shown(example, int(answer), 0.5))
        learner.learn(x, int(pool.labels[example]))
    return decay.fit_session(pool, history, LearningRate(initial))
