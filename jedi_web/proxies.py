"""Who a request comes from, when our own proxies stand before the server."""

from ipaddress import ip_address

from django.conf import settings
from django.http import HttpRequest


def client_address(request: HttpRequest) -> str:
    """The address that the outermost of our proxies saw; what stands before it, the visitor may have invented."""
    direct = str(request.META.get("REMOTE_ADDR", ""))
    forwarded = str(request.META.get("HTTP_X_FORWARDED_FOR", "")).split(",")
    if not 0 < settings.JEDI_PROXIES <= len(forwarded):
        return direct
    address = forwarded[-settings.JEDI_PROXIES].strip()
    return address if _is_address(address) else direct


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True
