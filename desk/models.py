"""What the desk stores: decisions about participants, payments, access tokens, password links, webhook deliveries."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from jobs.models import claim
from studies.keys import new_key
from studies.models import Participant, Study, digest_of


class Decision(models.Model):
    """A decision to exclude a participant or to include them again. Never changed; the newest one is in force."""

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
        """Payments that have not been undone."""
        return self.filter(undone_at=None)


class Payment(models.Model):
    """A bonus that was paid. A payment that was recorded by mistake is undone, never deleted."""

    participant = models.ForeignKey(Participant, models.CASCADE, related_name="payments")
    batch = models.CharField(
        max_length=24,
        default=new_key,
        db_column="act",
        help_text="Payments that were recorded together share it.",
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

    @property
    def state(self) -> str:
        return "undone" if self.undone_at else "paid"


# "Last used" helps to find forgotten tokens, so it is not written at every request.
LAST_USED_STEP = timedelta(minutes=1)


# The default lifetime of a token. Tokens from before tokens expired got it with the migration.
A_YEAR = timedelta(days=365)


def in_a_year() -> datetime:
    return timezone.now() + A_YEAR


class AccessTokenQuerySet(models.QuerySet["AccessToken"]):
    def visible_to(self, user: Any) -> AccessTokenQuerySet:
        return self if user.is_superuser else self.filter(user=user.pk)

    def valid(self) -> AccessTokenQuerySet:
        return self.filter(revoked_at=None, expires_at__gt=timezone.now())

    def for_secret(self, secret: str) -> AccessTokenQuerySet:
        """The valid token with this secret; empty if there is none."""
        rows = self.valid().filter(digest=digest_of(secret))
        return rows.filter(user__is_active=True, user__is_staff=True).select_related("user")


class AccessToken(models.Model):
    """A token for the API that acts for one researcher. Only its digest is stored."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, editable=False, related_name="access_tokens"
    )
    name = models.CharField(
        max_length=80, help_text="What it is for, for example: the lab's nightly download."
    )
    digest = models.CharField(max_length=64, unique=True, editable=False)
    created_at = models.DateTimeField("made", default=timezone.now, editable=False)
    expires_at = models.DateTimeField("expires", default=in_a_year, editable=False)
    last_used_at = models.DateTimeField("last used", null=True, blank=True, editable=False)
    revoked_at = models.DateTimeField("revoked", null=True, blank=True, editable=False)

    objects = AccessTokenQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.name

    @staticmethod
    def new_secret() -> str:
        # The prefix identifies a leaked token.
        return "jedi_" + secrets.token_urlsafe(32)

    def touch(self) -> None:
        now = timezone.now()
        if self.last_used_at is None or now - self.last_used_at > LAST_USED_STEP:
            AccessToken.objects.filter(pk=self.pk).update(last_used_at=now)

    def revoke(self) -> None:
        """Revoke the token. A token that is already revoked keeps its time."""
        AccessToken.objects.filter(pk=self.pk, revoked_at=None).update(revoked_at=timezone.now())


class PasswordLink(models.Model):
    """The newest link that sets the password of an account. Earlier links contain another key and no longer work."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="password_link"
    )
    key = models.CharField(max_length=24, default=new_key)

    def __str__(self) -> str:
        return f"password link of {self.user}"


class WebhookQuerySet(models.QuerySet["WebhookDelivery"]):
    def due(self) -> WebhookQuerySet:
        return self.filter(state=WebhookDelivery.State.WAITING, next_try_at__lte=timezone.now())


class WebhookDelivery(models.Model):
    """One message of a study, stored in the transaction of the event that it reports."""

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
        """Store the outcome of a try, unless another worker has begun the next one."""
        this_try = WebhookDelivery.objects.filter(state=self.State.WAITING, tries=self.tries)
        claim(this_try, self, **fields)
        for name, value in fields.items():
            setattr(self, name, value)
