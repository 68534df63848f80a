"""Progress of an import: reported to its row, and a check whether it was cancelled."""

from __future__ import annotations

import time
from collections.abc import Callable

from image_datasets.extractors.base import Cancelled
from image_datasets.models import Import

# Often enough for a smooth progress bar, and no burden for the database.
REPORT_SECONDS = 0.5


class ImportProgress:
    def __init__(self, job: Import, echo: Callable[[str], None] = lambda line: None) -> None:
        self.job = job
        self.echo = echo
        self._start, self._stop = 0.0, 0.0
        self._reported_at = 0.0
        self._is_cancelled = False

    def begin(self, step: str, start: float, stop: float) -> None:
        """Begin a step, which takes the import from the share `start` to the share `stop`."""
        self._start, self._stop = start, stop
        self.job.report(step=step, progress=start)
        self.note(step)
        self._check_for_cancel()
        if self._is_cancelled:
            raise Cancelled("The import was cancelled.")

    def note(self, line: str) -> None:
        self.job.note(line)
        self.echo(line)

    def update(self, stage: str, share: float) -> None:
        """Report the share of the step that is done; may be called as often as convenient."""
        if time.monotonic() - self._reported_at < REPORT_SECONDS:
            return
        self._reported_at = time.monotonic()
        reached = self._start + share * (self._stop - self._start)
        self.job.report(progress=max(reached, self.job.progress))
        self._check_for_cancel()

    def is_cancelled(self) -> bool:
        return self._is_cancelled

    def _check_for_cancel(self) -> None:
        self.job.refresh_from_db(fields=["cancel_requested"])
        self._is_cancelled = self.job.cancel_requested
