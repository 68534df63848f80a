"""Runs the browser tests beside all others, as `make test` does: browsers mostly wait, and leave the cores to the rest.

They are two runs of pytest, because a browser's event loop must not share a process with database tests. What the
browser tests say comes whole, after the others. What failed among them is tried once more, alone, must pass then, and
is named at the end.
"""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from tests.scratch import scratch_folder
from tests.site import SHARED

PYTEST = [sys.executable, "-m", "pytest", "-m", "not faults"]
# A file's tests run in one process, and so do all that need a deployed site (tests/conftest.py): what is costly is made
# once.
BY_GROUP = ["-n", "2", "--dist", "loadgroup", "--no-loadscope-reorder"]
# They give way to the browsers, which need little and otherwise spend much of it on waiting, frame by frame.
REST = ["nice", "-n", "10", *PYTEST, *BY_GROUP, "--ignore=tests/browser"]
# What failed is remembered apart: of two runs with one memory, the later would overwrite what the other wrote.
BROWSER = [*PYTEST, "-o", "cache_dir=.pytest_cache/browser", "tests/browser"]
FIRST_TRY = [*BROWSER, "-n", "2"]
SECOND_TRY = [*BROWSER, "--last-failed", "--last-failed-no-failures", "none"]
# Somebody presses Ctrl-C, a supervisor ends the run, or the terminal is closed.
ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

Command = Sequence[str]
Part = subprocess.Popen[bytes]


def run(rest: Command, first_try: Command, second_try: Command) -> int:
    """Zero when the rest passed, and so did the browser tests, at the first or the second try."""
    listen_for_endings()
    with shared_folder(), tempfile.TemporaryFile() as output, ending_together() as parts:
        parts.append(start(first_try, output.fileno()))
        parts.append(start(rest))
        has_failed, code = (part.wait() for part in parts)
        output.seek(0)
        sys.stdout.buffer.write(output.read())
        sys.stdout.flush()
        if has_failed:
            parts.append(start(second_try))
            code = parts[-1].wait() or code
    return code


@contextmanager
def shared_folder() -> Iterator[None]:
    """What takes seconds to make, as the data folder of a new site, is made once for all processes of both parts."""
    with tempfile.TemporaryDirectory(prefix="jedi-shared-", dir=scratch_folder()) as folder:
        os.environ[SHARED] = folder
        yield


def start(command: Command, output: int | None = None) -> Part:
    """In a process group of its own, so that all of its processes hear of an ending, and hear of it once."""
    return subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, process_group=0
    )


@contextmanager
def ending_together() -> Iterator[list[Part]]:
    parts: list[Part] = []
    try:
        yield parts
    except SystemExit:
        left = [part for part in parts if part.poll() is None]
        for part in left:
            os.killpg(part.pid, signal.SIGINT)
        for part in left:
            part.wait()
        raise


def listen_for_endings() -> None:
    for ending in ENDINGS:
        signal.signal(ending, end_early)


def end_early(number: int, _frame: FrameType | None) -> NoReturn:
    """Once: the parts then stop their servers and browsers, which another signal must not cut short."""
    for ending in ENDINGS:
        signal.signal(ending, signal.SIG_IGN)
    sys.exit(128 + number)


if __name__ == "__main__":
    sys.exit(run(REST, FIRST_TRY, SECOND_TRY))
