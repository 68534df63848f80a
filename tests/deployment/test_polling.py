"""Workers are answered by the polling thread of a process, for which nobody else's slowness matters."""

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from http.client import HTTPConnection, HTTPResponse

import pytest
from hypothesis import given
from hypothesis import strategies as some

from jedi_web.polling import MOST_BYTES, Arrived, arrived
from tests.deployment.names_of_threads import LARGE
from tests.processes import until
from tests.site import ROOT, free_port, running_site
from tests.worker import Worker

POLLING_THREAD = b"MainThread"
# Longer than anything takes here, and shorter than what gunicorn waits for if it waits.
SECONDS = 20.0
HEAD = "Host: 127.0.0.1\r\n"


@contextmanager
def serving(**options: object) -> Iterator[int]:
    """The port of one process with one thread beside the polling one."""
    server, port = started(**options)
    try:
        yield port
    finally:
        server.send_signal(signal.SIGQUIT)
        # gunicorn itself waits for 30 seconds before it kills a process that does not end.
        server.wait(60)


def started(**options: object) -> tuple[subprocess.Popen[bytes], int]:
    port = free_port()
    usual = {"worker-class": "jedi_web.polling.PollingWorker", "workers": 1, "threads": 1}
    given = {**usual, "keep-alive": 60, **options}
    command = [sys.executable, "-m", "gunicorn"]
    command += [f"--{name}={value}" for name, value in given.items()]
    command += ["--log-level=critical", "--no-control-socket", f"--bind=127.0.0.1:{port}"]
    server = subprocess.Popen([*command, "tests.deployment.names_of_threads"], cwd=ROOT)
    until(lambda: answers(port))
    return server, port


def answers(port: int) -> bool:
    try:
        return asked(port, "/w/") == POLLING_THREAD
    except OSError:
        return False


def asked(port: int, path: str, method: str = "GET", **rest: object) -> bytes:
    with closing(HTTPConnection("127.0.0.1", port, timeout=SECONDS)) as connection:
        connection.request(method, path, **rest)  # type: ignore[arg-type]
        return connection.getresponse().read()


def connected(stack: ExitStack, port: int) -> socket.socket:
    return stack.enter_context(
        closing(socket.create_connection(("127.0.0.1", port), timeout=SECONDS))
    )


def reply_from(connection: socket.socket) -> bytes:
    reply = HTTPResponse(connection)
    reply.begin()
    return reply.read()


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with serving() as port:
        yield port


def test_the_polling_thread_answers_workers_and_threads_answer_researchers(port):
    assert asked(port, "/api/sessions/token/") == POLLING_THREAD
    assert asked(port, "/w/demo/?arm=1") == POLLING_THREAD
    assert asked(port, "/w/demo/", "POST", body=b"an answer") == b"an answer"
    assert asked(port, "/admin/").startswith(b"ThreadPoolExecutor")


def test_a_connection_serves_many_requests_of_both_kinds(port):
    with closing(HTTPConnection("127.0.0.1", port, timeout=SECONDS)) as connection:
        for path in ("/w/", "/admin/", "/w/", "/w/", "/admin/", "/w/"):
            connection.request("GET", path)
            content = connection.getresponse().read()
            assert (content == POLLING_THREAD) == (path == "/w/")


def test_a_slow_page_of_a_researcher_holds_up_no_worker(port):
    with ExitStack() as stack:
        slow = connected(stack, port)
        slow.sendall(f"GET /slow HTTP/1.1\r\n{HEAD}\r\n".encode())
        # The only thread of the pool is busy until this has been answered.
        assert asked(port, "/w/end") == POLLING_THREAD
        assert reply_from(slow).startswith(b"ThreadPoolExecutor")


def test_a_request_that_comes_byte_by_byte_holds_up_nobody(port):
    request = f"POST /w/ HTTP/1.1\r\n{HEAD}Content-Length: 4\r\n\r\nlate".encode()
    with ExitStack() as stack:
        slow = [connected(stack, port) for _ in range(8)]
        for end in range(len(request) - 1):
            for connection in slow:
                connection.sendall(request[end : end + 1])
            if end % 20 == 0:
                assert asked(port, "/w/") == POLLING_THREAD
                assert asked(port, "/admin/").startswith(b"ThreadPoolExecutor")
        for connection in slow:
            connection.sendall(request[-1:])
            assert reply_from(connection) == b"late"


