"""What researchers decided about participants, and what they paid them."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from studies.keys import new_key
from studies.models import Participant, Study


class Decision(models.Model):
    """That a participant was excluded, or included again, and why. Written once; the newest one stands."""

    participant = models.ForeignKey(Participant, models.CASCADE, related_name="decisions")
    excludes = models.BooleanField()
    reason = models.CharField(max_length=400)
    at = models.DateTimeField(default=timezone.now)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    actor_name = models.CharField(max_length=150)

    class Meta:
        ordering = ["-at", "-pk"]

    def __str__(self) -> str:
        verb = "excluded" if self.excludes else "included again"
        return f"{self.participant_id} {verb}: {self.reason}"


class PaymentQuerySet(models.QuerySet["Payment"]):
    def of_study(self, study: Study) -> PaymentQuerySet:
        return self.filter(participant__study=study)

    def standing(self) -> PaymentQuerySet:
        """Those that have not been undone."""
        return self.filter(undone_at=None)


class Payment(models.Model):
    """That a participant was paid a bonus. A payment that was recorded by mistake is undone, never removed."""

    participant = models.ForeignKey(Participant, models.CASCADE, related_name="payments")
    act = models.CharField(
        max_length=24, default=new_key, help_text="Payments that were recorded together share it."
    )
    amount = models.DecimalField(max_digits=8, decimal_places=2)
    currency = models.CharField(max_length=3)
    recorded_at = models.DateTimeField(default=timezone.now)
    recorded_by = models.CharField(max_length=150)
    undone_at = models.DateTimeField(null=True, blank=True)
    undone_by = models.CharField(max_length=150, blank=True)

    objects = PaymentQuerySet.as_manager()

    class Meta:
        ordering = ["-recorded_at", "-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["participant"],
                condition=Q(undone_at=None),
                name="nobody_is_paid_twice",
            )
        ]

    def __str__(self) -> str:
        return f"{self.participant_id}: {self.currency} {self.amount}"
