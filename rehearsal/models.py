"""Rehearsals: a study taken by workers who are simulated, before anybody is paid."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils import timezone

from jobs.models import Job
from studies.keys import new_seed
from studies.models import Study

if TYPE_CHECKING:
    from django_tasks.base import Task


class Rehearsal(Job):
    """One run of simulated workers: bots in the study's own pages, or a forecast by the engine alone."""

    class Kind(models.TextChoices):
        BOTS = "bots", "bots"
        FORECAST = "forecast", "forecast"

    class State(models.TextChoices):
        WAITING = "waiting", "waiting for a worker"
        RUNNING = "running", "running"
        DONE = "done", "done"
        FAILED = "failed", "stopped by a problem"

    GIVEN_UP = (
        "The background worker stopped three times during this, so it was given up. The server may have too little "
        "memory for it: look at the server's log, then start it again, perhaps with fewer workers."
    )

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
    learning_rate = models.FloatField(
        null=True, blank=True, help_text="η₀ of the simulated workers and their teachers."
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)
    heartbeat_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.workers} {self.get_kind_display()}: {self.get_state_display()}"

    @classmethod
    def task(cls) -> Task[[int], None]:
        from .tasks import carry_out

        return carry_out

    @classmethod
    def forecasts_of(cls, study: Study) -> models.QuerySet[Rehearsal]:
        """Those that are done, the newest first."""
        return study.rehearsals.filter(kind=cls.Kind.FORECAST, state=cls.State.DONE)

    @property
    def is_open(self) -> bool:
        return self.state in (self.State.WAITING, self.State.RUNNING)

    @property
    def is_under_way(self) -> bool:
        """Whether it will be carried out; a silent one only when there is a worker again."""
        return self.is_open and not self.is_silent

    @property
    def status(self) -> str:
        """The state in words, and whether a worker is looking after it."""
        if self.is_open and self.is_silent:
            return "no background worker is running"
        return self.get_state_display()

    @property
    def was_interrupted(self) -> bool:
        """Whether a worker stopped before it was done. One that waits has not begun its next attempt."""
        return self.attempts > (0 if self.state == self.State.WAITING else 1)

    @property
    def interruption(self) -> str:
        """What became of it after its worker stopped."""
        if not self.was_interrupted or self.state == self.State.FAILED:
            return ""
        if self.kind == self.Kind.FORECAST:
            return "The background worker stopped, so this was started again from the same seed."
        return (
            "The background worker stopped. New bots replace those that had not finished; "
            "the interrupted sessions stay unfinished."
        )

    @property
    def ended(self) -> int:
        return self.finished + self.left

    @property
    def share(self) -> float:
        return min(self.ended / self.workers, 1.0) if self.workers else 1.0
