"""Finding what dead workers left: it goes back into the queue, or is given up with a sentence that says so."""

from __future__ import annotations

import logging
from typing import Any

from django.dispatch import Signal
from django.utils import timezone
from django_tasks.base import Task
from django_tasks_db.models import DBTaskResult

from .models import FAILED, MOST_ATTEMPTS, WAITING, AnyJob, Job, JobQuerySet, claim

logger = logging.getLogger(__name__)

# Sent when a worker starts, and every few seconds while it works: take over what a dead worker left, and enqueue
# what is due. The background worker knows none of the apps whose jobs it runs.
recovery_due = Signal()
TAKEN_OVER = "The background worker stopped; another one continues."


def look_for_lost_work() -> None:
    """Asks every app. One whose database does not answer keeps the others from nothing: the next look is near."""
    recovery_due.send_robust(sender=None)


def register(kind: type[Job]) -> None:
    """From now on, workers look after the jobs of this kind."""

    def recover_jobs(**options: Any) -> None:
        recover(kind)

    recovery_due.connect(recover_jobs, weak=False, dispatch_uid=kind.__name__)


def recover(kind: type[Job]) -> None:
    """Takes care of the jobs of one kind that have been silent for longer than a lease."""
    for job in list(kind.rows().orphaned()):
        put_back(kind.rows().orphaned(), job, job.attempts)
    for job in list(kind.rows().forgotten()):
        if is_queued(kind.task(), job.pk):
            # It only waits for its turn; that a worker has seen it is a sign of life.
            claim(kind.rows().forgotten(), job, heartbeat_at=timezone.now())
        else:
            # A worker took the order and died before it could begin, which counts as an attempt.
            put_back(kind.rows().forgotten(), job, job.attempts + 1)


def put_back(lost: JobQuerySet[AnyJob], job: AnyJob, attempts: int) -> None:
    fields: dict[str, Any] = {"attempts": attempts, "heartbeat_at": timezone.now()}
    if attempts < MOST_ATTEMPTS:
        if claim(lost, job, state=WAITING, **fields):
            job.note(TAKEN_OVER)
            job.enqueue()
    elif claim(lost, job, state=FAILED, problem=job.GIVEN_UP, **job.ON_GIVING_UP, **fields):
        logger.error("%r was given up after %d attempts", job, attempts)
        job.note(job.GIVEN_UP)


def is_queued(task: Task[..., Any], *arguments: Any) -> bool:
    """Whether an order is waiting for a worker that has time."""
    orders = DBTaskResult.objects.ready().filter(task_path=task.module_path)
    return orders.filter(args_kwargs__args=list(arguments)).exists()
