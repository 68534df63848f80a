"""The outcome on which a study rests its conclusion."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from ..outcomes import Outcome
from .base import SettingsGroup, StudySettings


class OutcomeSettings(StudySettings):
    group: ClassVar = SettingsGroup("Primary outcome", harmless={"primary_outcome"})

    primary_outcome = models.CharField(
        max_length=20,
        choices=Outcome,
        default=Outcome.GAIN,
        help_text="Results lead with it. The other outcome is shown beside it, as a secondary one.",
    )

    class Meta:
        abstract = True

    def role_of(self, outcome: Outcome) -> str:
        return "primary outcome" if self.primary_outcome == outcome else "secondary outcome"

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """All outcomes, the primary one first."""
        primary = Outcome(self.primary_outcome)
        return (primary, *(outcome for outcome in Outcome if outcome != primary))
