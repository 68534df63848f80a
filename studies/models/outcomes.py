"""The outcomes on which a study can rest its conclusion."""

from __future__ import annotations

from django.db import models


class Outcome(models.TextChoices):
    """The values are the names of the participants' columns."""

    GAIN = "teaching_gain", "teaching gain, as in the paper"
    EVALUATION = "evaluation_accuracy", "evaluation accuracy"

    @property
    def heading(self) -> str:
        """As the title of a table or a figure."""
        return self.value.replace("_", " ").capitalize()


class WithOutcome(models.Model):
    """A study's choice among the outcomes."""

    primary_outcome = models.CharField(
        max_length=20,
        choices=Outcome,
        default=Outcome.GAIN,
        help_text="Results lead with it. The other outcome is shown beside it, as a secondary one.",
    )

    class Meta:
        abstract = True

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """All outcomes, the primary one first."""
        primary = Outcome(self.primary_outcome)
        return (primary, *(outcome for outcome in Outcome if outcome != primary))
