"""HTTP/1.1 in the plain form in which browsers and bots send workers' requests.

gunicorn reads requests of every form that there is, which takes longer than to answer many a worker. Here a request is
read only if each of its lines has one clear meaning: no header twice, none that changes what follows it, no name or
address that could be read in two ways. Every other request is left to gunicorn, which knows it or refuses it.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from email.utils import formatdate
from functools import lru_cache
from time import time
from typing import Any

END_OF_LINE, END_OF_HEAD = b"\r\n", b"\r\n\r\n"
REQUEST_LINE = re.compile(rb"(GET|POST) ((/[\w.~/-]*)(?:\?([!-\"$-~]*))?) HTTP/1\.1")
FIELD = re.compile(rb"([A-Za-z][A-Za-z0-9-]*):[ \t]*((?:[!-~](?:[\t -~]*[!-~])?)?)[ \t]*")
LENGTH = re.compile(r"[0-9]{1,9}")
# What is longer, gunicorn may refuse.
MOST_FIELDS, LONGEST_LINE = 100, 4000
# After one of these, other bytes follow than the length of the body says, or another reply is expected.
UNUSUAL = frozenset({"HTTP_TRANSFER_ENCODING", "HTTP_EXPECT", "HTTP_UPGRADE"})
# The two headers that WSGI knows by names of their own.
OWN_NAMES = {"HTTP_CONTENT_TYPE": "CONTENT_TYPE", "HTTP_CONTENT_LENGTH": "CONTENT_LENGTH"}
STAYS_OPEN = {None: True, "keep-alive": True, "close": False}
# Replies that have no body, whatever the application says.
WITHOUT_BODY = ("204", "304")

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


@dataclass(frozen=True, slots=True)
class PlainRequest:
    """`environ` has what the request says, `rest` is what has come behind it."""

    environ: dict[str, Any]
    stays_open: bool
    rest: bytes


def read(received: bytes, left_alone: Collection[str] = ()) -> PlainRequest | None:
    """A request, once all of it has come; None if it has not, is not of the plain form, or has one of the headers to be
    left alone, by their names in WSGI."""
    head, end, after = received.partition(END_OF_HEAD)
    line, *fields = lines = head.split(END_OF_LINE)
    if len(fields) > MOST_FIELDS or max(map(len, lines)) > LONGEST_LINE:
        return None
    asked, headers = REQUEST_LINE.fullmatch(line), _headers(fields)
    if not (end and asked and headers and "HTTP_HOST" in headers):
        return None
    stays_open = STAYS_OPEN.get(_lower(headers.get("HTTP_CONNECTION")))
    if stays_open is None or not headers.keys().isdisjoint((*UNUSUAL, *left_alone)):
        return None
    length = _length(headers.get("CONTENT_LENGTH", "0"))
    if length is None or length > len(after):
        return None
    method, address, path, query = (part.decode() for part in asked.groups(b""))
    environ = {
        **headers,
        "REQUEST_METHOD": method,
        "RAW_URI": address,
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "SERVER_PROTOCOL": "HTTP/1.1",
        "wsgi.input": io.BytesIO(after[:length]),
    }
    return PlainRequest(environ, stays_open, after[length:])


def _headers(fields: Iterable[bytes]) -> dict[str, str] | None:
    """By their names in WSGI; None if a line is not of the plain form, or a header comes twice."""
    headers: dict[str, str] = {}
    for field in fields:
        found = FIELD.fullmatch(field)
        if not found:
            return None
        name = "HTTP_" + found[1].decode().upper().replace("-", "_")
        name = OWN_NAMES.get(name, name)
        if name in headers:
            return None
        headers[name] = found[2].decode()
    return headers


def _length(value: str) -> int | None:
    """Of a body; None if it is not a plain number."""
    return int(value) if LENGTH.fullmatch(value) else None


def _lower(value: str | None) -> str | None:
    return value and value.lower()


@dataclass(frozen=True, slots=True)
class Reply:
    status: str
    headers: list[tuple[str, str]]
    body: bytes

    def sent(self, server: str, stays_open: bool) -> bytes:
        """As it goes over the connection."""
        has_body = not self.status.startswith(WITHOUT_BODY)
        lines = [
            f"HTTP/1.1 {self.status}",
            f"Server: {server}",
            f"Date: {_date(int(time()))}",
            f"Connection: {'keep-alive' if stays_open else 'close'}",
            *(f"{name}: {value}" for name, value in self.headers),
        ]
        if has_body and all(name.lower() != "content-length" for name, _ in self.headers):
            lines.append(f"Content-Length: {len(self.body)}")
        head = "\r\n".join((*lines, "", "")).encode("latin-1")
        return head + self.body if has_body else head


def reply_of(application: Application, environ: dict[str, Any]) -> Reply:
    """What a WSGI application replies, once all of it is there."""
    started: list[tuple[str, list[tuple[str, str]]]] = []
    written: list[bytes] = []

    def start_response(
        status: str, headers: list[tuple[str, str]], exc_info: Any = None
    ) -> Callable[[bytes], None]:
        # Nothing has been sent yet, so that a second start takes the place of the first.
        started.append((status, headers))
        return written.append

    parts = application(environ, start_response)
    try:
        written.extend(parts)
    finally:
        if hasattr(parts, "close"):
            parts.close()
    status, headers = started[-1]
    return Reply(status, headers, b"".join(written))


@lru_cache(maxsize=1)
def _date(second: int) -> str:
    return formatdate(second, usegmt=True)
