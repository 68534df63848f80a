"""The bank: models of how people may learn, in one table, to be mixed by the evidence of their answers."""

from ..spaces import Spaces
from .accuracy import Difficulty, Practice, RunningAccuracy
from .attention import Attention
from .base import Family, Followed, Seen, Style
from .concept import Concept
from .exemplar import Exemplar
from .fixed import Habit, Knowledge
from .prototype import Prototype
from .rule import Rule

FAMILIES: tuple[Family, ...] = (
    Concept(),
    Exemplar(),
    Attention(),
    Prototype(),
    Rule(),
    RunningAccuracy(),
    Difficulty(),
    Practice(),
    Habit(),
    Knowledge(),
)

__all__ = ["FAMILIES", "Family", "Followed", "Seen", "Spaces", "Style"]
