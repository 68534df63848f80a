"""How far a command is and how long it will take: a bar on a terminal, a line now and then in a log."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from tqdm import tqdm

# A log only has to show that the work continues.
LOG_SECONDS = 15.0


def progress_bar(total: int, *, done: int = 0, file: TextIO | None = None) -> tqdm[Any]:
    """A bar on standard error. Call its `update` after every piece of work, and close it in the end."""
    # Loaded by the commands that show progress, and never by a web process.
    from tqdm import tqdm

    file = file or sys.stderr
    if file.isatty():
        return tqdm(total=total, initial=done, file=file, dynamic_ncols=True)
    return tqdm(
        total=total,
        initial=done,
        file=Lines(file),
        ncols=80,
        mininterval=LOG_SECONDS,
        maxinterval=LOG_SECONDS,
    )


@dataclass(frozen=True)
class Lines:
    """A file in which nothing can be written over: every state of the bar is a line of its own."""

    file: TextIO

    def write(self, text: str) -> None:
        if line := text.strip():
            self.file.write(f"{line}\n")

    def flush(self) -> None:
        self.file.flush()
