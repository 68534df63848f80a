"""Every error of the API in one form."""

import logging
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404
from rest_framework import exceptions, status
from rest_framework.response import Response
from rest_framework.settings import api_settings

from studies import request_ids
from studies.errors import BUSY, InvalidAnswer, Outage, SessionError, outage_of
from studies.events import try_to_note_server_error

logger = logging.getLogger(__name__)

NON_FIELD_ERRORS_KEY = api_settings.NON_FIELD_ERRORS_KEY


class BodyTooLarge(exceptions.APIException):
    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_code = "too_large"
    default_detail = "The body is too large. An answer needs less than 16 KiB."


def error_body(code: str, message: str, fields: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "fields": fields or {}}}


def error_reply(error: Exception, context: dict[str, Any]) -> Response:
    """The reply to an error. The session's data are as they were before the request."""
    if outage := outage_of(error):
        return _outage_reply(outage, error, context)
    match error:
        case SessionError():
            return Response(error_body(error.code, error.message, error.fields), error.status)
        case exceptions.ValidationError():
            # A body that is nothing at all has errors and no fields.
            detail = error.detail
            fields = detail if isinstance(detail, dict) else {NON_FIELD_ERRORS_KEY: detail}
            invalid = error_body(InvalidAnswer.code, InvalidAnswer.message, fields)
            return Response(invalid, error.status_code)
        case exceptions.ParseError():
            return Response(error_body("invalid", "The body is not valid JSON."), error.status_code)
        case exceptions.APIException():
            return _framework_reply(error)
        case Http404() | PermissionDenied():
            missing = error_body("not_found", "There is nothing here.")
            return Response(missing, status.HTTP_404_NOT_FOUND)
    logger.error("unexpected error in %s", context.get("view"), exc_info=error)
    _note(error, context)
    sorry = error_body(
        "server_error",
        "Something went wrong here. Nothing was lost; please try again. If it does not go away, "
        f"tell us this number: {request_ids.current()}.",
    )
    return Response(sorry, status.HTTP_500_INTERNAL_SERVER_ERROR)


def _outage_reply(outage: Outage, error: Exception, context: dict[str, Any]) -> Response:
    """One line of the log for each, because many requests meet the same outage."""
    level = logging.WARNING if outage == BUSY else logging.ERROR
    logger.log(level, "%s: %s", outage.code, error.__cause__ or error)
    if outage.is_noted:
        _note(error, context)
    return Response(
        error_body(outage.code, outage.message),
        status.HTTP_503_SERVICE_UNAVAILABLE,
        headers={"Retry-After": str(outage.retry_after)},
    )


def _note(error: Exception, context: dict[str, Any]) -> None:
    """For the monitor, by the number that the worker sees and the log has."""
    view = type(context.get("view")).__name__
    try_to_note_server_error(context.get("kwargs", {}).get("token", ""), error, view)


def _framework_reply(error: exceptions.APIException) -> Response:
    headers = {}
    if wait := getattr(error, "wait", None):
        headers["Retry-After"] = str(int(wait) + 1)
    if challenge := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = challenge
    return Response(
        error_body(error.default_code, str(error.detail)), error.status_code, headers=headers
    )
