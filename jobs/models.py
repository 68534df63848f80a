"""The life cycle that long background jobs share: waiting, running under a lease, and taken over when it lapses."""

from __future__ import annotations

import secrets
from datetime import timedelta
from typing import Any, ClassVar, Self, TypeVar

from django.db import models, transaction
from django.db.models import Q
from django.utils import timezone
from django_tasks.base import Task

# A worker that has not reported for this long is gone, and whatever it held is free.
LEASE = timedelta(seconds=60)
# A job that has killed this many workers would kill the next one too.
MOST_ATTEMPTS = 3

WAITING, RUNNING, FAILED = "waiting", "running", "failed"

AnyJob = TypeVar("AnyJob", bound="Job")


class TakenOver(Exception):
    """Another worker has this job by now, or it was removed: a worker that gets this stops and writes nothing."""


def claim(rows: models.QuerySet[Any], row: models.Model, **fields: Any) -> bool:
    """Changes a row if it is still among these; whether it was.

    One statement, so that of two workers who claim the same row only one succeeds, on any database.
    """
    return bool(rows.filter(pk=row.pk).update(**fields))


class JobQuerySet(models.QuerySet[AnyJob]):
    def silent(self) -> Self:
        """A heartbeat from the future was written by a clock that has been set back since, and says nothing."""
        now = timezone.now()
        return self.filter(Q(heartbeat_at__lt=now - LEASE) | Q(heartbeat_at__gt=now + LEASE))

    def orphaned(self) -> Self:
        """Jobs whose worker died at work."""
        return self.silent().filter(state=RUNNING)

    def forgotten(self) -> Self:
        """Jobs that wait, and that no worker has looked at for a while."""
        return self.silent().filter(state=WAITING)

    def free(self) -> Self:
        """Jobs that a worker may take."""
        return self.filter(state=WAITING) | self.orphaned().filter(attempts__lt=MOST_ATTEMPTS)


class Job(models.Model):
    """Long work that a background worker carries out. Each kind declares its own states, with at least these three."""

    # What the researcher reads when a job has been given up, and what to do about it.
    GIVEN_UP: ClassVar[str] = ""
    # What else changes when a job is given up.
    ON_GIVING_UP: ClassVar[dict[str, Any]] = {}

    state = models.CharField(max_length=10, default=WAITING, editable=False)
    problem = models.TextField(blank=True, editable=False)
    heartbeat_at = models.DateTimeField(null=True, blank=True, editable=False)
    # The lease: drawn by every worker that takes the job, and named in everything that it writes.
    run = models.CharField(max_length=24, blank=True, editable=False)
    attempts = models.PositiveSmallIntegerField(default=0, editable=False)

    class Meta:
        abstract = True

    @classmethod
    def task(cls) -> Task[[int], None]:
        """What the worker calls, with the job's primary key."""
        raise NotImplementedError

    @classmethod
    def rows(cls) -> JobQuerySet[Self]:
        return JobQuerySet(cls)

    @property
    def is_silent(self) -> bool:
        return self.heartbeat_at is None or abs(timezone.now() - self.heartbeat_at) > LEASE

    @property
    def is_orphaned(self) -> bool:
        return self.state == RUNNING and self.is_silent

    @property
    def is_at_work(self) -> bool:
        return self.state == RUNNING and not self.is_silent

    def enqueue(self) -> None:
        """Puts the job into the worker's queue, once the transaction that made it stands.

        The row is the truth: if the queue cannot be written then, recovery does it later. Whoever was told of a failure
        instead would order the same again.
        """
        transaction.on_commit(self._queue, robust=True)

    def _queue(self) -> None:
        self.task().enqueue(self.pk)

    def claim(self) -> bool:
        """Makes the job this worker's, unless another one has it."""
        is_mine = claim(
            self.rows().free(),
            self,
            state=RUNNING,
            problem="",
            run=secrets.token_hex(12),
            attempts=models.F("attempts") + 1,
            heartbeat_at=timezone.now(),
        )
        if is_mine:
            self.refresh_from_db()
        return is_mine

    def release(self) -> None:
        """Gives the job back when its worker is asked to stop: the next one begins at once; it costs no attempt."""
        before = models.F("attempts") - 1
        if self.held().update(state=WAITING, attempts=before, heartbeat_at=timezone.now()):
            self.enqueue()

    def held(self) -> JobQuerySet[Self]:
        """The job's row, as long as it is this worker's."""
        return self.rows().filter(pk=self.pk, run=self.run, state=RUNNING)

    def report(self, **fields: Any) -> None:
        """Writes progress for the page that watches; a heartbeat goes with every report."""
        fields["heartbeat_at"] = timezone.now()
        if not self.held().update(**fields):
            raise TakenOver(str(self))
        for name, value in fields.items():
            setattr(self, name, value)

    def note(self, line: str) -> None:
        """Tells what happened to a job, where one keeps a log."""
