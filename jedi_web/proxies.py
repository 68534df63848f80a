"""Which client a request comes from, behind our own proxies."""

from ipaddress import IPv6Address, ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest


def client_address(request: HttpRequest) -> str:
    """The address that the outermost of our proxies saw; a client can forge the entries before it.

    Of an IPv6 address only the /64 network: a client can use any address in it.
    """
    direct = str(request.META.get("REMOTE_ADDR", ""))
    forwarded = str(request.META.get("HTTP_X_FORWARDED_FOR", "")).split(",")
    if 0 < settings.JEDI_PROXIES <= len(forwarded):
        return _network(forwarded[-settings.JEDI_PROXIES].strip()) or _network(direct)
    return _network(direct)


def _network(text: str) -> str:
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return ""
    if isinstance(address, IPv6Address) and not address.ipv4_mapped:
        return str(ip_network((address, 64), strict=False).network_address)
    return str(address)
