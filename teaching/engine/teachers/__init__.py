"""The teachers, the one table that names them, and a session with a simulated learner."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import BadSetting
from ..history import Shown
from ..learners.paper import Learner, LearningRate
from ..pool import Pool
from .base import Teacher
from .eer import EER
from .imt import IMT
from .jedi import JEDI, Estimator
from .rt import RT
from .tracked import Tracked

# The paper's four in the order in which a study assigns them, then what came after.
TEACHERS: dict[str, type[Teacher]] = {
    teacher.name: teacher for teacher in (JEDI, IMT, EER, RT, Tracked)
}


def make_teacher(
    name: str,
    *,
    beta: float = 0.0,
    learning_rate: LearningRate | None = None,
    repeat_window: int | None = None,
    cold_start: int = 5,
    estimator: Estimator = "paper",
) -> Teacher:
    """Make a teacher of the table by name; see `Teacher` for the settings.

    Every teacher takes the learner's β; IMT, EER and RT have no use for it. JEDI and IMT have another estimator, which
    no other teacher takes.
    """
    if name not in TEACHERS:
        raise BadSetting(f"There is no teacher {name!r}; choose from {', '.join(TEACHERS)}.")
    kind = TEACHERS[name]
    own: dict[str, Any] = {"estimator": estimator} if issubclass(kind, JEDI) else {}
    if not own and estimator != "paper":
        raise BadSetting(f"{kind.title} has no choice of estimators; leave it out.")
    return kind(
        beta=beta,
        learning_rate=learning_rate or LearningRate(),
        repeat_window=repeat_window,
        cold_start=cold_start,
        **own,
    )


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
        shown = choice.answered(learner.answer(x))
        before_lesson(history, shown)
        history.append(shown)
        learner.learn(x, int(pool.labels[choice.example]))
    return history
