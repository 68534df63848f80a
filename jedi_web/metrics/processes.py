"""What the web processes of a server share so that whichever is asked can tell the totals of all.

Each writes into files of its own, named by its number, in a folder that lives as long as the server. A process that
takes the place of a dead one takes its number too, and counts on from there.
"""

import itertools
import os
import shutil
import tempfile
from collections.abc import Collection

# Where prometheus_client looks for the folder.
FOLDER = "PROMETHEUS_MULTIPROC_DIR"

_made: list[str] = []
_number = 0


def make_folder(parent: str | None) -> None:
    """Once, before the application is loaded. A server that reads its configuration again keeps its totals."""
    if os.environ.get("JEDI_METRICS_TOKEN") and not _made:
        _made.append(tempfile.mkdtemp(prefix="jedi-metrics-", dir=parent))
        os.environ[FOLDER] = _made[0]


def remove_folder() -> None:
    while _made:
        shutil.rmtree(_made.pop(), ignore_errors=True)
        os.environ.pop(FOLDER, None)


def take_number(taken: Collection[int]) -> int:
    """The lowest that no living process has, for the process that is about to be made."""
    global _number
    _number = next(number for number in itertools.count(1) if number not in taken)
    return _number


def number() -> int:
    return _number
