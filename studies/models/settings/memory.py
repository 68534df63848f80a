"""Module 1 of a session: the memory test."""

from __future__ import annotations

from typing import ClassVar

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from .base import SettingsGroup, StudySettings


class BetaMapping(models.TextChoices):
    """How the memory decay β, which teachers assume, comes from the memory test."""

    PAPER = "paper", "as in the paper: 1 − 1/n̄"
    SHRUNKEN = "shrunken", "shrunken: n̄ nearer to the mean"
    FIXED = "fixed", "fixed: the same for everyone"


class MemorySettings(StudySettings):
    group: ClassVar = SettingsGroup(
        "Module 1: memory test",
        "Workers see pictures in an order and restore it. How many they can keep in order is n̄, which JEDI adapts to.",
    )

    memory_trials = models.PositiveSmallIntegerField(
        "memory trials",
        default=3,
        validators=[MinValueValidator(2), MaxValueValidator(10)],
        help_text="The shortest is dropped, and n̄ is the mean of the others.",
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
    beta_mapping = models.CharField(
        "memory decay β",
        max_length=10,
        choices=BetaMapping,
        default=BetaMapping.PAPER,
        help_text="How long teachers expect an image to act on. A few trials measure n̄ poorly: “shrunken” moves it "
        "towards the mean of the people who came before, the further the less certain it is. People’s answers have "
        "shown a weak connection between β and memory scores: see “What is known about people” in the documentation.",
    )
    fixed_beta = models.FloatField(
        "fixed β",
        null=True,
        blank=True,
        help_text="From 0 to less than 1, and only if the memory decay is fixed. The memory test takes place all the "
        "same: n̄ is measured and decides how many images JEDI shows, but it is not used for β.",
    )

    class Meta:
        abstract = True
