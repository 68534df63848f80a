"""Middleware of the whole site: response headers, and a log line for slow requests."""

import logging
import time
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse

logger = logging.getLogger(__name__)

# Browser features that no page uses, so that no injected script can use them either.
UNUSED_FEATURES = (
    "accelerometer", "camera", "display-capture", "geolocation", "gyroscope", "magnetometer", "microphone", "midi",
    "payment", "usb",
)  # fmt: skip
PERMISSIONS_POLICY = ", ".join(f"{feature}=()" for feature in UNUSED_FEATURES)


class PermissionsPolicyMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response["Permissions-Policy"] = PERMISSIONS_POLICY
        return response


class SlowRequestMiddleware:
    """Logs requests slower than JEDI_SLOW_MS. Streaming a response is not part of the time."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self.slow_ms = settings.JEDI_SLOW_MS

    def __call__(self, request: HttpRequest) -> HttpResponse:
        started = time.perf_counter()
        response = self.get_response(request)
        elapsed_ms = 1000 * (time.perf_counter() - started)
        if elapsed_ms >= self.slow_ms:
            fields = {
                "method": request.method,
                "route": route_of(request),
                "status": response.status_code,
                "ms": round(elapsed_ms, 1),
            }
            message = "slow: {method} {route} took {ms} ms and got {status}".format_map(fields)
            logger.warning(message, extra={"fields": fields})
        return response


def route_of(request: HttpRequest) -> str:
    """The URL pattern, which contains no token, code or name."""
    if request.resolver_match:
        return request.resolver_match.route
    return "static" if request.path_info.startswith(settings.STATIC_URL) else "unknown"
