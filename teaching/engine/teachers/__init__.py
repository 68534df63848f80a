"""The teachers, one file each, and the one table that names them."""

from ..errors import BadSetting
from ..learners.paper import LearningRate
from .base import Teacher
from .eer import EER
from .imt import IMT
from .jedi import JEDI
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
) -> Teacher:
    """Make a teacher of the table by name; see `Teacher` for the settings.

    Every teacher takes the learner's β; IMT, EER and RT have no use for it.
    """
    if name not in TEACHERS:
        raise BadSetting(f"There is no teacher {name!r}; choose from {', '.join(TEACHERS)}.")
    return TEACHERS[name](
        beta=beta,
        learning_rate=learning_rate or LearningRate(),
        repeat_window=repeat_window,
        cold_start=cold_start,
    )
