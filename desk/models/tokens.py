"""Access tokens: how a researcher's own programs reach the API."""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone

# Says what it is to whoever finds one where it should not be.
PREFIX = "jedi_"
# "Last used" is for finding forgotten tokens: it need not be written at every request.
LAST_USED_STEP = timedelta(minutes=1)


def digest_of(secret: str) -> str:
    """What is kept of a secret. It is 32 random bytes, which no table of hashes can hold."""
    return hashlib.sha256(secret.encode()).hexdigest()


class AccessTokenQuerySet(models.QuerySet["AccessToken"]):
    def visible_to(self, user: Any) -> AccessTokenQuerySet:
        return self if user.is_superuser else self.filter(user=user.pk)

    def for_secret(self, secret: str) -> AccessTokenQuerySet:
        """The token of this secret, if it is one and still good."""
        rows = self.filter(digest=digest_of(secret), revoked_at=None)
        return rows.filter(user__is_active=True, user__is_staff=True).select_related("user")


class AccessToken(models.Model):
    """A key to the API that acts for one researcher. Only its digest is kept."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, editable=False, related_name="access_tokens"
    )
    name = models.CharField(
        max_length=80, help_text="What it is for, for example: the lab's nightly download."
    )
    digest = models.CharField(max_length=64, unique=True, editable=False)
    created_at = models.DateTimeField("made", default=timezone.now, editable=False)
    last_used_at = models.DateTimeField("last used", null=True, blank=True, editable=False)
    revoked_at = models.DateTimeField("revoked", null=True, blank=True, editable=False)

    objects = AccessTokenQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.name

    @staticmethod
    def new_secret() -> str:
        return PREFIX + secrets.token_urlsafe(32)

    def touch(self) -> None:
        now = timezone.now()
        if self.last_used_at is None or now - self.last_used_at > LAST_USED_STEP:
            AccessToken.objects.filter(pk=self.pk).update(last_used_at=now)

    def revoke(self) -> None:
        """A token that was revoked already keeps its time."""
        AccessToken.objects.filter(pk=self.pk, revoked_at=None).update(revoked_at=timezone.now())
