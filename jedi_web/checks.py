"""What `manage.py` says before it begins, if something is set in a way that will fail later."""

import os
from typing import Any

from django.conf import settings
from django.core import checks

# Reading files and entering folders, for the group and for others.
READING = 0o055


def files_can_be_read_by_the_server_in_front(**options: Any) -> list[checks.CheckMessage]:
    """It mostly runs as another user than those who write images and static files."""
    if not settings.JEDI_ACCEL_LOCATION or current_umask() & READING != READING:
        return []
    return [
        checks.Warning(
            f"With the umask {current_umask():03o}, only this user can read new images and static files, and "
            "JEDI_ACCEL_LOCATION says that another server sends them.",
            hint="Set the umask to 022, or run that server as this user.",
            id="jedi_web.W001",
        )
    ]


def current_umask() -> int:
    """It can only be read by setting it."""
    umask = os.umask(0o077)
    os.umask(umask)
    return umask
