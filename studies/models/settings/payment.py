"""What workers are paid."""

from __future__ import annotations

from typing import ClassVar

from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models

from .base import SettingsGroup, StudySettings


class PaymentSettings(StudySettings):
    group: ClassVar = SettingsGroup(
        "Pay",
        "Nobody is paid from here: the Payment page works out who gets the bonus, and makes the files for it.",
        outside_sessions={"reward", "currency", "bonus_share"},
    )

    reward = models.DecimalField(
        "pay for taking part",
        max_digits=8,
        decimal_places=2,
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
        help_text="What each worker is paid for a completed session. Those who do best in the evaluation are "
        "paid double.",
    )
    currency = models.CharField(
        max_length=3,
        default="GBP",
        help_text="Three letters, such as GBP, EUR or USD.",
        validators=[RegexValidator(r"^[A-Z]{3}$", "Three capital letters, such as GBP or USD.")],
    )
    bonus_share = models.FloatField(
        "share that gets double pay",
        default=0.2,
        validators=[MinValueValidator(0), MaxValueValidator(1)],
        help_text="The highest evaluation accuracies; ties at the cut-off are included.",
    )

    class Meta:
        abstract = True
