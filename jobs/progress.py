"""Progress of a command: a bar on a terminal, or a line now and then in a log file."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from tqdm import tqdm

# A log only has to show that the work continues.
LOG_SECONDS = 15.0


def progress_bar(total: int, *, done: int = 0, file: TextIO | None = None) -> tqdm[Any]:
    """A tqdm bar on standard error. Call `update` after every item, and close it in the end."""
    # Imported here, so that web processes do not load it.
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
    """A file without carriage returns: every update of the bar is a line."""

    file: TextIO

    def write(self, text: str) -> None:
        if line := text.strip():
            self.file.write(f"{line}\n")

    def flush(self) -> None:
        self.file.flush()
