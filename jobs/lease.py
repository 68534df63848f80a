"""Holding a job while working on it: a heartbeat beside the work, and an end when another worker has taken over."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from django.db import DatabaseError, connection
from django.utils import timezone

from .models import LEASE, Job, TakenOver

logger = logging.getLogger(__name__)

# Several times within the silence after which a worker counts as gone.
BEAT_SECONDS = 10.0


class Lease:
    """A worker's hold on a job. A thread renews it, because some work says nothing for minutes."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self._renewed_at = timezone.now()
        # Set when the work is to stop, for whatever reason; work that waits can wait for this.
        self.ended = threading.Event()

    def __enter__(self) -> Lease:
        self._thread = threading.Thread(target=self._keep_renewing, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.ended.set()
        self._thread.join()

    def check(self) -> None:
        """Raises TakenOver unless the job is still this worker's. Cheap enough for every step of the work.

        As long as the last heartbeat is young, nobody else can have taken the job. A worker that slept longer
        than that asks the database before it goes on.
        """
        if abs(timezone.now() - self._renewed_at) > LEASE:
            self.renew()
        if self.ended.is_set():
            raise TakenOver(str(self.job))

    def renew(self) -> None:
        now = timezone.now()
        if self.job.held().update(heartbeat_at=now):
            self._renewed_at = now
        else:
            self.ended.set()

    def _keep_renewing(self) -> None:
        while not self.ended.wait(BEAT_SECONDS):
            try:
                self.renew()
            except DatabaseError:
                logger.warning("no heartbeat for %r: the database did not answer", self.job)
            finally:
                connection.close()


def work_on(job: Job, work: Callable[[Lease], None]) -> None:
    """Does the work on a job that this worker has claimed; stops quietly when another one has it by now."""
    try:
        with Lease(job) as lease:
            work(lease)
    except TakenOver:
        logger.warning("%r was taken over or removed", job)
    except SystemExit:
        # The worker was asked to stop, twice.
        job.release()
        raise
