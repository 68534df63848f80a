"""One thread of each process for the requests of workers, where the database is SQLite.

Threads that answer workers at the same time take turns at Python and at the only place for a writer, each with a
connection whose pages are stale after every write of another: the slowest answers of a crowd take longer
(docs/scale.md has the figures). So they are given one after the other, by one thread with one connection. The server's
own threads read requests, send replies and make researchers' pages: neither a slow page nor a client that sends its
request byte by byte holds up a worker. On Postgres, threads that wait for the database let others go on, and all of
them answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from typing import Any

from .addresses import is_of_a_worker

Environ = dict[str, Any]
Application = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]

# The longest body that is read here. No worker's page sends one as long, and the views refuse longer ones unread.
MOST_BYTES = 64 * 1024


class WorkersThread:
    """A WSGI application whose workers are answered by one thread."""

    def __init__(self, application: Application) -> None:
        self.application = application
        # It starts with the first request, in the process that answers it.
        self.thread = ThreadPoolExecutor(1, thread_name_prefix="workers")

    def __call__(self, environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        if not is_of_a_worker(environ["PATH_INFO"]):
            return self.application(environ, start_response)
        read_body(environ)
        return self.thread.submit(self.answer, environ, start_response).result()

    def answer(self, environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        """The whole reply: what is open for a request is closed in the thread that opened it."""
        reply = self.application(environ, start_response)
        try:
            return [b"".join(reply)]
        finally:
            reply.close()  # type: ignore[attr-defined]


def read_body(environ: Environ) -> None:
    """Waits for the client here, and not in the thread for which others wait."""
    length = environ.get("CONTENT_LENGTH") or "0"
    if length.isdecimal() and 0 < int(length) <= MOST_BYTES:
        environ["wsgi.input"] = BytesIO(environ["wsgi.input"].read(int(length)))
