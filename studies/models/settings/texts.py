"""What workers read before and after a session, and what they get for it."""

from __future__ import annotations

from typing import ClassVar

from django.core.validators import RegexValidator
from django.db import models

from .base import SettingsGroup, StudySettings


class TextSettings(StudySettings):
    group: ClassVar = SettingsGroup(
        "What workers read and get",
        "In the order in which workers see it.",
        outside_sessions={"completion_code", "return_url"},
        harmless={"welcome", "consent", "minutes", "shows_score"},
    )

    welcome = models.TextField(
        blank=True,
        help_text="Shown before a worker begins. Plain text; a blank line starts a paragraph.",
    )
    consent = models.TextField(
        "consent text", help_text="Your own text. Plain text; a blank line starts a paragraph."
    )
    minutes = models.PositiveSmallIntegerField(
        "minutes it takes", default=20, help_text="Workers are told this before they begin."
    )
    shows_score = models.BooleanField(
        "show the score",
        default=True,
        help_text="Whether the last page shows the evaluation accuracy.",
    )
    completion_code = models.CharField(
        max_length=60,
        blank=True,
        help_text="Shown on the last page; workers enter it on the recruitment platform. Empty: no code.",
    )
    return_url = models.CharField(
        "return link",
        max_length=500,
        blank=True,
        help_text="Where workers return to, for example the completion link of your recruitment platform. "
        "{PROLIFIC_PID}, {STUDY_ID}, {SESSION_ID}, {workerId}, {assignmentId}, {hitId} and {code} are filled in.",
        validators=[RegexValidator(r"^https?://", "Begin the link with https://")],
    )

    class Meta:
        abstract = True
