"""System checks: deployment settings that start, and fail or do nothing later."""

from typing import Any

from django.conf import settings
from django.core import checks

from . import environment


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
