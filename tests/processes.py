"""Looking at processes, and waiting for them."""

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any


def until(holds: Callable[[], Any]) -> Any:
    """Waits for something that must come."""
    for _ in range(6000):
        if found := holds():
            return found
        time.sleep(0.01)
    raise AssertionError("It never came.")


def children_of(pid: int) -> list[int]:
    return [
        int(child)
        for task in Path(f"/proc/{pid}/task").iterdir()
        for child in (task / "children").read_text().split()
    ]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def command_of(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/cmdline").read_text().split("\0")


def find_child(parent: int, word: str) -> int | None:
    """The child of a process whose command has this word, when there is one."""
    # Any of them may end while we look.
    with suppress(OSError):
        for child in children_of(parent):
            if is_alive(child) and word in command_of(child):
                return child
    return None
