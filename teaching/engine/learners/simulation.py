"""Teach a simulated learner."""

from collections.abc import Callable, Sequence

import numpy as np

from ..history import Shown
from ..pool import Pool
from ..teachers.base import Teacher
from .paper import Learner


def teach(
    teacher: Teacher,
    pool: Pool,
    learner: Learner,
    *,
    steps: int,
    rng: np.random.Generator,
    before_lesson: Callable[[Sequence[Shown], Shown], None] = lambda history, shown: None,
) -> list[Shown]:
    """Run a session and return its history; the learner keeps what it learned.

    At each step the teacher chooses, the learner answers, and the label is revealed. In between,
    `before_lesson` may look at the history so far and at the step to come.
    """
    history: list[Shown] = []
    for _ in range(steps):
        choice = teacher.choose(pool, history, rng)
        x = pool.features[choice.example]
        shown = Shown(choice.example, learner.answer(x), choice.p)
        before_lesson(history, shown)
        history.append(shown)
        learner.learn(x, int(pool.labels[choice.example]))
    return history
