"""A client of the session API, for bots and benchmarks: the same requests that a browser sends."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

TIMEOUT_SECONDS = 60
TRIES = 5
# Rate limited, or the server is starting.
RETRYABLE = {429, 502, 503, 504}
LOOPBACK = {"127.0.0.1", "localhost", "::1"}

Json = dict[str, Any]


class ServerError(Exception):
    """The server cannot be reached or rejects a request."""


class Client:
    """One keep-alive connection. Requests without a response are sent again; the session API is idempotent."""

    def __init__(self, address: str) -> None:
        self.parts = urlsplit(address)
        if self.parts.scheme not in {"http", "https"} or not self.parts.hostname:
            raise ServerError(
                f"{address!r} is not the address of a server. Write http://127.0.0.1:8000"
            )
        kind = HTTPSConnection if self.parts.scheme == "https" else HTTPConnection
        self.connection = kind(self.parts.hostname, self.parts.port, timeout=TIMEOUT_SECONDS)
        self.headers = {"Content-Type": "application/json"}
        if self.parts.hostname not in LOOPBACK:
            # Behind a proxy the server only accepts its public host name.
            public = urlsplit(settings.JEDI_PUBLIC_URL)
            self.headers |= {"Host": public.netloc, "X-Forwarded-Proto": public.scheme}

    def get(self, path: str) -> Json:
        return dict(json.loads(self.content(path)))

    def content(self, path: str) -> bytes:
        """The body of a response, for example an image."""
        return self._send("GET", path, None)

    def post(self, path: str, body: Json) -> Json:
        return dict(json.loads(self._send("POST", path, json.dumps(body))))

    def _send(self, method: str, path: str, body: str | None) -> bytes:
        for attempt in range(TRIES):
            if attempt:
                time.sleep(2.0**attempt / 4)
            try:
                self.connection.request(method, path, body, self.headers)
                response = self.connection.getresponse()
                status, content = response.status, response.read()
            except (OSError, HTTPException) as error:
                self.connection.close()
                problem = f"No answer from {self.parts.geturl()}: {error or type(error).__name__}."
                continue
            if status < 300:
                return content
            problem = f"{method} {path}: {status} {content[:300].decode(errors='replace')}"
            if status not in RETRYABLE:
                raise ServerError(problem)
        raise ServerError(f"{problem} Start the server, or name its address.")

    def close(self) -> None:
        self.connection.close()


class Session:
    """One session over the API, with its latest state."""

    def __init__(
        self,
        client: Client,
        slug: str,
        parameters: Json,
        before_each_post: Callable[[], None] = lambda: None,
    ) -> None:
        self.client = client
        self.before_each_post = before_each_post
        self.token: str = self._post(f"/api/studies/{slug}/sessions/", parameters)["token"]
        self.address = f"/api/sessions/{self.token}/"
        self.state = client.get(self.address)

    @property
    def task(self) -> Json:
        return dict(self.state["task"])

    @property
    def classes(self) -> list[str]:
        return list(self.state["session"]["classes"])

    @property
    def is_over(self) -> bool:
        return bool(self.task["kind"] == "done")

    def begin_exposure(self) -> list[str]:
        """Starts the display of a memory round and returns the true order, which is sent only once."""
        body = {"position": self.task["position"]}
        return list(self._post(self.address + "exposures/", body)["task"]["order"])

    def answer(self, answer: Json) -> Json | None:
        """Answers the current task; returns the feedback."""
        body = {"position": self.task["position"], **answer}
        self.state = self._post(self.address + "answers/", body)
        return self.state["feedback"]  # type: ignore[no-any-return]

    def _post(self, path: str, body: Json) -> Json:
        self.before_each_post()
        return self.client.post(path, body)
