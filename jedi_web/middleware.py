"""What only pages of researchers need: a worker's requests carry their own secret and pass it by.

Sessions, sign-in and messages belong to people with an account. A worker has none, and sends by far the most requests.
"""

from typing import Any

from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest

WORKERS = ("/api/sessions/", "/api/studies/", "/w/", "/healthz")


class PastWorkers:
    """Leaves requests of workers to the next middleware."""

    get_response: Any

    def __call__(self, request: HttpRequest) -> Any:
        if request.path_info.startswith(WORKERS):
            return self.get_response(request)
        return super().__call__(request)  # type: ignore[misc]


class Sessions(PastWorkers, SessionMiddleware):
    pass


class Authentication(PastWorkers, AuthenticationMiddleware):
    pass


class Messages(PastWorkers, MessageMiddleware):
    pass
