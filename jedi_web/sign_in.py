"""Limits on wrong passwords: per user name and address (AXES_FAILURE_LIMIT), and per address."""

from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any

from axes.attempts import get_cool_off_threshold
from axes.handlers.database import AxesDatabaseHandler
from axes.models import AccessAttempt
from django.conf import settings
from django.db.models import Sum
from django.http import HttpRequest

# Six people behind one address can lock their own names before they lock each other out.
ADDRESS_FAILURE_LIMIT = 30


class SignInHandler(AxesDatabaseHandler):  # type: ignore[misc]
    """Also stops one address that tries many user names.

    django-axes has one limit for all lockout parameters, and with the address among them a successful sign-in would
    reset the whole address. Here it resets only the failures of its own name.
    """

    def is_locked(self, request: HttpRequest, credentials: dict[str, Any] | None = None) -> bool:
        failures = AccessAttempt.objects.filter(
            ip_address=request.axes_ip_address,  # type: ignore[attr-defined]
            attempt_time__gte=get_cool_off_threshold(request),
        ).aggregate(total=Sum("failures_since_start", default=0))["total"]
        return bool(failures >= ADDRESS_FAILURE_LIMIT or super().is_locked(request, credentials))


def client_address(request: HttpRequest) -> str:
    """The address that the outermost of our proxies saw; a client can forge the entries before it.

    An IPv6 address stands for its /64 network, because a client can use any address in it.
    """
    direct = str(request.META.get("REMOTE_ADDR", ""))
    forwarded = str(request.META.get("HTTP_X_FORWARDED_FOR", "")).split(",")
    if 0 < settings.JEDI_PROXIES <= len(forwarded):
        return network_of(forwarded[-settings.JEDI_PROXIES].strip()) or network_of(direct)
    return network_of(direct)


def network_of(text: str) -> str:
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return ""
    if isinstance(address, IPv6Address) and not address.ipv4_mapped:
        return str(ip_network((address, 64), strict=False).network_address)
    return str(address)
