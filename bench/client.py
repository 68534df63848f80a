"""HTTP with as little work as possible: the clients of a benchmark run on the cores of the server that they measure."""

from __future__ import annotations

import json
import socket
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

Json = dict[str, Any]

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
TIMEOUT_SECONDS = 60
TRIES = 3
END_OF_HEAD = b"\r\n\r\n"


class Refused(Exception):
    """The server answered with an error."""


@dataclass(frozen=True)
class Head:
    """What a client has to know of a reply before its content."""

    status: int
    length: int | None
    """None of a reply that comes in chunks"""
    location: str | None
    closes: bool

    @classmethod
    def of(cls, head: bytes) -> Head:
        return cls(
            int(head[9:12]),
            None
            if header(head, b"transfer-encoding")
            else int(header(head, b"content-length") or 0),
            header(head, b"location"),
            (header(head, b"connection") or "").lower() == "close",
        )


def header(head: bytes, name: bytes) -> str | None:
    place = head.lower().find(b"\r\n" + name + b":")
    if place < 0:
        return None
    return head[place + len(name) + 3 : head.index(b"\r\n", place + 2)].strip().decode()


def is_whole(head: Head, received: bytes, start: int) -> bool:
    """Whether a reply whose content begins at `start` has come to its end."""
    if head.length is not None:
        return len(received) >= start + head.length
    while (end := received.find(b"\r\n", start)) >= 0:
        size = int(received[start:end], 16)
        start = end + 2 + size + 2
        if not size:
            return len(received) >= start
    return False


def request_bytes(method: str, path: str, body: bytes = b"", kind: str = JSON) -> bytes:
    return (
        f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {kind}\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    ).encode() + body


def check(head: Head, content: bytes, asked: str) -> None:
    if head.status >= 400:
        raise Refused(f"{asked}: {head.status} {content[:200].decode(errors='replace')}")


class Connection:
    """One connection that is kept open as long as the server does, without and with JSON."""

    def __init__(self, address: str) -> None:
        self.place = ("127.0.0.1", urlsplit(address).port)
        self.socket: socket.socket | None = None

    def send(
        self, method: str, path: str, body: bytes = b"", kind: str = JSON
    ) -> tuple[Head, bytes]:
        request = request_bytes(method, path, body, kind)
        for _ in range(TRIES):
            try:
                head, content = self._exchange(request)
            except ConnectionError:
                # The server has closed the connection since the last reply.
                self.close()
                continue
            check(head, content, f"{method} {path}")
            return head, content
        raise Refused(f"{method} {path}: no reply")

    def _exchange(self, request: bytes) -> tuple[Head, bytes]:
        if self.socket is None:
            self.socket = socket.create_connection(self.place, TIMEOUT_SECONDS)
        self.socket.sendall(request)
        received = self._more(b"")
        while END_OF_HEAD not in received:
            received = self._more(received)
        start = received.index(END_OF_HEAD) + len(END_OF_HEAD)
        head = Head.of(received[:start])
        while not is_whole(head, received, start):
            received = self._more(received)
        if head.closes:
            self.close()
        return head, received[start:]

    def _more(self, received: bytes) -> bytes:
        assert self.socket
        if not (part := self.socket.recv(65536)):
            raise ConnectionResetError
        return received + part

    def close(self) -> None:
        if self.socket:
            self.socket.close()
            self.socket = None

    # What a session needs

    def content(self, path: str) -> bytes:
        return self.send("GET", path)[1]

    def get(self, path: str) -> Json:
        return dict(json.loads(self.content(path)))

    def post(self, path: str, body: Json) -> Json:
        return dict(json.loads(self.send("POST", path, json.dumps(body).encode())[1]))


class OwnCPU:
    """The CPU seconds of this process, which is the client, since then."""

    def __init__(self) -> None:
        self.started = time.process_time()

    def seconds(self) -> float:
        return time.process_time() - self.started
