"""Recovery of jobs whose worker died: queue them again, or mark them as failed."""

from __future__ import annotations

import logging
from typing import Any

from django.dispatch import Signal
from django.utils import timezone
from django_tasks.base import Task
from django_tasks_db.models import DBTaskResult

from .models import FAILED, MAX_ATTEMPTS, WAITING, AnyJob, Job, JobQuerySet, claim

logger = logging.getLogger(__name__)

# Sent when a worker starts, and every few seconds. Receivers recover jobs of their app, and queue what is due.
recovery_due = Signal()
TAKEN_OVER = "The background worker stopped; another one continues."


def look_for_lost_work() -> None:
    """Send `recovery_due`; an app that fails does not affect the others, and is tried again soon."""
    recovery_due.send_robust(sender=None)


def register(kind: type[Job]) -> None:
    """Recover the jobs of this model from now on."""

    def recover_jobs(**options: Any) -> None:
        recover(kind)

    recovery_due.connect(recover_jobs, weak=False, dispatch_uid=kind.__name__)


def recover(kind: type[Job]) -> None:
    """Recover the jobs of one model whose heartbeat is older than a lease."""
    for job in list(kind.rows().orphaned()):
        put_back(kind.rows().orphaned(), job, job.attempts)
    for job in list(kind.rows().forgotten()):
        if is_queued(kind.task(), job.pk):
            # It waits for its turn. The heartbeat says that a worker has seen it.
            claim(kind.rows().forgotten(), job, heartbeat_at=timezone.now())
        else:
            # A worker took the task and died before it claimed the job, which counts as an attempt.
            put_back(kind.rows().forgotten(), job, job.attempts + 1)


def put_back(lost: JobQuerySet[AnyJob], job: AnyJob, attempts: int) -> None:
    fields: dict[str, Any] = {"attempts": attempts, "heartbeat_at": timezone.now()}
    if attempts < MAX_ATTEMPTS:
        if claim(lost, job, state=WAITING, **fields):
            job.note(TAKEN_OVER)
            job.enqueue()
    elif claim(lost, job, state=FAILED, problem=job.GIVEN_UP, **job.ON_GIVING_UP, **fields):
        logger.error("%r was given up after %d attempts", job, attempts)
        job.note(job.GIVEN_UP)


def is_queued(task: Task[..., Any], *arguments: Any) -> bool:
    """Whether such a task waits in the queue."""
    tasks = DBTaskResult.objects.ready().filter(task_path=task.module_path)
    return tasks.filter(args_kwargs__args=list(arguments)).exists()
