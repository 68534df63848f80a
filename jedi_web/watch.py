"""Times every request, and tells the log of those that took long and the metrics, if there are any, of all."""

import logging
import time
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from studies import request_notes
from studies.request_notes import Notes

logger = logging.getLogger(__name__)


class Watch:
    """Up to the moment when the reply is ready; a file that is made while it is sent takes longer."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self.slow_ms = settings.JEDI_SLOW_MS
        self.count = counter() if settings.JEDI_METRICS_TOKEN else None

    def __call__(self, request: HttpRequest) -> HttpResponse:
        started = time.perf_counter()
        notes = request_notes.begin()
        response = self.get_response(request)
        elapsed_ms = 1000 * (time.perf_counter() - started)
        if elapsed_ms >= self.slow_ms:
            tell_slow(request, response, elapsed_ms, notes)
        if self.count:
            method, status = request.method or "", response.status_code
            self.count(route_of(request), method, status, elapsed_ms, notes)
        return response


def counter() -> Callable[[str, str, int, float, Notes], None]:
    # Here, because only a server that keeps metrics needs to load what counts them.
    from .metrics.requests import count

    return count


def route_of(request: HttpRequest) -> str:
    """The pattern of the address, which has no keys, codes or names in it."""
    if request.resolver_match:
        return request.resolver_match.route
    return "static" if request.path_info.startswith(settings.STATIC_URL) else "unknown"


def tell_slow(
    request: HttpRequest, response: HttpResponse, elapsed_ms: float, notes: Notes
) -> None:
    fields: dict[str, Any] = {
        "method": request.method,
        "route": route_of(request),
        "status": response.status_code,
        "ms": round(elapsed_ms, 1),
    }
    said = "slow: {method} {route} took {ms} ms and got {status}".format_map(fields)
    if notes.teacher:
        teacher_ms = round(notes.teacher_ms, 1)
        fields |= {"teacher": notes.teacher, "teacher_ms": teacher_ms, "study": notes.study}
        said += "; {teacher} chose for {teacher_ms} ms, in study {study}".format_map(fields)
    logger.warning(said, extra={"fields": fields})
