"""Requests to URLs that researchers enter: HTTPS to the public internet only, no redirects, with a deadline.

To prevent server-side request forgery, the host is resolved here, all its IP addresses are checked, and the connection
goes to a checked one, because a second lookup could return another. JEDI_WEBHOOK_PRIVATE lifts both rules.
"""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from urllib.parse import SplitResult, urlsplit

from django.conf import settings

# For each socket operation, and for the whole request.
STEP_SECONDS = 10
TOTAL_SECONDS = 15
PORTS = {"http": 80, "https": 443}
# IPv6 addresses that a NAT64 gateway translates to the IPv4 address in their last 32 bits.
NAT64 = IPv6Network("64:ff9b::/96")
GLOBAL_UNICAST = IPv6Network("2000::/3")
# Not covered by is_global in every supported Python, or only in part.
RESERVED_IPV4 = tuple(map(IPv4Network, ("192.0.0.0/24", "192.88.99.0/24", "224.0.0.0/4")))
# IETF protocol assignments with Teredo, documentation, and 6to4.
RESERVED_IPV6 = tuple(map(IPv6Network, ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")))


class NotSent(Exception):
    """Nothing could be sent; the message tells the researcher why."""

    def __init__(self, message: str, code: str = "unreachable") -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class Destination:
    """The parts of a URL, and the IP address that was checked."""

    scheme: str
    host: str
    port: int
    path: str
    address: str


def post(url: str, body: bytes, headers: Mapping[str, str]) -> int:
    """Send the body and return the status code. Redirects are not followed."""
    destination = resolve(url)
    connection = _Connection(destination)
    try:
        with _deadline(connection):
            connection.request("POST", destination.path, body, dict(headers))
            return connection.getresponse().status
    except TimeoutError as error:
        raise NotSent(f"{destination.host} did not answer in time.", "timeout") from error
    except ssl.SSLError as error:
        message = f"{destination.host} could not be reached securely ({error.reason})."
        raise NotSent(message, "tls") from error
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise NotSent(f"{destination.host} could not be reached ({reason}).") from error
    finally:
        connection.close()


def parse(url: str) -> SplitResult:
    """Split a URL, or raise NotSent if it is not allowed. Does not resolve the host."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise NotSent("This is not a valid address.", "invalid") from error
    if parts.scheme not in PORTS or not parts.hostname or port == 0:
        raise NotSent("The address must begin with https:// and name a host.", "invalid")
    if parts.scheme == "http" and not settings.JEDI_WEBHOOK_PRIVATE:
        raise NotSent(
            "Results are not sent unencrypted: change http:// to https://. "
            "For development, JEDI_WEBHOOK_PRIVATE=1 on the server allows http://.",
            "unencrypted",
        )
    if parts.username or parts.password:
        raise NotSent(
            "Leave user names and passwords out of the address: requests are signed instead.",
            "credentials",
        )
    return parts


def resolve(url: str) -> Destination:
    parts = parse(url)
    host = str(parts.hostname)
    port = parts.port or PORTS[parts.scheme]
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise NotSent(f"No host {host} was found.", "unknown_host") from error
    addresses = [str(row[4][0]) for row in found]
    if not settings.JEDI_WEBHOOK_PRIVATE and not all(map(is_public, addresses)):
        raise NotSent(
            f"{host} is inside a private network, and this server sends no requests there.",
            "private",
        )
    path = parts.path or "/"
    return Destination(
        parts.scheme, host, port, f"{path}?{parts.query}" if parts.query else path, addresses[0]
    )


def is_public(text: str) -> bool:
    """Whether an address belongs to the public internet.

    IPv6 must be global unicast. Embedded IPv4 is accepted only in IPv4-mapped and NAT64 addresses, if it is public.
    """
    address = ip_address(text.partition("%")[0])
    if isinstance(address, IPv6Address):
        embedded = (
            IPv4Address(int(address) & 0xFFFF_FFFF) if address in NAT64 else address.ipv4_mapped
        )
        if embedded is None:
            is_reserved = any(address in network for network in RESERVED_IPV6)
            return address.is_global and address in GLOBAL_UNICAST and not is_reserved
        address = embedded
    return address.is_global and not any(address in network for network in RESERVED_IPV4)


class _Connection(http.client.HTTPConnection):
    """Connects to the checked IP address. The certificate must be valid for the host name."""

    def __init__(self, destination: Destination) -> None:
        super().__init__(destination.host, destination.port, timeout=STEP_SECONDS)
        self.default_port = PORTS[destination.scheme]
        self.destination = destination

    def connect(self) -> None:
        plain = socket.create_connection(
            (self.destination.address, self.destination.port), STEP_SECONDS
        )
        if self.destination.scheme == "http":
            self.sock = plain
            return
        try:
            context = ssl.create_default_context()
            self.sock = context.wrap_socket(plain, server_hostname=self.destination.host)
        except BaseException:
            plain.close()
            raise


@contextmanager
def _deadline(connection: _Connection) -> Iterator[None]:
    """Close the connection after TOTAL_SECONDS, even if the server keeps it alive byte by byte."""
    is_over = threading.Event()

    def end() -> None:
        is_over.set()
        if connection.sock:
            connection.sock.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(TOTAL_SECONDS, end)
    timer.start()
    try:
        yield
    except (OSError, http.client.HTTPException) as error:
        if is_over.is_set():
            raise TimeoutError from error
        raise
    finally:
        timer.cancel()
