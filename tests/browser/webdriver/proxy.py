"""Stands between a browser and the site: sees every request, and can lose, hold or forge a reply.

WebDriver has no words for the network, nor for a script that runs before the page's own. A proxy gives both.
"""

import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import SimpleQueue
from typing import Any
from urllib.parse import urlsplit

FIRST_SCRIPT = "/first-script-of-the-tests.js"
FIRST_TAG = f'<head><script src="{FIRST_SCRIPT}"></script>'.encode()
OF_ONE_CONNECTION = {"connection", "keep-alive", "proxy-connection", "transfer-encoding"}
# A handler that never decides is a server that never answers; it ends with the proxy.
LOOKS_FOR_THE_END_EVERY = 0.2


@dataclass(frozen=True)
class Request:
    method: str
    url: str
    headers: dict[str, str] = field(default_factory=dict)
    content: bytes = b""

    @property
    def is_for_a_page(self) -> bool:
        return self.headers.get("Accept", "").startswith("text/html")

    @property
    def post_data(self) -> str | None:
        return self.content.decode() if self.content else None

    @property
    def post_data_json(self) -> Any:
        return json.loads(self.content)


@dataclass(frozen=True)
class Response:
    url: str
    status: int
    headers: list[tuple[str, str]]
    content: bytes

    def body(self) -> bytes:
        return self.content

    def json(self) -> Any:
        return json.loads(self.content)

    def all_headers(self) -> dict[str, str]:
        return {name.lower(): value for name, value in self.headers}


class Route:
    """What a test decides about one request. Nothing is a decision too: the reply is held."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.decided = threading.Event()
        self.reply: Response | None = None

    def abort(self) -> None:
        self.decided.set()

    def fetch(self) -> Response:
        return forwarded(self.request)

    def continue_(self) -> None:
        self.reply = forwarded(self.request)
        self.decided.set()

    def fulfill(self, status: int, headers: dict[str, str] | None = None, **reply: Any) -> None:
        content = json.dumps(reply["json"]).encode()
        told = {"Content-Type": "application/json"} | (headers or {})
        self.reply = Response(self.request.url, status, [*told.items()], content)
        self.decided.set()


@dataclass
class Rule:
    pattern: str
    handler: Callable[[Route], Any]
    times: int | None

    def takes(self, url: str) -> bool:
        return self.times != 0 and fnmatchcase(url, self.pattern)

    def takes_url_of(self, news: "Request | Response") -> bool:
        return self.takes(news.url)


def forwarded(request: Request) -> Response:
    """The reply of the site itself."""
    parts = urlsplit(request.url)
    path = parts.path + (f"?{parts.query}" if parts.query else "")
    with closing(HTTPConnection(parts.hostname or "", parts.port, timeout=60)) as connection:
        connection.request(request.method, path, request.content or None, request.headers)
        reply = connection.getresponse()
        return Response(request.url, reply.status, reply.getheaders(), reply.read())


class Proxy:
    """Everything that happens is news, told to whoever reads them in the test's own thread."""

    def __init__(self) -> None:
        self.news: SimpleQueue[tuple[str, Any]] = SimpleQueue()
        self.rules: list[Rule] = []
        self.first_scripts: list[str] = []
        self.is_offline = False
        self.pages_on_the_way: list[Request] = []
        self.is_over = False
        self.port = 0

    def answer(self, request: Request) -> Response | None:
        """The reply, or none when the connection is to break off."""
        self.news.put(("request", request))
        try:
            reply = None if self.is_offline else self._decided(request)
        except (OSError, HTTPException):
            reply = None
        self.news.put(("response", reply) if reply else ("broken", request))
        return reply

    def _decided(self, request: Request) -> Response | None:
        rule = next((rule for rule in self.rules if rule.takes(request.url)), None)
        if rule is None:
            return forwarded(request)
        if rule.times is not None:
            rule.times -= 1
        route = Route(request)
        rule.handler(route)
        while not route.decided.wait(LOOKS_FOR_THE_END_EVERY) and not self.is_over:
            pass
        return route.reply


class Handler(BaseHTTPRequestHandler):
    """Reads one request of the browser and writes one reply."""

    server: "ProxyServer"

    def take(self) -> None:
        if urlsplit(self.path).path == FIRST_SCRIPT:
            script = "\n".join(self.server.proxy.first_scripts).encode()
            headers = [("Content-Type", "text/javascript"), ("Cache-Control", "no-store")]
            self.write(Response(self.path, 200, headers, script))
        else:
            self.pass_on(self.read())
        self.close_connection = True

    def pass_on(self, request: Request) -> None:
        pages = self.server.proxy.pages_on_the_way if request.is_for_a_page else []
        pages.append(request)
        try:
            if reply := self.server.proxy.answer(request):
                self.write(reply)
        finally:
            pages.remove(request)

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = do_OPTIONS = take  # noqa: N815

    def do_CONNECT(self) -> None:
        """Nothing of ours is on a safe line to elsewhere: noted, and refused."""
        self.server.proxy.news.put(("request", Request("CONNECT", f"https://{self.path}")))
        self.close_connection = True

    def read(self) -> Request:
        headers = {k: v for k, v in self.headers.items() if k.lower() not in OF_ONE_CONNECTION}
        content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        request = Request(self.command, self.path, headers, content)
        if request.is_for_a_page:
            # A script is written into it.
            headers["Accept-Encoding"] = "identity"
        return request

    def write(self, reply: Response) -> None:
        content = reply.content
        if reply.all_headers().get("content-type", "").startswith("text/html"):
            content = content.replace(b"<head>", FIRST_TAG, 1)
        self.send_response_only(reply.status)
        for name, value in reply.headers:
            if name.lower() not in OF_ONE_CONNECTION | {"content-length"}:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(content)


class ProxyServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, proxy: Proxy) -> None:
        self.proxy = proxy
        super().__init__(("127.0.0.1", 0), Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that goes away in the middle of a reply is no news."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def running_proxy() -> Iterator[Proxy]:
    proxy = Proxy()
    with ProxyServer(proxy) as server:
        proxy.port = server.server_port
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        try:
            yield proxy
        finally:
            proxy.is_over = True
            server.shutdown()
