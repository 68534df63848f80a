"""The bank: models of how people may learn, mixed by the evidence of their answers."""

from ..spaces import Spaces
from .accuracy import Practice, RunningAccuracy
from .attention import Attention
from .base import Family, Observations, Predictions, Style
from .concept import Concept
from .prototype import Prototype
from .rule import Rule

FAMILIES: tuple[Family, ...] = (
    Concept(),
    Attention(),
    Prototype(),
    Rule(),
    RunningAccuracy(),
    Practice(),
)
# Families of version 1 of Tracked. Steps of older sessions still name them.
REMOVED_FAMILIES = {
    "exemplar": "compares with remembered images",
    "difficulty": "is right as often as the image is easy",
    "habit": "does not learn",
    "knowledge": "knew it before",
}
TITLES = {family.name: family.title for family in FAMILIES} | REMOVED_FAMILIES

__all__ = [
    "FAMILIES",
    "TITLES",
    "Family",
    "Observations",
    "Predictions",
    "Spaces",
    "Style",
]
