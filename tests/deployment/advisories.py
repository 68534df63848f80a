"""A service that answers what is known against a package, in the OSV format (https://google.github.io/osv.dev)."""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from packaging.version import Version

Advisory = dict[str, Any]


def advisory(name: str, package: str, *, fixed: str, introduced: str = "0") -> Advisory:
    """Made up; of all versions from the introduced one to the one before the fixed one."""
    events = [{"introduced": introduced}, {"fixed": fixed}]
    return {
        "schema_version": "1.7.0",
        "id": name,
        "modified": "2026-01-02T03:04:05Z",
        "summary": f"A hole in {package}",
        "affected": [
            {
                "package": {"ecosystem": "PyPI", "name": package},
                "ranges": [{"type": "ECOSYSTEM", "events": events}],
            }
        ],
    }


def affects(one: Advisory, package: dict[str, str], version: str) -> bool:
    [affected] = one["affected"]
    first, last = affected["ranges"][0]["events"]
    within = Version(first["introduced"]) <= Version(version) < Version(last["fixed"])
    return within and affected["package"] == package


@dataclass
class Advisories:
    url: str
    known: Sequence[Advisory]
    asked: list[tuple[str, str]] = field(default_factory=list)
    """Packages with their versions, in the order in which they were asked about."""

    def answer(self, query: dict[str, Any]) -> dict[str, Any]:
        package, version = query["package"], query["version"]
        self.asked.append((package["name"], version))
        found = [one for one in self.known if affects(one, package, version)]
        return {"vulns": found} if found else {}


@contextmanager
def running_advisories(
    *known: Advisory, status: int = 200, page: bytes | None = None
) -> Iterator[Advisories]:
    """On a port of its own; with a page, it says that to every question."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            query = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            reply = json.dumps(service.answer(query)).encode() if page is None else page
            self.send_response(status)
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    service = Advisories(f"http://127.0.0.1:{server.server_port}/v1/query", known)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
