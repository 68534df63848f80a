"""Deliveries of a study's webhook: what is sent, to whom, and how often it was tried."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.utils import timezone

from jobs.models import claim
from studies.models import Participant, Study


class WebhookQuerySet(models.QuerySet["WebhookDelivery"]):
    def due(self) -> WebhookQuerySet:
        return self.filter(state=WebhookDelivery.State.WAITING, next_try_at__lte=timezone.now())


class WebhookDelivery(models.Model):
    """One message of a study. Stored together with what it reports, so that none is ever lost."""

    class Event(models.TextChoices):
        FINISHED = "session.finished", "a participant finished"
        TEST = "test", "test"

    class State(models.TextChoices):
        WAITING = "waiting", "waiting"
        SENT = "sent", "received"
        FAILED = "failed", "given up"

    study = models.ForeignKey(Study, models.CASCADE, related_name="webhook_deliveries")
    participant = models.ForeignKey(
        Participant, models.CASCADE, null=True, blank=True, related_name="webhook_deliveries"
    )
    event = models.CharField(max_length=20, choices=Event)
    body = models.TextField(help_text="The JSON that is sent, byte for byte the same at every try.")
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    tries = models.PositiveSmallIntegerField(default=0)
    next_try_at = models.DateTimeField(default=timezone.now)
    created_at = models.DateTimeField(default=timezone.now)
    tried_at = models.DateTimeField(null=True, blank=True)
    answer = models.CharField(max_length=200, blank=True, help_text="What came of the last try.")

    objects = WebhookQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "webhook deliveries"
        ordering = ["-created_at", "-pk"]
        indexes = [models.Index(fields=["state", "next_try_at"], name="deliveries_by_next_try")]

    def __str__(self) -> str:
        return f"{self.event} {self.pk} ({self.state})"

    def settle(self, **fields: Any) -> None:
        """Writes the outcome of a try, unless another worker has begun the next one meanwhile."""
        this_try = WebhookDelivery.objects.filter(state=self.State.WAITING, tries=self.tries)
        claim(this_try, self, **fields)
        for name, value in fields.items():
            setattr(self, name, value)
