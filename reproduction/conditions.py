"""A teacher under a reading of the paper, the two readings, and the conditions of the human experiment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from teaching.engine.teachers import jedi

PLAIN, WINDOW = "plain", "window"
READINGS = {PLAIN: "as printed: plain argmin", WINDOW: "with the repeat window"}
# The names of teachers without a memory in their rule, or without a rule.
SHORT_NAMES = {"rt": "RT", "sgd": "SGD", "imt": "IMT", "eer": "EER", "omniscient": "Oracle"}
# Between the name of a data set and a condition.
SEPARATOR = ": "

WHY_WINDOW = (
    "The paper's text has a plain argmin over the pool. That rule gets stuck: an example's estimate does not depend on "
    "its own answer, so what was best is best again and the same example comes many times in a row. With a repeat "
    "window, what the last ⌊2/(1−β) + ½⌋ steps showed is left out (2 for IMT). The window is the default in JEDI "
    "Web: a person who was just told the answer learns nothing from the same image, and for larger β the published "
    "numbers of different examples are far above what the plain argmin shows. Both are given side by side."
)


@dataclass(frozen=True)
class Condition:
    """`cap` bounds the repeat window where it is not none."""

    teacher: str
    beta: float = 0.0
    reading: str = PLAIN
    cap: int | None = None

    @property
    def cell(self) -> str:
        cap = "" if self.cap is None else f" cap {self.cap}"
        return f"{self.teacher} {self.beta:g} {self.reading}{cap}"

    @property
    def title(self) -> str:
        """What a table calls the teacher, whichever the reading."""
        name = SHORT_NAMES.get(self.teacher, "JEDI")
        name += f" β = {self.beta:g}" if self.beta else ""
        return name if self.cap is None else f"{name}, window ≤ {self.cap}"

    @property
    def short_title(self) -> str:
        """What a legend calls the teacher."""
        return self.title.removeprefix("JEDI ")

    @property
    def both_readings(self) -> Sequence[Condition | None]:
        """The conditions of a table's row: chance has no argmin, and a bound belongs to a window alone."""
        if self.teacher in ("rt", "sgd"):
            return [self, self]
        if self.cap is not None:
            return [None, self]
        return [Condition(self.teacher, self.beta, reading) for reading in READINGS]

    @property
    def window(self) -> int:
        """The repeat window in force."""
        if self.reading == PLAIN or self.teacher in ("rt", "sgd"):
            return 0
        rule = jedi.JEDI(beta=self.beta if self.teacher == "jedi" else 0.0).default_window()
        return rule if self.cap is None else min(rule, self.cap)


# The teachers of the human experiment. An omniscient one, whom no study can have, shows what is left to win.
JEDI = Condition("jedi", reading=WINDOW)
ORACLE = Condition("omniscient")
DEFAULT = (
    Condition("rt"),
    Condition("eer"),
    Condition("imt", reading=WINDOW),
    JEDI,
)
AS_PRINTED = (
    Condition("rt"),
    Condition("eer"),
    Condition("imt", reading=PLAIN),
    Condition("jedi", reading=PLAIN),
)
ARMS = tuple(dict.fromkeys([*DEFAULT, ORACLE, *AS_PRINTED]))


def under_both_readings(random: str, betas: Sequence[float]) -> list[Condition]:
    """A random teacher, then IMT and the JEDIs of some β as the paper prints them and with the window."""
    imts = [Condition("imt", reading=reading) for reading in READINGS]
    jedis = [Condition("jedi", beta, reading) for beta in betas for reading in READINGS]
    return [Condition(random), *imts, *jedis]


def cell_of(data_set: str, condition: Condition) -> str:
    """The name of a condition on a data set."""
    return f"{data_set}{SEPARATOR}{condition.cell}"


def split_cell(cell: str, known: Sequence[Condition]) -> tuple[str, Condition]:
    """The data set and the condition of a name."""
    data_set, _, name = cell.rpartition(SEPARATOR)
    return data_set, next(one for one in known if one.cell == name)
