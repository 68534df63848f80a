"""A server that takes webhooks: keeps what came, and answers as it is told."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer


@dataclass
class Receiver:
    url: str
    answers: list[int] = field(default_factory=list)
    """What to answer, in order; 204 when there is no more."""
    received: list[tuple[dict[str, str], bytes]] = field(default_factory=list)


@contextmanager
def running_receiver(*answers: int) -> Iterator[Receiver]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.received.append((dict(self.headers), body))
            self.send_response(receiver.answers.pop(0) if receiver.answers else 204)
            self.send_header("Location", receiver.url + "elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    receiver = Receiver(f"http://127.0.0.1:{server.server_port}/hook?key=1", list(answers))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
