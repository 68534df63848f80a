"""Whose study it is: who may see and change which, and the colleagues it is shared with."""

from __future__ import annotations

from typing import Any, Self, TypeVar

from django.conf import settings
from django.db import models
from django.db.models import Q

AnyStudy = TypeVar("AnyStudy", bound=models.Model, covariant=True)


class StudyQuerySet(models.QuerySet[AnyStudy]):
    """Who may see and change which studies: the one place that decides it."""

    def visible_to(self, user: Any) -> Self:
        """One's own and those shared with one; all for superusers."""
        if user.is_superuser:
            return self
        return self.filter(Q(owner=user) | Q(pk__in=_shared_with(user))) if user.pk else self.none()

    def editable_by(self, user: Any) -> Self:
        if user.is_superuser:
            return self
        shared = _shared_with(user).filter(can_edit=True)
        return self.filter(Q(owner=user) | Q(pk__in=shared)) if user.pk else self.none()


def _shared_with(user: Any) -> Any:
    return StudyShare.objects.filter(user=user).values("study")


class StudyShare(models.Model):
    """A colleague who may see a study, or change it too."""

    study = models.ForeignKey("studies.Study", models.CASCADE, related_name="shares")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="shared_studies"
    )
    can_edit = models.BooleanField(
        default=False, help_text="May change the study and its people, not only view them."
    )

    class Meta:
        verbose_name = "colleague"
        constraints = [
            models.UniqueConstraint(fields=["study", "user"], name="one_share_per_colleague")
        ]

    def __str__(self) -> str:
        return f"{self.user} ({'edit' if self.can_edit else 'read'})"
