"""A WSGI application that says which thread answers, for the tests of the server's threads."""

import threading
import time
from collections.abc import Callable, Iterable
from itertools import count
from typing import Any

LARGE = bytes(8_000_000)
may_end = threading.Event()
requests = count()


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    path = environ["PATH_INFO"]
    content = environ["wsgi.input"].read() or threading.current_thread().name.encode()
    if path == "/slow":
        may_end.wait(60)
    if path == "/w/end":
        may_end.set()
    if path == "/w/nap":
        time.sleep(0.5)
    if path == "/w/count":
        content = str(next(requests)).encode()
    if path == "/w/large":
        content = LARGE
    if path == "/w/broken":
        raise ValueError
    start_response("200 OK", [("Content-Length", str(len(content)))])
    return [content]
