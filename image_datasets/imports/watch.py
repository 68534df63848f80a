"""Long work that can be watched and stopped."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from image_datasets.extractors.base import Cancelled, Progress
from image_datasets.models import Import

# Often enough for a lively bar, seldom enough for the database.
EVERY_SECONDS = 0.5


class Watch:
    """Tells an import's row how far the work is, and the work whether to stop."""

    def __init__(self, job: Import, echo: Callable[[str], None] = lambda line: None) -> None:
        self.job = job
        self.echo = echo
        self._from, self._to = 0.0, 0.0
        self._reported_at = 0.0
        self._is_cancelled = False

    def begin(self, step: str, until: float) -> None:
        """A new step, which ends at the share `until` of the whole."""
        self._from, self._to = self._to, until
        self.job.report(step=step, progress=self._from)
        self.note(step)
        self._stop_if_cancelled()

    def note(self, line: str) -> None:
        self.job.note(line)
        self.echo(line)

    def progress(self, stage: str, share: float) -> None:
        """Called by the work, as often as it likes."""
        if time.monotonic() - self._reported_at < EVERY_SECONDS:
            return
        self._reported_at = time.monotonic()
        reached = self._from + share * (self._to - self._from)
        self.job.report(progress=max(reached, self.job.progress))
        self._look_for_cancel()

    def cancelled(self) -> bool:
        return self._is_cancelled

    def _look_for_cancel(self) -> None:
        self.job.refresh_from_db(fields=["cancel_requested"])
        self._is_cancelled = self.job.cancel_requested

    def _stop_if_cancelled(self) -> None:
        self._look_for_cancel()
        if self._is_cancelled:
            raise Cancelled("The import was cancelled.")


@dataclass(frozen=True)
class Part:
    """A stretch of an import's progress, from 0 to 1."""

    start: float
    stop: float

    def at(self, share: float) -> float:
        return self.start + share * (self.stop - self.start)


def parts(start: float, stop: float, count: int) -> list[Part]:
    """The stretch from start to stop in equal parts."""
    whole = Part(start, stop)
    return [Part(whole.at(i / count), whole.at((i + 1) / count)) for i in range(count)]


def spread(progress: Progress, parts: int) -> Progress:
    """One share for work of several parts, each of which runs from 0 to 1 under a name of its own."""
    begun: list[str] = []

    def tell(stage: str, share: float) -> None:
        if stage not in begun:
            begun.append(stage)
        progress(stage, (len(begun) - 1 + share) / parts)

    return tell
