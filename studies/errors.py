"""What can go wrong: refusals, each with a status and a sentence that says what to do, and outages."""

from __future__ import annotations

import errno
import sqlite3
from dataclasses import dataclass
from http import HTTPStatus

from django.db import DatabaseError, OperationalError


class SessionError(Exception):
    """The base of all refusals; subclasses say which."""

    status: int = HTTPStatus.BAD_REQUEST
    code = "invalid"
    message = "This request cannot be used."

    def __init__(self, message: str = "", fields: dict[str, list[str]] | None = None) -> None:
        self.message = message or self.message
        self.fields = fields or {}
        super().__init__(self.message)


class InvalidAnswer(SessionError):
    message = "The answer cannot be used. Correct the fields that are named and send it again."


class StudyNotOpen(SessionError):
    status = HTTPStatus.FORBIDDEN
    code = "study_not_open"
    message = "This study is not open at the moment."


class StudyFull(SessionError):
    status = HTTPStatus.FORBIDDEN
    code = "study_full"
    message = (
        "All places in this study are taken. Please return the task on the platform you came from."
    )


class PreviewOnly(SessionError):
    status = HTTPStatus.FORBIDDEN
    code = "preview"
    message = "This is a preview. Accept the task on Mechanical Turk first, then begin."


class AlreadyAnswered(SessionError):
    status = HTTPStatus.CONFLICT
    code = "already_answered"
    message = (
        "This task was answered before, and that answer stands. Load the session again to go on."
    )


class NotCurrent(SessionError):
    status = HTTPStatus.CONFLICT
    code = "not_current"
    message = "This is not the current task. Load the session again to go on."


class NotShown(SessionError):
    status = HTTPStatus.CONFLICT
    code = "not_shown"
    message = "The images of this round have not been shown yet. Start their display first."


class AlreadyShown(SessionError):
    status = HTTPStatus.CONFLICT
    code = "already_shown"
    message = "The images of this round have been shown. Load the session again to go on."


class SessionOver(SessionError):
    status = HTTPStatus.GONE
    code = "session_over"
    message = "This session is over. Nothing more can be answered in it."


class FilesLost(SessionError):
    status = HTTPStatus.SERVICE_UNAVAILABLE
    code = "files_lost"
    message = "Files of this study cannot be read at the moment."


class StateNotAllowed(SessionError):
    status = HTTPStatus.CONFLICT
    code = "state_not_allowed"
    message = "A study cannot go from its state to that one."


# Outages: failures that pass when their cause is gone

# Primary SQLite result codes (extended code & 0xFF).
SQLITE_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
SQLITE_NOT_WRITTEN = {
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
}
# Postgres error classes: connection errors, transaction conflicts, too many connections, locks, and shutdown, start or
# a cancelled statement.
CONNECTION_EXCEPTION = "08"
POSTGRES_BUSY = (CONNECTION_EXCEPTION, "40", "53300", "55P03", "57")
# A full disk, I/O errors, and a read-only server, such as a standby.
POSTGRES_NOT_WRITTEN = ("53100", "58", "25006")
# Operating system errors for files: no space, quota, file size limit, read-only, no permission.
FILE_NOT_WRITTEN = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES}


# A database without tables: Postgres' code, and SQLite's message, because its code is ambiguous.
POSTGRES_NO_TABLE = "42P01"
SQLITE_NO_TABLE = "no such table"
UNPREPARED = "The database has no tables yet. Run: manage.py prepare"

PATIENCE = "What was answered before is safe. Send the same request again in a moment."


@dataclass(frozen=True)
class Outage:
    code: str
    reason: str
    remedy: str = ""
    is_noted: bool = False
    """Whether the monitor shows it: it concerns the study, and the database can be written."""
    retry_after: int = 5
    """How many seconds a page waits before it asks again."""

    @property
    def message(self) -> str:
        return f"{self.reason} {PATIENCE} {self.remedy}".strip()


KEEPER = "Whoever keeps the server finds the cause at /readyz."
BUSY = Outage("busy", "The server is busy.", retry_after=2)
NOT_WRITTEN = Outage(
    "not_writable",
    "The server cannot store anything at the moment, because its disk is full or cannot be written.",
    KEEPER,
)
FILES_LOST = Outage(FilesLost.code, FilesLost.message, KEEPER, is_noted=True)


def outage_of(error: BaseException | None) -> Outage | None:
    """The outage behind an error; None if the request or the code has to be fixed."""
    match error:
        case FilesLost():
            return FILES_LOST
        case OSError() if error.errno in FILE_NOT_WRITTEN:
            return NOT_WRITTEN
        case DatabaseError():
            return _outage_of_database(error)
    return None


def is_unprepared(error: DatabaseError) -> bool:
    """Whether the tables are missing, because nobody has prepared the database."""
    cause = error.__cause__
    is_postgres = getattr(cause, "sqlstate", None) == POSTGRES_NO_TABLE
    return is_postgres or str(cause).startswith(SQLITE_NO_TABLE)


def _outage_of_database(error: DatabaseError) -> Outage | None:
    cause = error.__cause__
    if isinstance(cause, sqlite3.Error):
        kind = getattr(cause, "sqlite_errorcode", 0) & 0xFF
        return BUSY if kind in SQLITE_BUSY else NOT_WRITTEN if kind in SQLITE_NOT_WRITTEN else None
    # Without a connection there is no SQLSTATE.
    unreached = CONNECTION_EXCEPTION if isinstance(error, OperationalError) else ""
    state = getattr(cause, "sqlstate", None) or unreached
    if state.startswith(POSTGRES_BUSY):
        return BUSY
    return NOT_WRITTEN if state.startswith(POSTGRES_NOT_WRITTEN) else None
