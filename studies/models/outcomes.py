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
