"""Requests that gunicorn refuses or passes on, on a running server."""

import socket

import pytest

from tests.processes import until

SECRET = "gDk3-a_secret-of-a-participant"


def send(site, request: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", site.port), timeout=30) as connection:
        connection.sendall(request)
        return connection.recv(1000)


@pytest.mark.parametrize(
    "request_line",
    [
        f"GET  /w/{SECRET}/ HTTP/1.1",
        f"GE\x01T /api/sessions/{SECRET}/answers/",
        f"G\x01T /w/%20{SECRET}",
        f"G\x01T /images/{SECRET}?a=b HTTP/1.1",
    ],
)
def test_a_request_that_cannot_be_parsed_is_logged_without_the_secret_of_its_link(
    sqlite_site, request_line
):
    log = sqlite_site.data_dir / "server.log"
    before = len(log.read_text())
    reply = send(sqlite_site, f"{request_line}\r\nHost: localhost\r\n\r\n".encode())
    assert reply.startswith(b"HTTP/1.1 400 ")
    until(lambda: "Invalid" in log.read_text()[before:])
    assert SECRET not in log.read_text()


@pytest.mark.parametrize("header", ["SCRIPT_NAME", "PATH_INFO", "Script-Name"])
def test_a_header_that_only_a_proxy_may_send_has_no_effect(sqlite_site, header):
    reply = sqlite_site.client().get("/healthz", headers={header: "/elsewhere"})
    assert (reply.status_code, reply.content) == (200, b"ok\n")


@pytest.mark.parametrize("size", [20_000, 1_100_000, 3_000_000])
def test_a_body_that_is_too_large_gets_413(sqlite_site, size):
    reply = sqlite_site.client().post("/api/sessions/nobody/answers/", "a" * size)
    assert reply.status_code == 413
    assert reply.json()["error"]["code"] == "too_large"
