"""The teachers of the human experiment. An omniscient one, whom no study can have, shows what is left to win."""

from .conditions import PLAIN, WINDOW, Condition

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
