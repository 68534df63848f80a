"""Rehearsals: a study taken by workers who are simulated, before anybody is paid."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils import timezone

from studies.keys import new_seed
from studies.models import Study

# A rehearsal that has not reported for so long has lost its worker.
SILENCE = timedelta(seconds=90)


class Rehearsal(models.Model):
    """One run of simulated workers: bots in the study's own pages, or a forecast by the engine alone."""

    class Kind(models.TextChoices):
        BOTS = "bots", "bots"
        FORECAST = "forecast", "forecast"

    class State(models.TextChoices):
        WAITING = "waiting", "waiting for a worker"
        RUNNING = "running", "running"
        DONE = "done", "done"
        FAILED = "failed", "stopped by a problem"

    study = models.ForeignKey(Study, models.CASCADE, related_name="rehearsals")
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.BOTS)
    workers = models.PositiveIntegerField(
        default=40, validators=[MinValueValidator(1), MaxValueValidator(2000)]
    )
    is_paced = models.BooleanField(
        "at a human pace",
        default=False,
        help_text="The bots look and think as long as people would. A session then takes its real time.",
    )
    seed = models.BigIntegerField(default=new_seed)
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    finished = models.PositiveIntegerField(default=0, help_text="Workers that came to the end.")
    left = models.PositiveIntegerField(default=0, help_text="Workers that dropped out.")
    problem = models.TextField(blank=True)
    # Of a forecast: teacher to one row of results per worker. It says which settings it was made with.
    results = models.JSONField(default=dict, blank=True)
    configuration_hash = models.CharField(max_length=64, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)
    heartbeat_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.workers} {self.get_kind_display()}: {self.get_state_display()}"

    @property
    def is_under_way(self) -> bool:
        return self.state in (self.State.WAITING, self.State.RUNNING) and not self.is_silent

    @property
    def is_silent(self) -> bool:
        is_open = self.state == self.State.RUNNING
        return is_open and self.heartbeat_at < timezone.now() - SILENCE

    @property
    def ended(self) -> int:
        return self.finished + self.left

    @property
    def share(self) -> float:
        return min(self.ended / self.workers, 1.0) if self.workers else 1.0

    def report(self, **fields: Any) -> None:
        """Writes how far it has come, and that somebody is at work."""
        fields["heartbeat_at"] = timezone.now()
        Rehearsal.objects.filter(pk=self.pk).update(**fields)
        for name, value in fields.items():
            setattr(self, name, value)
