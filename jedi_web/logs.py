"""Log formatters: with the request id, and without the keys of sessions and images."""

import json
import logging
import re
from datetime import UTC, datetime

from studies import request_ids

# Anybody who knows the URL of a session can answer for its participant.
KEYS = re.compile(r"(/(?:w|sessions|images|first-password)/)[^/?#<\s'\"\\]+")


def without_keys(text: str) -> str:
    return KEYS.sub(r"\1…", text)


class LineFormatter(logging.Formatter):
    """Plain text."""

    def format(self, record: logging.LogRecord) -> str:
        line = without_keys(super().format(record))
        return f"[{request_ids.current()}] {line}" if request_ids.current() else line


class JsonFormatter(logging.Formatter):
    """A JSON object; `fields` in the `extra` of a record are added to it."""

    def format(self, record: logging.LogRecord) -> str:
        entry = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "request_id": request_ids.current() or None,
            "error": self.formatException(record.exc_info) if record.exc_info else None,
        }
        entry |= getattr(record, "fields", {})
        present = {name: value for name, value in entry.items() if value is not None}
        return without_keys(json.dumps(present, ensure_ascii=False))
