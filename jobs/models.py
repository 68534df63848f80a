"""The life cycle of background jobs: waiting, running under a lease, and taken over when the lease expires."""

from __future__ import annotations

import secrets
from datetime import timedelta
from typing import Any, ClassVar, Self, TypeVar

from django.db import models, transaction
from django.db.models import Q
from django.utils import timezone
from django_tasks.base import Task

# A worker without a heartbeat for this long is considered dead, and its jobs are free.
LEASE = timedelta(seconds=60)
# A job that has killed this many workers would also kill the next one.
MAX_ATTEMPTS = 3

WAITING, RUNNING, FAILED = "waiting", "running", "failed"

AnyJob = TypeVar("AnyJob", bound="Job")


class TakenOver(Exception):
    """Another worker has taken over this job, or it was deleted: stop and write nothing."""


def claim(rows: models.QuerySet[Any], row: models.Model, **fields: Any) -> bool:
    """Update a row if it is still among `rows`; return whether it was.

    A single statement: of two workers that claim the same row, only one succeeds, on any database.
    """
    return bool(rows.filter(pk=row.pk).update(**fields))


class JobQuerySet(models.QuerySet[AnyJob]):
    def silent(self) -> Self:
        """Jobs without a recent heartbeat. One from the future was written before the clock was set back."""
        now = timezone.now()
        return self.filter(Q(heartbeat_at__lt=now - LEASE) | Q(heartbeat_at__gt=now + LEASE))

    def orphaned(self) -> Self:
        """Jobs whose worker died while running them."""
        return self.silent().filter(state=RUNNING)

    def forgotten(self) -> Self:
        """Waiting jobs that no worker has seen for the time of a lease."""
        return self.silent().filter(state=WAITING)

    def free(self) -> Self:
        """Jobs that a worker may take."""
        return self.filter(state=WAITING) | self.orphaned().filter(attempts__lt=MAX_ATTEMPTS)


class Job(models.Model):
    """Long work for a background worker. Each kind declares its own states, with at least the three above."""

    # The problem that is shown when a job has failed MAX_ATTEMPTS times, and what to do.
    GIVEN_UP: ClassVar[str] = ""
    # Other fields that change then.
    ON_GIVING_UP: ClassVar[dict[str, Any]] = {}

    state = models.CharField(max_length=10, default=WAITING, editable=False)
    problem = models.TextField(blank=True, editable=False)
    heartbeat_at = models.DateTimeField(null=True, blank=True, editable=False)
    # The id of the lease: drawn by the worker that claims the job, and part of every WHERE clause of its updates.
    run = models.CharField(max_length=24, blank=True, editable=False)
    attempts = models.PositiveSmallIntegerField(default=0, editable=False)

    class Meta:
        abstract = True

    @classmethod
    def task(cls) -> Task[[int], None]:
        """The task that runs the job; its argument is the primary key."""
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
        """Queue the job's task on commit.

        If that fails, recovery does it later; a user who saw an error would order the same job again.
        """
        transaction.on_commit(self._queue, robust=True)

    def _queue(self) -> None:
        self.task().enqueue(self.pk)

    def claim(self) -> bool:
        """Take the lease, unless another worker has it."""
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
        """Hand the job back: the next worker begins at once, and it does not count as an attempt."""
        before = models.F("attempts") - 1
        if self.held().update(state=WAITING, attempts=before, heartbeat_at=timezone.now()):
            self.enqueue()

    def held(self) -> JobQuerySet[Self]:
        """The job's row, as long as this worker has the lease."""
        return self.rows().filter(pk=self.pk, run=self.run, state=RUNNING)

    def report(self, **fields: Any) -> None:
        """Update the job, with a heartbeat; raise TakenOver without the lease."""
        fields["heartbeat_at"] = timezone.now()
        if not self.held().update(**fields):
            raise TakenOver(str(self))
        for name, value in fields.items():
            setattr(self, name, value)

    def note(self, line: str) -> None:
        """Add a line to the log of the job, if it has one."""
