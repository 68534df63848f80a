"""Sessions of the paper's learner with a known decay, who answers in one way or another."""

import numpy as np

from teaching import decay
from teaching.decay import Fit
from teaching.engine import (
    Habits,
    LearningRate,
    Pool,
    Shown,
    SimulatedLearner,
    SimulatedWorker,
    suggest_learning_rate,
)
from teaching.engine.learners.people import make_worker

RATE = LearningRate(0.6)
GUESS = 0.1
# How often a learner who says what it finds likelier hits another button, as the bots of a rehearsal do.
SLIPS = 0.02


def told_apart(n: int = 200, d: int = 8) -> Pool:
    """Two classes that differ in some of their features."""
    rng = np.random.default_rng(0)
    labels = np.arange(n) % 2
    apart = np.where(np.arange(d) < 3, 1.2, 0.0)
    return Pool(rng.standard_normal((n, d)) + labels[:, None] * apart, labels)


def session_of(pool: Pool, beta: float, steps: int, seed: int, factor: float = 1.0) -> Fit:
    """The fit to a learner of this β whose rate is a multiple of what a study would assume.

    It draws its answers from what it believes, and now and then guesses.
    """
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


def firm_session(pool: Pool, beta: float, steps: int, seed: int, conviction: float = 0.0) -> Fit:
    """The fit to a learner at the study's rate who always says what it finds likelier, slips apart.

    conviction: the root mean square of its margins before the first lesson.
    """
    rate = LearningRate(suggest_learning_rate(pool))
    worker = make_worker(
        pool,
        beta=beta,
        learning_rate=rate,
        seed=seed,
        conviction=conviction,
        habits=Habits(lapse=SLIPS),
    )
    return taught_at_random(pool, worker, steps, seed)


def taught_at_random(pool: Pool, worker: SimulatedWorker, steps: int, seed: int) -> Fit:
    """The fit to a worker who is shown random examples."""
    history = []
    for example in np.random.default_rng(seed).integers(0, pool.n, steps).tolist():
        x = pool.features[example]
        history.append(Shown(example, worker.answer(x), 0.5))
        worker.learn(x, int(pool.labels[example]))
    return decay.fit_session(pool, history, LearningRate(suggest_learning_rate(pool)))
