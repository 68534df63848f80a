"""How many may take part, for how long, and what happens to those who withdraw."""

from __future__ import annotations

from typing import ClassVar

from django.core.validators import MinValueValidator
from django.db import models

from ...keys import new_seed
from .base import SettingsGroup, StudySettings


class ParticipationSettings(StudySettings):
    group: ClassVar = SettingsGroup(
        "Taking part",
        "How many may take part, for how long, and what happens to the answers of those who withdraw.",
        outside_sessions={"max_participants", "target_per_arm", "session_hours"},
        harmless={"on_withdrawal", "seed"},
    )

    class Withdrawal(models.TextChoices):
        DELETE = "delete", "delete everything that the worker did"
        KEEP = "keep", "keep what was answered so far"

    max_participants = models.PositiveIntegerField(
        "places",
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="The study is full when this many have finished or are taking part. Empty: no limit.",
    )
    target_per_arm = models.PositiveIntegerField(
        "wanted per teacher",
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="How many completed workers you want for each teacher. The monitor shows it; the study stays "
        "open beyond it.",
    )
    session_hours = models.PositiveSmallIntegerField(
        "hours until a session expires",
        default=24,
        validators=[MinValueValidator(1)],
        help_text="A worker who has not been seen for this long counts as having abandoned the session.",
    )
    on_withdrawal = models.CharField(
        "when a worker withdraws",
        max_length=6,
        choices=Withdrawal,
        default=Withdrawal.DELETE,
        help_text="Workers are told this before they confirm.",
    )
    seed = models.BigIntegerField(
        default=new_seed, help_text="Determines every random draw of the study."
    )

    class Meta:
        abstract = True
