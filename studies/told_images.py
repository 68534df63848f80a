"""The images whose addresses this process has told lately.

A page asks for an image as soon as it has its address, mostly over the same connection. Whoever names a session's token
and the secret name of an image in it was told both, so that nothing has to be read from the database. Another process,
or this one when it has forgotten, looks for the image among the tasks of the participant.

Nobody is told here that a session was deleted. So an address is forgotten a few minutes after it was told.
"""

from __future__ import annotations

from time import monotonic

# Set in the environment of a request whose reply was made without a look into the database: it tells of no answer.
FROM_FILES_ALONE = "jedi.from_files_alone"

# So many addresses take some eight megabytes.
MOST = 20_000
# A page asks at once, or for the image after this one a little later.
KEPT_SECONDS = 300.0

# By token and name: the keys of the data set and of the image, and until when they are kept.
_told: dict[tuple[str, str], tuple[str, str, float]] = {}


def remember(token: str, name: str, dataset: str, key: str) -> None:
    if len(_told) >= MOST:
        _told.clear()
    _told[token, name] = dataset, key, monotonic() + KEPT_SECONDS


def find(token: str, name: str) -> tuple[str, str] | None:
    dataset, key, until = _told.get((token, name), ("", "", 0.0))
    return (dataset, key) if monotonic() < until else None
