"""What happened around the tasks of a session, and who did what with a study's data."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone

from .sessions import Participant
from .studies import Study


class SessionEvent(models.Model):
    """Something that the worker's page reported, or an error of the server. No answer depends on it."""

    class Kind(models.TextChoices):
        OPENED = "opened", "page opened"
        HIDDEN = "hidden", "page left"
        SHOWN = "shown", "page back in view"
        OFFLINE = "offline", "server not reached"
        ONLINE = "online", "server reached again"
        ERROR = "error", "error on the page"
        SERVER = "server", "error on the server"

    participant = models.ForeignKey(Participant, models.CASCADE, related_name="events")
    kind = models.CharField(max_length=10, choices=Kind)
    position = models.PositiveIntegerField(help_text="The task that was current.")
    at = models.DateTimeField(default=timezone.now)
    client_ms = models.FloatField(
        null=True, blank=True, help_text="Since the page was opened, by the worker's device."
    )
    detail = models.CharField(max_length=300, blank=True)

    class Meta:
        ordering = ["participant", "at", "pk"]
        indexes = [models.Index(fields=["kind", "at"], name="events_by_kind")]

    def __str__(self) -> str:
        return f"{self.participant_id}: {self.kind}"


class AuditQuerySet(models.QuerySet["AuditEntry"]):
    def visible_to(self, user: Any) -> AuditQuerySet:
        """Of one's own and shared studies; what belongs to no study is for superusers."""
        if user.is_superuser:
            return self
        return self.filter(study__in=Study.objects.visible_to(user).values("pk"))


class AuditEntry(models.Model):
    """Who took, changed or deleted what, and when. Written once; names outlive what they name."""

    class Action(models.TextChoices):
        EXPORT = "export", "export"
        DELETE = "delete", "deletion"
        WITHDRAW = "withdraw", "withdrawal"
        EXCLUDE = "exclude", "exclusion"
        INCLUDE = "include", "exclusion undone"
        PAY = "pay", "payment"
        STATE = "state", "change of state"
        SHARE = "share", "sharing"
        TOKEN = "token", "access token"

    at = models.DateTimeField(default=timezone.now, db_index=True)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    actor_name = models.CharField(max_length=150)
    action = models.CharField(max_length=10, choices=Action)
    study = models.ForeignKey(
        Study, models.SET_NULL, null=True, blank=True, related_name="audit_entries"
    )
    study_name = models.CharField(max_length=120, blank=True)
    detail = models.CharField(max_length=500)

    objects = AuditQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "audit entries"
        ordering = ["-at", "-pk"]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} {self.actor_name}: {self.detail}"
