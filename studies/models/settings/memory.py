"""Module 1 of a session: the memory test."""

from __future__ import annotations

from typing import ClassVar

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from .base import SettingsGroup, StudySettings


class MemorySettings(StudySettings):
    group: ClassVar = SettingsGroup(
        "Module 1: memory test",
        "Workers see pictures in an order and restore it. How many they can keep in order is n̄, which JEDI adapts to.",
    )

    memory_trials = models.PositiveSmallIntegerField(
        "memory trials",
        default=3,
        validators=[MinValueValidator(2), MaxValueValidator(10)],
        help_text="The shortest is dropped, and n̄ is the mean of the others. β = 1 − 1/n̄.",
    )
    memory_min_length = models.PositiveSmallIntegerField(
        "images in the first round",
        default=2,
        validators=[MinValueValidator(2)],
        help_text="Every trial begins with this many; each correct round adds one.",
    )
    memory_max_length = models.PositiveSmallIntegerField(
        "images in the last round",
        default=9,
        help_text="A trial ends at the first mistake, or after a correct round of this length.",
    )
    memory_extra_seconds = models.FloatField(
        "seconds beyond one per image",
        default=1.0,
        validators=[MinValueValidator(0), MaxValueValidator(60)],
        help_text="n images are shown for n seconds plus this: by default, 3 s for 2 images and 10 s for 9.",
    )
    memory_practice = models.BooleanField(
        "practice round",
        default=True,
        help_text="One round of the shortest length, which does not count.",
    )

    class Meta:
        abstract = True
