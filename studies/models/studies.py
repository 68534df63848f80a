"""Studies: one experiment each, with the paper's numbers as defaults."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.urls import reverse
from django.utils import timezone

from ..keys import new_token
from .datasets import Dataset
from .settings import (
    SESSION_SETTINGS,
    EvaluationSettings,
    MemorySettings,
    OutcomeSettings,
    PageSettings,
    ParticipationSettings,
    PaymentSettings,
    TeachingSettings,
    TextSettings,
)
from .sharing import StudyQuerySet
from .versions import Versioned, tidy


class Study(
    TextSettings,
    ParticipationSettings,
    PaymentSettings,
    MemorySettings,
    TeachingSettings,
    EvaluationSettings,
    PageSettings,
    OutcomeSettings,
    Versioned,
):
    """One experiment: a data set, its settings by subject, and a link. Defaults are the paper's values."""

    class State(models.TextChoices):
        DRAFT = "draft", "draft"
        PILOT = "pilot", "pilot"
        OPEN = "open", "open"
        PAUSED = "paused", "paused"
        CLOSED = "closed", "closed"

    # The states in which the public link lets people in.
    TAKES_PART = (State.PILOT, State.OPEN)

    # What a session is made of. A change makes a new version; people under way keep the old one.
    CONFIGURATION = ("dataset", *SESSION_SETTINGS)

    # Written by single statements while people join: a form that was opened earlier must not set them back.
    KEPT_BY_THE_SERVER = (
        "current_version", "next_ticket", "next_pilot_ticket", "closed_arms", "roster",
    )  # fmt: skip

    title = models.CharField(max_length=120, help_text="Workers see it on every page.")
    slug = models.SlugField(
        "link name",
        unique=True,
        help_text="The last part of the public link: /s/LINK-NAME/. Changing it breaks links that were already "
        "handed out.",
    )
    dataset = models.ForeignKey(
        Dataset,
        models.PROTECT,
        verbose_name="data set",
        related_name="studies",
        help_text="The images to teach and test with, and the names of their classes.",
    )
    state = models.CharField(
        max_length=10,
        choices=State,
        default=State.DRAFT,
        help_text="Who may begin. Change it with the buttons above the settings.",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        blank=True,
        editable=False,
        related_name="studies",
    )
    next_ticket = models.PositiveIntegerField(default=0, editable=False)
    # Pilots have a round robin of their own, so that they leave no gap in the real one.
    next_pilot_ticket = models.PositiveIntegerField(default=0, editable=False)
    closed_arms = models.JSONField(default=list, blank=True, editable=False)
    # How many have ever joined, signed (studies/chain.py).
    roster = models.CharField(max_length=90, blank=True, default="", db_default="", editable=False)
    webhook_url = models.URLField(
        "webhook",
        max_length=500,
        blank=True,
        help_text="Receives a signed request whenever a live participant finishes. Begin it with https://",
    )
    webhook_secret = models.CharField(max_length=40, default=new_token, editable=False)

    objects = StudyQuerySet["Study"].as_manager()

    class Meta:
        verbose_name_plural = "studies"
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse("entry", args=[self.slug])

    def clean(self) -> None:
        """Checks the fields together. What only a later module can judge is left to that module's stage."""
        from .. import stages

        self.welcome, self.consent = tidy(self.welcome), tidy(self.consent)
        problems: dict[str, list[str]] = {}
        for stage in stages.flow() if self.dataset_id else ():
            for field, problem in stage.check_settings(self).items():
                problems.setdefault(field, []).append(problem)
        if problems:
            raise ValidationError(problems)

    @property
    def public_url(self) -> str:
        return settings.JEDI_PUBLIC_URL + self.get_absolute_url()

    @property
    def arm_names(self) -> list[str]:
        return [name.strip() for name in self.arms.split(",") if name.strip()]

    @property
    def open_arms(self) -> list[str]:
        """The arms that are still assigned; all of them if every one was closed."""
        return [name for name in self.arm_names if name not in self.closed_arms] or self.arm_names

    @property
    def cutoff(self) -> datetime:
        """A worker last seen before this moment has abandoned the session."""
        return timezone.now() - timedelta(hours=self.session_hours)

    def is_full(self) -> bool:
        if self.max_participants is None:
            return False
        return self.participants.live().occupying(self.cutoff).count() >= self.max_participants
