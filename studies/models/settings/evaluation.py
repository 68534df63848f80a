"""Module 3 of a session: the evaluation."""

from __future__ import annotations

from typing import ClassVar

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from .base import SettingsGroup, StudySettings


class EvaluationSettings(StudySettings):
    group: ClassVar = SettingsGroup(
        "Module 3: evaluation",
        "What was learned, tested on images that are not used for teaching.",
    )

    evaluation_size = models.PositiveSmallIntegerField(
        "evaluation images",
        default=100,
        validators=[MinValueValidator(2)],
        help_text="New images without feedback, equally many of each class, in a different order for each worker.",
    )
    attention_checks = models.PositiveSmallIntegerField(
        default=0,
        validators=[MaxValueValidator(10)],
        help_text="Images in the evaluation that say which button to press. They are not scored; "
        "they only measure attention. The paper has none.",
    )

    class Meta:
        abstract = True