def test_connections_over_which_nothing_comes_keep_no_thread_waiting(port):
    with ExitStack() as stack:
        for _ in range(8):
            connected(stack, port)
        assert asked(port, "/w/") == POLLING_THREAD
        assert asked(port, "/admin/").startswith(b"ThreadPoolExecutor")


def test_a_reply_that_nobody_fetches_holds_up_no_worker(port):
    with ExitStack() as stack:
        slow = connected(stack, port)
        slow.sendall(f"GET /w/large HTTP/1.1\r\n{HEAD}\r\n".encode())
        for _ in range(3):
            assert asked(port, "/w/") == POLLING_THREAD
        assert reply_from(slow) == LARGE
        # It goes on over the same connection.
        slow.sendall(f"GET /w/ HTTP/1.1\r\n{HEAD}\r\n".encode())
        assert reply_from(slow) == POLLING_THREAD


def test_clients_that_do_not_close_their_side_hold_up_no_worker():
    with serving() as port, ExitStack() as stack:
        lingering = [connected(stack, port) for _ in range(30)]
        for connection in lingering:
            connection.sendall(f"GET /w/ HTTP/1.1\r\n{HEAD}Connection: close\r\n\r\n".encode())
        assert asked(port, "/w/") == POLLING_THREAD
        assert [reply_from(connection) for connection in lingering] == [POLLING_THREAD] * 30


def test_requests_that_are_sent_without_waiting_are_all_answered_in_order(port):
    with ExitStack() as stack:
        connection = connected(stack, port)
        bodies = [f"{number:04}".encode() for number in range(600)]
        head = f"POST /w/ HTTP/1.1\r\n{HEAD}Content-Length: 4\r\n\r\n".encode()
        connection.sendall(b"".join(head + body for body in bodies))
        stream = connection.makefile("rb")
        for body in bodies:
            assert stream.readline().startswith(b"HTTP/1.1 200")
            while stream.readline() != b"\r\n":
                pass
            assert stream.read(4) == body


def test_requests_of_a_client_that_sends_no_more_are_all_answered(port):
    with ExitStack() as stack:
        connection = connected(stack, port)
        for path in ("/w/", "/admin/", "/w/"):
            connection.sendall(f"GET {path} HTTP/1.1\r\n{HEAD}\r\n".encode())
        connection.shutdown(socket.SHUT_WR)
        assert b"".join(iter(lambda: connection.recv(4096), b"")).count(b"HTTP/1.1 200") == 3


def test_several_who_come_at_once_are_taken_before_the_others_are_answered_again(port):
    count = f"GET /w/count HTTP/1.1\r\n{HEAD}\r\n".encode()
    with ExitStack() as stack:
        busy = [connected(stack, port) for _ in range(20)]
        napping = connected(stack, port)
        for connection in (*busy, napping):
            connection.sendall(count)
            reply_from(connection)
        napping.sendall(f"GET /w/nap HTTP/1.1\r\n{HEAD}\r\n".encode())
        # Meanwhile these ask for more and more, and others come.
        for connection in busy:
            connection.sendall(50 * count)
        new = [connected(stack, port) for _ in range(10)]
        for connection in new:
            connection.sendall(count)
        numbers = [int(reply_from(connection)) for connection in new]
        assert max(numbers) - min(numbers) < 3 * len(busy)


@pytest.mark.parametrize(
    ("fields", "body"),
    [
        ("Transfer-Encoding: chunked\r\n", "4\r\nbody\r\n0\r\n\r\n"),
        ("Content-Length: 4\r\nExpect: 100-continue\r\n", "body"),
    ],
)
def test_requests_of_an_unusual_form_are_answered_by_threads(port, fields, body):
    with ExitStack() as stack:
        connection = connected(stack, port)
        connection.sendall(f"POST /w/ HTTP/1.1\r\n{HEAD}{fields}\r\n{body}".encode())
        assert reply_from(connection) == b"body"


