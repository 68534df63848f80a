"""The settings of a study by subject, with the paper's values as defaults.

To add a setting, add a field to its group: the form, its explanation, versions and their differences follow.
"""

from .base import SettingsGroup, StudySettings, names_in, session_names_in
from .evaluation import EvaluationSettings
from .memory import BetaMapping, MemorySettings
from .outcome import OutcomeSettings
from .page import PageSettings
from .participation import ParticipationSettings
from .payment import PaymentSettings
from .teaching import JediEstimator, TeachingSettings
from .texts import ScoreTold, TextSettings

# In the order of the form.
GROUPS: tuple[type[StudySettings], ...] = (
    TextSettings,
    ParticipationSettings,
    PaymentSettings,
    MemorySettings,
    TeachingSettings,
    EvaluationSettings,
    PageSettings,
    OutcomeSettings,
)
SESSION_SETTINGS = tuple(name for group in GROUPS for name in session_names_in(group))
"""What sessions are made of, beside the images."""
HARMLESS = frozenset(name for group in GROUPS for name in group.group.harmless)
"""Settings that leave the outcome of a session as it is. Any other setting matters, also one that is added later."""
IN_THE_PAPER = {name: value for group in GROUPS for name, value in group.group.in_the_paper.items()}
"""The paper's values that are not the defaults. They are also what such a setting was before it existed."""

__all__ = [
    "GROUPS",
    "HARMLESS",
    "IN_THE_PAPER",
    "SESSION_SETTINGS",
    "BetaMapping",
    "EvaluationSettings",
    "JediEstimator",
    "MemorySettings",
    "OutcomeSettings",
    "PageSettings",
    "ParticipationSettings",
    "PaymentSettings",
    "ScoreTold",
    "SettingsGroup",
    "StudySettings",
    "TeachingSettings",
    "TextSettings",
    "names_in",
]
