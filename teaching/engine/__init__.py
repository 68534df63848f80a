"""Teachers for people who learn to classify: NumPy and SciPy only, no Django.

`Pool` holds what is taught, `make_teacher` makes a rule, and `teacher.choose(pool, history,
rng)` picks the next example for one learner from the stored history alone. docs/engine.md shows
the use, docs/algorithm.md derives the formulas.
"""

from .errors import (
    BadAffinity,
    BadHistory,
    BadPool,
    BadPoolFolder,
    BadSetting,
    EngineError,
    PoolExhausted,
    PoolTooLarge,
)
from .harmonic import belief
from .history import Shown
from .learners.paper import Learner, LearningRate, SimulatedLearner, suggest_learning_rate
from .learners.people import (
    Habits,
    Population,
    Response,
    ResponseTime,
    SimulatedWorker,
    make_worker,
)
from .pool import Pool
from .teachers import TEACHERS, make_teacher, teach
from .teachers.base import Choice, Explanation, Teacher
from .teachers.tracked import Tracked

__all__ = [
    "TEACHERS",
    "BadAffinity",
    "BadHistory",
    "BadPool",
    "BadPoolFolder",
    "BadSetting",
    "Choice",
    "EngineError",
    "Explanation",
    "Habits",
    "Learner",
    "LearningRate",
    "Pool",
    "PoolExhausted",
    "PoolTooLarge",
    "Population",
    "Response",
    "ResponseTime",
    "Shown",
    "SimulatedLearner",
    "SimulatedWorker",
    "Teacher",
    "Tracked",
    "belief",
    "make_teacher",
    "make_worker",
    "suggest_learning_rate",
    "teach",
]
