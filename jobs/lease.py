"""The lease of a running job: a heartbeat in a thread, and a stop when another worker has taken over."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from django.db import DatabaseError, connection
from django.utils import timezone

from .models import LEASE, Job, TakenOver

logger = logging.getLogger(__name__)

# Several times within LEASE.
BEAT_SECONDS = 10.0


class Lease:
    """Renewed by a thread, because some work reports nothing for minutes."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self._renewed_at = timezone.now()
        # Set when the work has to stop. Code that sleeps can wait for this instead.
        self.ended = threading.Event()

    def __enter__(self) -> Lease:
        self._thread = threading.Thread(target=self._keep_renewing, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.ended.set()
        self._thread.join()

    def check(self) -> None:
        """Raise TakenOver without the lease. Cheap enough for every step of the work.

        The database is queried only if the last heartbeat is older than a lease, as after the machine was suspended.
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
    """Run the work on a claimed job. Return quietly if another worker takes over."""
    try:
        with Lease(job) as lease:
            work(lease)
    except TakenOver:
        logger.warning("%r was taken over or removed", job)
    except SystemExit:
        # The worker was told to stop, and the job takes too long.
        job.release()
        raise
