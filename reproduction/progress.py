"""How far a run is and how long it will take: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

WIDTH = 30
# Often enough for a lively bar; seldom enough for a log.
BAR_SECONDS, LINE_SECONDS = 0.1, 15.0


@dataclass(frozen=True)
class Screen:
    """Where progress is written, as it is and without a line's end; a terminal can write over its last line."""

    write: Callable[[str], object]
    is_terminal: bool


class ProgressBar:
    """Counts pieces of work. The time left is what is left at the pace since the first of this run."""

    def __init__(
        self,
        total: int,
        *,
        done: int = 0,
        screen: Screen,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._total, self._done, self._before = total, done, done
        self._screen, self._clock = screen, clock
        self._started = clock()
        # Processes take seconds to start, which says nothing about the pace.
        self._first: float | None = None
        self._told: float | None = None

    def step(self) -> None:
        """One more is done."""
        now = self._clock()
        self._done += 1
        self._first = now if self._first is None else self._first
        pause = BAR_SECONDS if self._screen.is_terminal else LINE_SECONDS
        if self._done == self._total or self._told is None or now - self._told >= pause:
            self._told = now
            self._tell(self._text(now))

    def _text(self, now: float) -> str:
        filled = round(WIDTH * self._done / self._total)
        bar = f"[{'#' * filled}{'.' * (WIDTH - filled)}]"
        return f"{bar} {self._done}/{self._total}  {self._time(now)}".rstrip()

    def _time(self, now: float) -> str:
        if self._done == self._total:
            return f"{spoken(now - self._started)} in all"
        paced = self._done - self._before - 1
        if self._first is None or paced < 1:
            return ""
        left = (now - self._first) / paced * (self._total - self._done)
        return f"about {spoken(left)} left"

    def _tell(self, text: str) -> None:
        if self._screen.is_terminal:
            self._screen.write(f"\r{text}\x1b[K" + ("\n" if self._done == self._total else ""))
        else:
            self._screen.write(text + "\n")


def spoken(seconds: float) -> str:
    """75 as 1 min 15 s."""
    whole = round(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60:02d} s"
