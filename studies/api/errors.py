"""Every error of the API in one form."""

import logging
import sqlite3
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import DatabaseError, OperationalError
from django.http import Http404
from rest_framework import exceptions, status
from rest_framework.response import Response
from rest_framework.settings import api_settings

from studies import request_ids
from studies.errors import InvalidAnswer, SessionError
from studies.events import note_server_error

logger = logging.getLogger(__name__)

NON_FIELD_ERRORS_KEY = api_settings.NON_FIELD_ERRORS_KEY

# Classes of Postgres' error codes: connections, transactions in each other's way, too many connections, locks, and a
# server that stops or starts or has cancelled a statement.
CONNECTION_EXCEPTION = "08"
WORTH_WAITING_FOR = (CONNECTION_EXCEPTION, "40", "53300", "55P03", "57")


def error_body(code: str, message: str, fields: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "fields": fields or {}}}


def error_reply(error: Exception, context: dict[str, Any]) -> Response:
    """The reply to an error. The session's data are as they were before the request."""
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
        case OperationalError() if is_busy(error):
            logger.warning("the database did not answer in time", exc_info=error)
            busy = error_body(
                "busy", "The server is busy. Send the same request again in a moment."
            )
            return Response(busy, status.HTTP_503_SERVICE_UNAVAILABLE, headers={"Retry-After": "2"})
    logger.error("unexpected error in %s", context.get("view"), exc_info=error)
    _note(error, context)
    sorry = error_body(
        "server_error",
        "Something went wrong here. Nothing was lost; please try again. If it does not go away, "
        f"tell us this number: {request_ids.current()}.",
    )
    return Response(sorry, status.HTTP_500_INTERNAL_SERVER_ERROR)


def _note(error: Exception, context: dict[str, Any]) -> None:
    """For the monitor, by the number that the worker sees and the log has. The log alone must do without a database."""
    view = type(context.get("view")).__name__
    try:
        note_server_error(
            context.get("kwargs", {}).get("token", ""),
            f"{request_ids.current()}: {type(error).__name__} in {view}",
        )
    except DatabaseError:
        logger.warning("the error could not be noted for the monitor", exc_info=True)


def is_busy(error: OperationalError) -> bool:
    """Whether waiting helps: a lock or a connection was not available in time. A missing table is another matter."""
    cause = error.__cause__
    if isinstance(cause, sqlite3.Error):
        # The low byte is the kind of error; the rest says more about it.
        return cause.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
    # Postgres says nothing more when it could not even be reached.
    state = getattr(cause, "sqlstate", None) or CONNECTION_EXCEPTION
    return state.startswith(WORTH_WAITING_FOR)


def _framework_reply(error: exceptions.APIException) -> Response:
    headers = {}
    if wait := getattr(error, "wait", None):
        headers["Retry-After"] = str(int(wait) + 1)
    if challenge := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = challenge
    return Response(
        error_body(error.default_code, str(error.detail)), error.status_code, headers=headers
    )
