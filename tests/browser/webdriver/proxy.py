"""Stands between a browser and the site: sees every request, and can lose, hold or forge a reply.

WebDriver knows neither the network nor a script that runs before the page's own. A proxy gives both.
"""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from json import dumps, loads
from queue import SimpleQueue
from typing import Any
from urllib.parse import urlsplit

INIT_SCRIPT = "/init-script-of-the-tests.js"
INIT_TAG = f'<head><script src="{INIT_SCRIPT}"></script>'.encode()
# Headers that concern the browser's own connection to us, and not the message.
HOP_BY_HOP = {"connection", "keep-alive", "proxy-connection", "transfer-encoding", "content-length"}
# A handler that never decides is a server that never answers; it ends with the proxy.
LOOKS_FOR_THE_END_EVERY = 0.2


@dataclass(frozen=True)
class Request:
    method: str
    url: str
    headers: dict[str, str] = field(default_factory=dict)
    content: bytes = b""

    @property
    def post_data(self) -> str | None:
        return self.content.decode() if self.content else None

    @property
    def post_data_json(self) -> Any:
        return loads(self.content)


@dataclass(frozen=True)
class Response:
    url: str
    status: int
    headers: list[tuple[str, str]]
    content: bytes

    def body(self) -> bytes:
        return self.content

    def json(self) -> Any:
        return loads(self.content)

    def all_headers(self) -> dict[str, str]:
        return {name.lower(): value for name, value in self.headers}


class Route:
    """What a test decides about one request. Nothing is a decision too: the reply is held."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.is_decided = threading.Event()
        self.reply: Response | None = None

    def fetch(self) -> Response:
        return forward(self.request)

    def abort(self) -> None:
        self._decide(None)

    def continue_(self) -> None:
        self._decide(self.fetch())

    def fulfill(self, json: Any, status: int = 200, headers: dict[str, str] | None = None) -> None:
        content = dumps(json).encode()
        told = {"Content-Type": "application/json"} | (headers or {})
        self._decide(Response(self.request.url, status, [*told.items()], content))

    def _decide(self, reply: Response | None) -> None:
        self.reply = reply
        self.is_decided.set()


@dataclass
class Rule:
    pattern: str
    handler: Callable[[Route], Any]
    times: int | None

    def matches(self, url: str) -> bool:
        return self.times != 0 and fnmatchcase(url, self.pattern)


def forward(request: Request) -> Response:
    """The reply of the site itself."""
    site = urlsplit(request.url)
    path = site._replace(scheme="", netloc="").geturl()
    with closing(HTTPConnection(site.hostname or "", site.port, timeout=60)) as connection:
        connection.request(request.method, path, request.content or None, request.headers)
        reply = connection.getresponse()
        return Response(request.url, reply.status, reply.getheaders(), reply.read())


class Proxy(ThreadingHTTPServer):
    """Puts every request and response into a queue, which is read in the test's own thread."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.events: SimpleQueue[tuple[str, Any]] = SimpleQueue()
        self.rules: list[Rule] = []
        self.init_scripts: list[str] = []
        self.is_offline = False
        self.is_over = False

    def answer(self, request: Request) -> Response | None:
        """The reply, or none when the connection is to break off."""
        self.events.put(("request", request))
        try:
            reply = None if self.is_offline else self._decided(request)
        except (OSError, HTTPException):
            reply = None
        self.events.put(("response", reply) if reply else ("requestfailed", request))
        return reply

    def _decided(self, request: Request) -> Response | None:
        rule = next((rule for rule in self.rules if rule.matches(request.url)), None)
        if rule is None:
            return forward(request)
        if rule.times is not None:
            rule.times -= 1
        route = Route(request)
        rule.handler(route)
        while not route.is_decided.wait(LOOKS_FOR_THE_END_EVERY) and not self.is_over:
            pass
        return route.reply

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that goes away in the middle of a reply is no news."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    """Reads one request of the browser and writes one reply."""

    server: Proxy

    def handle_one(self) -> None:
        self.close_connection = True
        if urlsplit(self.path).path == INIT_SCRIPT:
            script = "\n".join(self.server.init_scripts).encode()
            headers = [("Content-Type", "text/javascript"), ("Cache-Control", "no-store")]
            self.write(Response(self.path, 200, headers, script))
        elif reply := self.server.answer(self.read()):
            self.write(reply)

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = do_OPTIONS = handle_one  # noqa: N815

    def do_CONNECT(self) -> None:
        """Our site has no encrypted connections, so this one leads elsewhere: noted, and refused."""
        self.close_connection = True
        self.server.events.put(("request", Request("CONNECT", f"https://{self.path}")))

    def read(self) -> Request:
        headers = {k: v for k, v in self.headers.items() if k.lower() not in HOP_BY_HOP}
        content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        # Not compressed, because a script is written into pages.
        headers["Accept-Encoding"] = "identity"
        return Request(self.command, self.path, headers, content)

    def write(self, reply: Response) -> None:
        content = reply.content
        if reply.all_headers().get("content-type", "").startswith("text/html"):
            content = content.replace(b"<head>", INIT_TAG, 1)
        self.send_response_only(reply.status)
        for name, value in reply.headers:
            if name.lower() not in HOP_BY_HOP:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def running_proxy() -> Iterator[Proxy]:
    with Proxy() as proxy:
        threading.Thread(target=proxy.serve_forever, args=(0.05,), daemon=True).start()
        try:
            yield proxy
        finally:
            proxy.is_over = True
            proxy.shutdown()
