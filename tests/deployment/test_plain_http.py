"""What the polling thread reads itself, it reads as gunicorn does; everything else it leaves to gunicorn."""

from typing import Any

import pytest
from gunicorn.config import Config
from gunicorn.http import RequestParser
from gunicorn.http.wsgi import create
from hypothesis import example, given
from hypothesis import strategies as some

from jedi_web.plain_http import Reply, read, reply_of

CLIENT, SERVER = ("127.0.0.1", 50_000), ("127.0.0.1", 8000)
# What gunicorn adds, and what stands for the connection and not for the request.
NOT_OF_THE_REQUEST = ("wsgi.", "gunicorn.", "REMOTE_", "SERVER_NAME", "SERVER_PORT", "SERVER_SOFTWARE")  # fmt: skip

A_BROWSERS = (
    b"POST /api/sessions/abc_-9/answers/?side=720&x=%20 HTTP/1.1\r\nHost: study.example:8000\r\n"
    b"User-Agent: Mozilla/5.0 (X11; Linux x86_64)\r\nAccept: */*\r\nAccept-Language: en-GB,en;q=0.5\r\n"
    b"Content-Type: application/json\r\nContent-Length: 13\r\nOrigin: http://study.example:8000\r\n"
    b"Cookie: a=b; c=d\r\nConnection: keep-alive\r\nX-Empty:\r\n\r\n"
    b'{"position":1}'
)


def as_gunicorn_reads(received: bytes) -> tuple[dict[str, Any], bytes]:
    """What the request says by WSGI, and its body."""
    config = Config()
    request = next(RequestParser(config, iter([received]), CLIENT))
    _, environ = create(request, None, CLIENT, SERVER, config)
    return of_the_request(environ) | {"SCRIPT_NAME": ""}, environ["wsgi.input"].read()


def of_the_request(environ: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value for name, value in environ.items() if not name.startswith(NOT_OF_THE_REQUEST)
    }


def assert_read_as_gunicorn_does(received: bytes) -> None:
    request = read(received)
    assert request is not None
    environ, body = as_gunicorn_reads(received)
    assert of_the_request(request.environ) | {"SCRIPT_NAME": ""} == environ
    assert request.environ["wsgi.input"].read() == body
    assert received.endswith(body + request.rest)


def test_a_browsers_request_is_read():
    assert_read_as_gunicorn_does(A_BROWSERS)
    request = read(A_BROWSERS + b"GET /w/next")
    assert request is not None
    assert request.stays_open
    assert request.rest == b"}GET /w/next"


PIECES = [
    b"GET ", b"POST ", b"HEAD ", b"/w/a/", b"/w/%61", b"/w/a?b=c", b"//x", b"/w/#x", b"http://h/w/", b" HTTP/1.1",
    b" HTTP/1.0", b"\r\n", b"\r\n\r\n", b"\n", b"\r", b"Host: h", b"Host:h ", b"Content-Length: 2", b"Content-Length:2",
    b"content-length: 02", b"Content-Length: -2", b"Transfer-Encoding: chunked", b"Connection: close", b"Connection: x",
    b"Expect: 100-continue", b"Upgrade: h2c", b"X_Under: 1", b"X Space: 1", b" folded", b"A: \tb\t", b"A:", b"A: \xe9",
    b"A: \x00", b": no name", b"X-Forwarded-Proto: https", b"{}", b"ab",
]  # fmt: skip
LINES = some.lists(some.sampled_from(PIECES), max_size=3).map(b"".join)
NEARLY_PLAIN = some.builds(
    lambda path, fields, body: (
        b"POST " + path + b" HTTP/1.1\r\nHost: h\r\n" + b"".join(fields) + b"\r\n" + body
    ),
    some.sampled_from([b"/w/a/", b"/w/a?b=c", b"/w/%61", b"/w/a b", b"/w/a#b", b"/"]),
    some.lists(LINES.map(lambda line: line + b"\r\n"), max_size=3),
    some.sampled_from([b"", b"{}", b"{}GET /w/ HTTP/1.1\r\n"]),
)


@given(NEARLY_PLAIN | some.lists(some.sampled_from(PIECES), max_size=12).map(b"".join))
@example(b"GET /w/ HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n")
@example(b"POST /w/ HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}")
@example(b"GET /w/ HTTP/1.1\r\nHost: h\r\nA:  b  c \t\r\n\r\n")
def test_what_is_read_is_read_as_gunicorn_does(received):
    if read(received) is not None:
        assert_read_as_gunicorn_does(received)


