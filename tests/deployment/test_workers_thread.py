"""Workers are answered by one thread of a process, for which nobody else's slowness matters."""

import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from io import BytesIO
from typing import Any

import pytest

from jedi_web.workers_thread import MOST_BYTES, WorkersThread
from tests.site import running_site
from tests.worker import Worker

WORKER = "/api/sessions/a-token/answers/"
RESEARCHER = "/admin/"
# gunicorn's thread waits for so long for the first byte of a connection.
GUNICORN_WAITS = 5.0


class Reply:
    """What an application replies with: who made it, who closed it."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.closed_by = ""

    def __iter__(self) -> Iterator[bytes]:
        yield self.content

    def close(self) -> None:
        self.closed_by = threading.current_thread().name


class SlowBody:
    """Comes when the event is set."""

    def __init__(self, content: bytes, arrives: threading.Event) -> None:
        self.content, self.arrives = content, arrives

    def read(self, length: int) -> bytes:
        assert self.arrives.wait(60)
        return self.content[:length]


def request(path: str, body: Any = b"") -> dict[str, Any]:
    stream = BytesIO(body) if isinstance(body, bytes) else body
    length = len(body if isinstance(body, bytes) else body.content)
    return {"PATH_INFO": path, "CONTENT_LENGTH": str(length), "wsgi.input": stream}


def nothing(*_: Any) -> None:
    pass


def all_at_once(application: WorkersThread, path: str, count: int) -> None:
    with ThreadPoolExecutor(count) as pool:
        replies = [pool.submit(application, request(path), nothing) for _ in range(count)]
        for reply in replies:
            b"".join(reply.result())


def test_workers_are_answered_one_after_the_other_by_the_same_thread():
    names, inside, together = set(), threading.Semaphore(1), []

    def application(environ: Any, start_response: Any) -> Reply:
        names.add(threading.current_thread().name)
        if not inside.acquire(blocking=False):
            together.append(environ)
        else:
            inside.release()
        return Reply(b"")

    all_at_once(WorkersThread(application), WORKER, 8)
    assert names == {"workers_0"}
    assert together == []


def test_researchers_are_answered_beside_each_other_and_by_other_threads():
    names, everybody_is_here = set(), threading.Barrier(3, timeout=60)

    def application(environ: Any, start_response: Any) -> Reply:
        names.add(threading.current_thread().name)
        everybody_is_here.wait()
        return Reply(b"")

    all_at_once(WorkersThread(application), RESEARCHER, 3)
    assert len(names) == 3
    assert "workers_0" not in names


def test_a_slow_page_of_a_researcher_holds_up_no_worker():
    may_end = threading.Event()

    def application(environ: Any, start_response: Any) -> Reply:
        if environ["PATH_INFO"] == RESEARCHER:
            assert may_end.wait(60)
        return Reply(b"answered")

    wrapped = WorkersThread(application)
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(wrapped, request(RESEARCHER), nothing)
        assert b"".join(wrapped(request(WORKER), nothing)) == b"answered"
        may_end.set()
        assert b"".join(slow.result()) == b"answered"


def test_a_body_that_comes_slowly_holds_up_no_other_worker():
    arrives = threading.Event()
    wrapped = WorkersThread(lambda environ, _: Reply(environ["wsgi.input"].read(100)))
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(wrapped, request(WORKER, SlowBody(b"late", arrives)), nothing)
        assert b"".join(wrapped(request(WORKER, b"quick"), nothing)) == b"quick"
        arrives.set()
        assert b"".join(slow.result()) == b"late"


def test_a_reply_is_closed_by_the_thread_that_made_it():
    made = Reply(b"content")
    assert list(WorkersThread(lambda *_: made)(request(WORKER), nothing)) == [b"content"]
    assert made.closed_by == "workers_0"


@pytest.mark.parametrize("length", ["", "0", "-1", "many", str(MOST_BYTES + 1)])
def test_a_body_that_is_none_or_too_long_is_left_to_the_views(length):
    never = SlowBody(b"", threading.Event())
    given = request(WORKER) | {"wsgi.input": never, "CONTENT_LENGTH": length}
    wrapped = WorkersThread(lambda environ, _: Reply(str(environ["wsgi.input"] is never).encode()))
    assert b"".join(wrapped(given, nothing)) == b"True"


def test_connections_over_which_nothing_comes_keep_no_thread_busy():
    with running_site(processes=1, threads=2) as site, ExitStack() as silent:
        worker = Worker(site.make_study(), site.client())
        for _ in range(8):
            silent.enter_context(closing(socket.create_connection(("127.0.0.1", site.port))))
        with closing(socket.create_connection(("127.0.0.1", site.port))) as asking:
            asking.settimeout(GUNICORN_WAITS * 0.9)
            asking.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            assert asking.recv(100).startswith(b"HTTP/1.1 200")
        worker.go_to("teaching")
