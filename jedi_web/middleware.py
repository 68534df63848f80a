"""A header for every page, and what only pages of researchers need: a worker's requests pass that by.

Sessions, sign-in and messages belong to people with an account.
"""

from collections.abc import Callable
from typing import Any

from csp.constants import HEADER
from csp.middleware import CSPMiddleware
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from .addresses import is_of_a_worker

NO_PAGES = ("application/json", "image/jpeg")
NOTHING_RUNS = "default-src 'none'; frame-ancestors 'none'"


# No page needs any of these, so no script that might get into one has them either.
UNUSED = (
    "accelerometer", "camera", "display-capture", "geolocation", "gyroscope", "magnetometer", "microphone", "midi",
    "payment", "usb",
)  # fmt: skip
POLICY = ", ".join(f"{feature}=()" for feature in UNUSED)


class PermissionsPolicy:
    """Tells the browser which of its powers our pages never use."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response["Permissions-Policy"] = POLICY
        return response


class ContentPolicy(CSPMiddleware):
    """The library's for pages. Of data and photographs nothing ever runs, whatever they are."""

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        if response.headers.get("Content-Type") not in NO_PAGES:
            return super().process_response(request, response)
        response.headers[HEADER] = NOTHING_RUNS
        return response


class PastWorkers:
    """Leaves requests of workers to the next middleware."""

    get_response: Any

    def __call__(self, request: HttpRequest) -> Any:
        if is_of_a_worker(request.path_info):
            return self.get_response(request)
        return super().__call__(request)  # type: ignore[misc]


class Sessions(PastWorkers, SessionMiddleware):
    pass


class Authentication(PastWorkers, AuthenticationMiddleware):
    pass


class Messages(PastWorkers, MessageMiddleware):
    pass
