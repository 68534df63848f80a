"""The images whose addresses this process has told lately.

A page asks for an image as soon as it has its address, mostly over the same connection. Whoever names a session's token
and the secret name of an image in it was told both, so that nothing has to be read from the database. Another process,
or this one when it has forgotten, looks for the image among the tasks of the participant.
"""

from __future__ import annotations

# Set in the environment of a request whose reply was made without a look into the database: it tells of no answer.
FROM_FILES_ALONE = "jedi.from_files_alone"

# So many addresses take some eight megabytes.
MOST = 20_000

# By token and name: the keys of the data set and of the image.
_told: dict[tuple[str, str], tuple[str, str]] = {}


def remember(token: str, name: str, dataset: str, key: str) -> None:
    if len(_told) >= MOST:
        _told.clear()
    _told[token, name] = dataset, key


def find(token: str, name: str) -> tuple[str, str] | None:
    return _told.get((token, name))
