"""System checks: deployment settings that start, and fail or do nothing later."""

import os
from typing import Any

from django.conf import settings
from django.core import checks

from . import environment

# Permission of the group and of others to read files and to enter folders.
READABLE = 0o055


@checks.register
def settings_have_an_effect(**options: Any) -> list[checks.CheckMessage]:
    """Report JEDI_ variables that have no effect; those that would be missed stop the start (environment.py)."""
    messages: list[checks.CheckMessage] = [
        checks.Warning(
            f"{name} was removed.", hint=environment.REMOVED_SETTINGS[name], id="jedi_web.W002"
        )
        for name in environment.removed_settings()
    ]
    messages += [
        checks.Warning(f"{name} is not a setting.", hint="See .env.example.", id="jedi_web.W003")
        for name in sorted(environment.unknown_settings())
    ]
    return messages


@checks.register
def proxies_are_counted(**options: Any) -> list[checks.CheckMessage]:
    """gunicorn has no certificate: with HTTPS there is a proxy, whose address every request seems to come from."""
    if settings.JEDI_PROXIES or not settings.JEDI_PUBLIC_URL.startswith("https://"):
        return []
    return [
        checks.Warning(
            "JEDI_PUBLIC_URL begins with https:// and JEDI_PROXIES is 0, so the limits of joining and signing in "
            "count all clients as one.",
            hint="Set JEDI_PROXIES to the number of reverse proxies, usually 1.",
            id="jedi_web.W004",
        )
    ]


@checks.register
def proxy_can_read_files(**options: Any) -> list[checks.CheckMessage]:
    """The reverse proxy usually runs as another user than the one who writes images and static files."""
    if not settings.JEDI_ACCEL_LOCATION or current_umask() & READABLE != READABLE:
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
    """The umask can only be read by setting it."""
    umask = os.umask(0o077)
    os.umask(umask)
    return umask