@pytest.mark.parametrize(
    "request_",
    [
        "GET /w/ HTTP/1.1\r\nHost\r\n\r\n",
        f"POST /w/ HTTP/1.1\r\n{HEAD}Content-Length: 4\r\nContent-Length: 5\r\n\r\nbody",
        f"POST /w/ HTTP/1.1\r\n{HEAD}Content-Length: some\r\n\r\nbody",
        "a request of nobody\r\n\r\n",
        f"GET /w/{'a' * MOST_BYTES} HTTP/1.1\r\n{HEAD}\r\n",
        "a" * 2 * MOST_BYTES,
    ],
)
def test_a_request_that_is_none_is_refused_and_the_next_is_answered(port, request_):
    with ExitStack() as stack:
        connection = connected(stack, port)
        connection.sendall(request_.encode())
        assert connection.recv(12).startswith(b"HTTP/1.1 4")
    assert asked(port, "/w/") == POLLING_THREAD


def test_an_application_that_fails_gives_a_reply_and_goes_on(port):
    assert b"Internal Server Error" in asked(port, "/w/broken")
    assert asked(port, "/w/") == POLLING_THREAD


def test_a_client_that_goes_away_in_the_middle_leaves_nothing_behind():
    with serving(**{"worker-connections": 4}) as port:
        for _ in range(20):
            with ExitStack() as stack:
                gone = connected(stack, port)
                gone.sendall(f"POST /w/ HTTP/1.1\r\n{HEAD}Content-Length: 4\r\n\r\nbo".encode())
        # With as many connections left open as may be, nobody would be answered.
        assert asked(port, "/w/") == POLLING_THREAD


def test_a_connection_that_never_completes_a_request_is_closed():
    with serving(**{"keep-alive": 1}) as port, ExitStack() as stack:
        silent = connected(stack, port)
        silent.sendall(b"POST /w/ HTTP/1.1\r\n")
        assert silent.recv(1) == b""


def test_a_server_that_is_told_to_stop_waits_for_nobody_who_is_silent():
    # gunicorn kills processes that have not ended after so many seconds.
    server, port = started(**{"graceful-timeout": 60})
    with ExitStack() as stack:
        silent = [connected(stack, port) for _ in range(4)]
        silent[0].sendall(b"POST /w/ HTTP/1.1\r\n")
        assert asked(port, "/w/") == POLLING_THREAD
        server.send_signal(signal.SIGTERM)
        server.wait(SECONDS)


@pytest.mark.parametrize("told", [signal.SIGTERM, signal.SIGQUIT])
def test_a_server_that_is_told_to_stop_does_not_wait_for_all_who_keep_their_side_open(told):
    server, port = started(**{"graceful-timeout": 60})
    with ExitStack() as stack:
        # The only thread of the pool waits for each of them for two seconds.
        lingering = [connected(stack, port) for _ in range(30)]
        for connection in lingering:
            connection.sendall(f"GET /w/ HTTP/1.1\r\n{HEAD}Connection: close\r\n\r\n".encode())
        assert [reply_from(connection) for connection in lingering] == [POLLING_THREAD] * 30
        server.send_signal(told)
        server.wait(SECONDS)


def test_a_server_can_be_told_to_stop_while_it_gives_work_to_a_thread():
    worker = "tests.deployment.stopping_itself.Worker"
    # Whoever asks whether it has started closes the connection then, which is work for a thread.
    server, _ = started(**{"worker-class": worker, "graceful-timeout": 60})
    server.wait(SECONDS)


def test_a_site_answers_a_worker_beside_clients_that_are_silent():
    with running_site(processes=1, threads=1) as site, ExitStack() as stack:
        worker = Worker(site.make_study(), site.client())
        for _ in range(8):
            connected(stack, site.port).sendall(b"POST /admin/login/ HTTP/1.1\r\n")
        worker.go_to("teaching")


WHOLE = [
    "GET /w/demo/ HTTP/1.1\r\nHost: here\r\n\r\n",
    "GET /healthz HTTP/1.1\r\n\r\n",
    'POST /api/sessions/t/answers/ HTTP/1.1\r\nHost: here\r\nContent-Length: 12\r\n\r\n{"label": 1}',
    "POST /api/sessions/t/answers/ HTTP/1.1\r\ncontent-length:2\r\nHost: here\r\n\r\n{}",
]


