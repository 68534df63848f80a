"""What can go wrong in a session, each with a name, a status and a sentence that says what to do."""

from http import HTTPStatus


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