@pytest.mark.parametrize(
    "received",
    [
        b"GET /w/ HTTP/1.1\r\n\r\n",
        b"GET /w/ HTTP/1.1\r\nHost: h\r\n",
        b"POST /w/ HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n{}",
        b"POST /w/ HTTP/1.1\r\nHost: h\r\nContent-Length: -2\r\n\r\n{}",
        b"POST /w/ HTTP/1.1\r\nHost: h\r\nContent-Length: 2, 2\r\n\r\n{}",
        b"GET /w/%2e HTTP/1.1\r\nHost: h\r\n\r\n",
        b"GET /w/ HTTP/1.1\r\nHost: h\r\nHost: g\r\n\r\n",
        b"GET /w/ HTTP/1.1\r\nHost: h\r\nX_Y: g\r\n\r\n",
        b"GET /w/ HTTP/1.1\r\nHost: h\r\n folded: g\r\n\r\n",
        b"GET /w/ HTTP/1.1\r\nHost: h\r\nA: \xe9\r\n\r\n",
        b"GET /w/ HTTP/1.1\r\nHost: h\nA: b\r\n\r\n",
        b"GET /w/ HTTP/1.1\r\nHost: h\r\nConnection: upgrade\r\n\r\n",
        b"POST /w/ HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"HEAD /w/ HTTP/1.1\r\nHost: h\r\n\r\n",
        b"GET /w/ HTTP/1.1\r\nHost: h\r\nA: " + b"a" * 5000 + b"\r\n\r\n",
        b"GET /w/ HTTP/1.1\r\nHost: h\r\n" + b"".join(b"A%d: b\r\n" % n for n in range(101)) + b"\r\n",
    ],
)  # fmt: skip
def test_what_could_be_read_in_two_ways_is_left_to_gunicorn(received):
    assert read(received) is None


def test_headers_that_say_how_a_server_in_front_was_asked_are_left_to_gunicorn():
    received = b"GET /w/ HTTP/1.1\r\nHost: h\r\nX-Forwarded-Proto: https\r\n\r\n"
    assert read(received, left_alone={"HTTP_X_FORWARDED_PROTO"}) is None
    assert read(received, left_alone={"HTTP_OTHER"}) is not None


def test_a_client_says_whether_its_connection_stays_open():
    for value, stays_open in (("close", False), ("Close", False), ("keep-alive", True)):
        request = read(f"GET /w/ HTTP/1.1\r\nHost: h\r\nConnection: {value}\r\n\r\n".encode())
        assert request is not None
        assert request.stays_open is stays_open


# Replies


class Parts(list):
    """What an application gives back, and whether the server has closed it."""

    is_closed = False

    def close(self) -> None:
        self.is_closed = True


def test_a_reply_is_put_together_and_closed():
    parts = Parts([b"one ", b"two"])

    def application(environ, start_response):
        start_response("200 OK", [("X-A", "b")])
        return parts

    sent = reply_of(application, {}).sent("us", stays_open=True)
    head, _, body = sent.partition(b"\r\n\r\n")
    first, *fields = head.split(b"\r\n")
    assert first == b"HTTP/1.1 200 OK"
    assert {b"Server: us", b"Connection: keep-alive", b"X-A: b", b"Content-Length: 7"} < {*fields}
    assert any(field.startswith(b"Date: ") and field.endswith(b" GMT") for field in fields)
    assert body == b"one two"
    assert parts.is_closed


def test_an_application_that_fails_in_the_middle_is_closed():
    class Failing(Parts):
        def __iter__(self):
            raise ValueError

    parts = Failing()

    def application(environ, start_response):
        start_response("200 OK", [])
        return parts

    with pytest.raises(ValueError):
        reply_of(application, {})
    assert parts.is_closed


def test_what_is_written_comes_first_and_the_last_start_counts():
    def application(environ, start_response):
        start_response("200 OK", [])(b"written, ")
        start_response("500 Internal Server Error", [], None)
        return [b"returned"]

    assert reply_of(application, {}) == Reply("500 Internal Server Error", [], b"written, returned")


def test_a_length_that_the_application_gives_is_not_given_again():
    sent = Reply("200 OK", [("content-length", "2")], b"ab").sent("us", stays_open=False)
    assert sent.lower().count(b"content-length") == 1
    assert b"\r\nConnection: close\r\n" in sent


@pytest.mark.parametrize("status", ["204 No Content", "304 Not Modified"])
def test_some_replies_have_no_body(status):
    sent = Reply(status, [], b"none of this").sent("us", stays_open=True)
    assert sent.endswith(b"\r\n\r\n")
    assert b"Content-Length" not in sent
