"""An id for every request: in the reply, in every log line, and on error pages."""

import secrets
from collections.abc import Callable
from contextvars import ContextVar

from django.http import HttpRequest, HttpResponseBase

HEADER = "X-Request-ID"

_current: ContextVar[str] = ContextVar("request_id", default="")


def current() -> str:
    """The id of the current request; empty outside of one."""
    return _current.get()


class RequestIdMiddleware:
    """Draws the ids: ids from clients could not be trusted in a log."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        before = _current.set(secrets.token_hex(6))
        try:
            response = self.get_response(request)
            response.headers[HEADER] = current()
            return response
        finally:
            _current.reset(before)