@pytest.mark.parametrize("text", WHOLE)
def test_a_request_is_whole_when_its_last_byte_has_come(text):
    request = text.encode()
    for end in range(len(request)):
        assert arrived(request[:end]) is Arrived.IN_PART
    assert arrived(request) is Arrived.WHOLE
    assert arrived(request + b"GET /w/ HTT") is Arrived.WHOLE


@pytest.mark.parametrize(
    "text",
    [
        "GET /admin/ HTTP/1.1\r\n",
        "GET /w HTTP/1.1\r\n",
        "GET http://here/w/ HTTP/1.1\r\n",
        "PUT /w/ HTTP/1.1\r\n",
        "GET /w/ HTTP/1.0\r\n",
        "GET /w/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "GET /w/ HTTP/1.1\r\nExpect: 100-continue\r\n\r\n",
        "GET /w/ HTTP/1.1\r\nUpgrade: h2c\r\n\r\n",
        "POST /w/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
        "POST /w/ HTTP/1.1\r\nContent-Length: +1\r\n\r\n",
        "POST /w/ HTTP/1.1\r\nContent-Length : 1\r\n\r\n",
        "POST /w/ HTTP/1.1\r\nContent-Length: 123456\r\n\r\n",
        "GET /w/" + "a" * MOST_BYTES,
    ],
)
def test_other_requests_are_left_to_threads(text):
    assert arrived(text.encode()) is Arrived.NOT_A_WORKERS


@given(some.binary(max_size=300))
def test_any_bytes_are_judged(received):
    assert arrived(received) in Arrived


def test_a_connection_lasts_as_long_as_requests_come_over_it():
    with serving(**{"keep-alive": 2}) as port, ExitStack() as stack:
        kept, idle = connected(stack, port), connected(stack, port)
        for connection in (idle, kept):
            connection.sendall(f"GET /w/ HTTP/1.1\r\n{HEAD}\r\n".encode())
            assert reply_from(connection) == POLLING_THREAD
        # It is closed in silence, and long after that the other one is still answered.
        while not closes_within(idle, 0.2):
            kept.sendall(f"GET /w/ HTTP/1.1\r\n{HEAD}\r\n".encode())
            assert reply_from(kept) == POLLING_THREAD
        kept.sendall(f"GET /w/ HTTP/1.1\r\n{HEAD}\r\n".encode())
        assert reply_from(kept) == POLLING_THREAD
        assert closes_within(kept, SECONDS)


def closes_within(connection: socket.socket, seconds: float) -> bool:
    connection.settimeout(seconds)
    try:
        return connection.recv(1) == b""
    except TimeoutError:
        return False
    finally:
        connection.settimeout(SECONDS)


def test_a_client_may_ask_for_an_end_over_a_connection_that_was_kept(port):
    with ExitStack() as stack:
        connection = connected(stack, port)
        for fields in ("", "Connection: close\r\n"):
            connection.sendall(f"GET /w/ HTTP/1.1\r\n{HEAD}{fields}\r\n".encode())
            assert reply_from(connection) == POLLING_THREAD
        assert connection.recv(1) == b""


def test_an_application_that_fails_over_a_connection_that_was_kept_ends_it(port):
    with ExitStack() as stack:
        connection = connected(stack, port)
        connection.sendall(f"GET /w/ HTTP/1.1\r\n{HEAD}\r\n".encode())
        assert reply_from(connection) == POLLING_THREAD
        connection.sendall(f"GET /w/broken HTTP/1.1\r\n{HEAD}\r\n".encode())
        assert b"Internal Server Error" in reply_from(connection)
        assert connection.recv(1) == b""


def test_a_server_that_writes_a_line_for_every_request_writes_those_of_workers(tmp_path):
    log = tmp_path / "log"
    with serving(**{"access-logfile": log}) as port:
        for _ in range(2):
            assert asked(port, "/w/told") == POLLING_THREAD
        until(lambda: log.read_text().count("GET /w/told HTTP/1.1") == 2)
