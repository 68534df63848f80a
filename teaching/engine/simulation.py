"""Teach a simulated learner."""

import numpy as np

from .history import Shown
from .learner import Learner
from .pool import Pool
from .teachers import Teacher


def teach(
    teacher: Teacher,
    pool: Pool,
    learner: Learner,
    *,
    steps: int,
    rng: np.random.Generator,
) -> list[Shown]:
    """Run a session and return its history; the learner keeps what it learned.

    At each step the teacher chooses, the learner answers, and the label is revealed.
    """
    history: list[Shown] = []
    for _ in range(steps):
        choice = teacher.choose(pool, history, rng)
        x = pool.features[choice.example]
        history.append(Shown(choice.example, learner.answer(x), choice.p))
        learner.learn(x, int(pool.labels[choice.example]))
    return history
