"""What a line of the log looks like: with the id of its request, and without the keys of sessions and images."""

import json
import logging
import re
from datetime import UTC, datetime

from studies import request_ids

# Whoever knows the address of a session can answer for its worker.
KEYS = re.compile(r"(/(?:w|sessions|images|first-password)/)[^/?#<\s'\"\\]+")


def without_keys(text: str) -> str:
    return KEYS.sub(r"\1…", text)


class LineFormatter(logging.Formatter):
    """A line for people."""

    def format(self, record: logging.LogRecord) -> str:
        line = without_keys(super().format(record))
        return f"[{request_ids.current()}] {line}" if request_ids.current() else line


class JsonFormatter(logging.Formatter):
    """A line for programs; `fields` that a logger gives stand beside its message."""

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
        told = {name: value for name, value in entry.items() if value is not None}
        return without_keys(json.dumps(told, ensure_ascii=False))
