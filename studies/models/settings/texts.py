"""What workers read before and after a session, and what they get for it."""

from __future__ import annotations

from typing import ClassVar

from django.core.validators import RegexValidator
from django.db import models

from .base import SettingsGroup, StudySettings


def return_link(*names: str) -> RegexValidator:
    """Checks a link to a recruiter, in which these names may stand in braces."""
    filled_in = ", ".join(f"{{{name}}}" for name in names)
    return RegexValidator(
        rf"^https?://([^{{}}]|\{{({'|'.join(names)})\}})*$",
        f"Begin the link with https://. Filled in are only: {filled_in}.",
    )


class ScoreTold(models.TextChoices):
    """When the last page tells how many answers of the evaluation were right."""

    CLOSED = "closed", "when the study has closed"
    AT_ONCE = "at_once", "at once"


class TextSettings(StudySettings):
    group: ClassVar = SettingsGroup(
        "What workers read and get",
        "In the order in which workers see it.",
        outside_sessions={
            "contact",
            "score_told",
            "completion_code",
            "return_url",
            "prolific_return_url",
            "mturk_return_url",
        },
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
    contact = models.CharField(
        max_length=200,
        blank=True,
        help_text="Whom workers may write to, for example an e-mail address. Shown on the first page, and wherever a "
        "session ends, beside the worker's code.",
    )
    shows_score = models.BooleanField(
        "show the score",
        default=True,
        help_text="Whether the last page shows the evaluation accuracy.",
    )
    score_told = models.CharField(
        "when the score is told",
        max_length=10,
        choices=ScoreTold,
        default=ScoreTold.CLOSED,
        help_text="Once the study has closed and nobody is taking part any more, the last page shows the score, "
        "also to those who open it again. “At once” gives the labels away: from the scores of a few dozen sessions, "
        "which one person can take through the plain link, the class of every evaluation image can be worked out.",
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
        help_text="Where workers who came by the plain link go from the last page. {code} is the completion code.",
        validators=[return_link("code")],
    )
    prolific_return_url = models.CharField(
        "return link to Prolific",
        max_length=500,
        blank=True,
        help_text="The study's completion link on Prolific. {PROLIFIC_PID}, {STUDY_ID}, {SESSION_ID} and {code} are "
        "filled in.",
        validators=[return_link("PROLIFIC_PID", "STUDY_ID", "SESSION_ID", "code")],
    )
    mturk_return_url = models.CharField(
        "return link to Mechanical Turk",
        max_length=500,
        blank=True,
        help_text="Where workers of Mechanical Turk go from the last page. {workerId}, {assignmentId}, {hitId} and "
        "{code} are filled in.",
        validators=[return_link("workerId", "assignmentId", "hitId", "code")],
    )

    class Meta:
        abstract = True
