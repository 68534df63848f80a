"""gunicorn's threaded worker, whose polling thread answers the requests of workers itself.

To hand a request to a thread of the pool and to get its reply back costs more than many a request: each time one
thread wakes another up, and Python's lock changes hands. Requests of workers are many and short. So the polling thread
collects each of them without waiting and answers it as soon as all of it has arrived, one after the other, with one
connection to the database (`python -m bench.threads` compares the two). Those of the plain form it reads itself, and
while they come one after the other, their connection stays with the poller.

Replies that are ready at the same time wait for the disk together (jedi_web/journal.py), and then leave.

Everything that may take long is left to the pool: researchers' pages, requests of a form that workers' browsers do not
send, the rest of a reply that a client is slow to fetch, and connections that a client is slow to close. So neither a
slow page nor a slow client holds up a worker.
"""

from __future__ import annotations

import os
import re
import socket
from concurrent.futures import Future
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from gunicorn import SERVER
from gunicorn.http.wsgi import base_environ
from gunicorn.workers import gthread

from studies.told_images import FROM_FILES_ALONE

from . import plain_http
from .addresses import is_of_a_worker
from .plain_http import END_OF_HEAD

if TYPE_CHECKING:
    # Only a server with a database has one.
    from .journal import Journal

# So many new connections are taken at a time. gunicorn takes one, and then answers everybody else who has asked: with
# many workers the last of several new ones would wait for seconds.
MOST_ACCEPTED = 16
# The longest request that is collected. No worker's page sends one as long, and the views refuse longer ones unread.
MOST_BYTES = 64 * 1024
# So many replies wait for the disk together at most: the first of them should not wait for all who have asked.
MOST_HELD = 8

REQUEST_LINE = re.compile(rb"(?:GET|POST) (/[^\s?]*)\S* HTTP/1\.1\r\n")
# With one of these, more bytes or other replies may follow than the length of the body says.
UNUSUAL_FIELDS = re.compile(rb"\r\n(?:transfer-encoding|expect|upgrade)\b")
CONTENT_LENGTH = re.compile(rb"\r\ncontent-length([^\r]*)")
LENGTH = re.compile(rb": *([0-9]{1,5}) *")


class Arrived(Enum):
    """What has come of a request so far."""

    IN_PART = "It may become a worker's, and more of it is to come."
    WHOLE = "A worker's, from the first byte to the last."
    NOT_A_WORKERS = "Or one of an unusual form."


def arrived(received: bytes) -> Arrived:
    if len(received) > MOST_BYTES:
        return Arrived.NOT_A_WORKERS
    if b"\r\n" not in received:
        return Arrived.IN_PART
    line = REQUEST_LINE.match(received)
    if not line or not is_of_a_worker(line[1].decode("latin-1")):
        return Arrived.NOT_A_WORKERS
    head, is_whole, body = received.partition(END_OF_HEAD)
    if not is_whole:
        return Arrived.IN_PART
    length = length_of_body(head.lower())
    if length is None:
        return Arrived.NOT_A_WORKERS
    return Arrived.WHOLE if len(body) >= length else Arrived.IN_PART


def length_of_body(head: bytes) -> int | None:
    """None if it is not known for certain."""
    if UNUSUAL_FIELDS.search(head):
        return None
    lengths = CONTENT_LENGTH.findall(head)
    if not lengths:
        return 0
    length = LENGTH.fullmatch(lengths[0]) if len(lengths) == 1 else None
    return int(length[1]) if length else None


class Outbox:
    """Stands for the socket while a request is answered, and keeps the reply."""

    def __init__(self) -> None:
        self.content = bytearray()

    def sendall(self, content: bytes) -> None:
        self.content += content

    def setblocking(self, blocks: bool) -> None:
        """Nothing here ever waits."""

    def gettimeout(self) -> float:
        return 0.0

    def shutdown(self, how: int) -> None:
        """Says to whoever wants to close it that there is nothing to close: the worker does so."""
        raise OSError("not a socket")

    def close(self) -> None:
        pass


@dataclass(frozen=True, slots=True)
class Reply:
    content: bytes
    stays_open: bool
    """whether the connection does"""
    may_tell_of_answers: bool = True
    """so that they have to be on the disk before"""


@dataclass(frozen=True, slots=True)
class Held:
    """A reply that waits for the disk, and whether the poller knows its connection."""

    conn: Any
    reply: Reply
    is_polled: bool


NO_REPLY = Reply(b"", stays_open=False)


class PollingWorker(gthread.ThreadWorker):  # type: ignore[misc]
    wsgi: Any
    journal: Journal | None = None

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.held: list[Held] = []

    def wait_for(self, journal: Journal | None) -> None:
        """From now on no reply leaves before the journal is on the disk, if there is one."""
        self.journal = journal
        if journal:
            self.wsgi = journal.before_other_replies(self.wsgi)

    def handle_quit(self, sig: int, frame: Any) -> None:
        """Ends the process as SIGTERM does. The signal may come while this thread gives work to the pool and holds its
        lock; gunicorn's own handler would wait for that lock on the same thread, for ever. To leave from there would be
        no better: Python waits for all threads, and of one that is being started the pool does not know yet."""
        self.handle_exit(sig, frame)

    def run(self) -> None:
        super().run()
        # Everybody is answered. What the pool has not begun is to wait for clients that do not close their side: Python
        # would do all of it before it ends, up to two seconds for each. The end of the process closes them as well.
        self.tpool.shutdown(wait=False, cancel_futures=True)

    def wait_for_and_dispatch_events(self, timeout: float) -> None:
        """Called again and again by gunicorn; it answers all who have asked since the last time."""
        try:
            super().wait_for_and_dispatch_events(timeout)
        finally:
            self.release()

    def hold(self, held: Held) -> None:
        if not (self.journal and held.reply.may_tell_of_answers):
            self.send(held)
            return
        self.held.append(held)
        if len(self.held) >= MOST_HELD:
            self.release()

    def release(self) -> None:
        """Sends what is held, once it may be told. If the disk fails nobody hears of what was stored: the page asks
        again."""
        if not (self.journal and self.held):
            return
        held, self.held = self.held, []
        try:
            self.journal.reach_disk()
        except OSError:
            self.log.exception("the journal of the database cannot be brought to the disk")
            held = [replace(one, reply=NO_REPLY) for one in held]
        for one in held:
            self.send(one)

    def accept(self, listener: Any) -> None:
        for _ in range(min(MOST_ACCEPTED, self.worker_connections - self.nr_conns)):
            before = self.nr_conns
            super().accept(listener)
            if self.nr_conns == before:
                break

    def enqueue_req(self, conn: Any) -> None:
        """Called when a connection is new, or something has come over it."""
        if self.cfg.is_ssl:
            super().enqueue_req(conn)
            return
        conn.init()
        conn.sock.setblocking(False)
        received, is_open = self.receive(conn)
        state = arrived(received)
        if state is Arrived.WHOLE:
            self.hold(Held(conn, self.answer(conn, received), is_polled=False))
        elif state is Arrived.NOT_A_WORKERS:
            super().enqueue_req(conn)
        else:
            # The name is gunicorn's own for a connection that goes back to the poller, and it has no other.
            self.finish_request(conn, ended_with(gthread._DEFER if is_open else False))

    @staticmethod
    def receive(conn: Any) -> tuple[bytes, bool]:
        """All that has come of the request, left where gunicorn reads it, and whether more may come."""
        waiting = conn.parser.unreader
        received = waiting.take_buffered()
        try:
            piece = conn.sock.recv(MOST_BYTES)
        except BlockingIOError:
            piece = None
        except OSError:
            piece = b""
        received += piece or b""
        waiting.unread(received)
        return received, piece != b""

    def on_client_socket_readable(self, conn: Any, client: Any) -> None:
        """Called when something has come over a connection that was kept open. If that is one request of a worker, the
        connection stays with the poller, to whom it would have to be given back at once."""
        received, _ = self.receive(conn)
        if arrived(received) is not Arrived.WHOLE:
            super().on_client_socket_readable(conn, client)
            return
        self.keepalived_conns.remove(conn)
        self.hold(Held(conn, self.answer(conn, received), is_polled=True))

    def answer(self, conn: Any, received: bytes) -> Reply:
        """The reply to a request that has come whole."""
        # To the process that kills those who are stuck.
        self.notify()
        reads_itself = self.reads_itself and isinstance(conn.client, tuple)
        request = plain_http.read(received, self.left_to_gunicorn) if reads_itself else None
        if request is None:
            return self.answer_of_gunicorn(conn)
        conn.parser.unreader.take_buffered()
        conn.parser.unreader.unread(request.rest)
        is_room = len(self.keepalived_conns) <= self.max_keepalived
        stays_open = request.stays_open and self.alive and is_room
        environ = self.common_environ | addresses_of(conn) | request.environ
        try:
            reply = plain_http.reply_of(self.wsgi, environ)
        except Exception as error:
            outbox = Outbox()
            self.handle_error(None, outbox, conn.client, error)
            return Reply(bytes(outbox.content), stays_open=False)
        content = reply.sent(SERVER, stays_open)
        return Reply(content, stays_open, may_tell_of_answers=FROM_FILES_ALONE not in environ)

    def answer_of_gunicorn(self, conn: Any) -> Reply:
        sock, outbox = conn.sock, Outbox()
        conn.sock = outbox
        try:
            stays_open = self.handle(conn)
        finally:
            conn.sock = sock
        return Reply(bytes(outbox.content), stays_open)

    @cached_property
    def reads_itself(self) -> bool:
        """What else gunicorn can be told to do with requests, it has to do: write a line for each, count them, find
        their addresses behind a prefix or in front of them."""
        cfg = self.cfg
        told = (cfg.accesslog, cfg.statsd_host, cfg.max_requests, os.environ.get("SCRIPT_NAME"))
        return not any(told) and cfg.proxy_protocol in (False, "off") and bool(cfg.keepalive)

    @cached_property
    def left_to_gunicorn(self) -> frozenset[str]:
        """Headers by which a server in front says that it was asked over HTTPS, if it may say so."""
        names = self.cfg.secure_scheme_headers
        return frozenset("HTTP_" + name.upper().replace("-", "_") for name in names)

    @cached_property
    def common_environ(self) -> dict[str, Any]:
        """What is the same for every request."""
        environ: dict[str, Any] = base_environ(self.cfg)
        return environ | {"wsgi.multithread": True, "wsgi.url_scheme": "http", "SCRIPT_NAME": ""}

    def send(self, held: Held) -> None:
        conn, reply = held.conn, held.reply
        sent = send_now(conn.sock, reply.content)
        if not held.is_polled:
            self.finish_sending(conn, reply, sent)
        elif self.goes_on(conn, reply, sent):
            conn.set_timeout()
            self.keepalived_conns.append(conn)
        else:
            self.poller.unregister(conn.sock)
            self.finish_sending(conn, reply, sent)

    def goes_on(self, conn: Any, reply: Reply, sent: int | None) -> bool:
        """Whether the next that happens to a connection is that the client asks again."""
        is_sent = sent == len(reply.content)
        return is_sent and reply.stays_open and bool(self.alive) and not has_more(conn)

    def finish_sending(self, conn: Any, reply: Reply, sent: int | None) -> None:
        """What is left of a reply is for the pool; a client that is gone (None) gets nothing more."""
        if sent is None or sent == len(reply.content):
            self.finish_request(conn, ended_with(sent is not None and reply.stays_open))
            return
        rest = self.tpool.submit(send_rest, conn.sock, reply.content[sent:], reply.stays_open)
        rest.add_done_callback(partial(self.method_queue.defer, self.finish_request, conn))

    def finish_request(self, conn: Any, fs: Future[Any]) -> None:
        """Called on the polling thread when a request has been handled, or has to wait for the rest of its bytes."""
        stays_open = self.alive and not fs.exception() and fs.result()
        if not stays_open:
            self.nr_conns -= 1
            # Takes care of a client that is still sending, and waits until it has closed its side.
            self.tpool.submit(conn.close, graceful=True)
        elif stays_open is True and has_more(conn):
            # The client has sent its next request without waiting for this reply: others are answered before it.
            self.method_queue.defer(self.enqueue_req, conn)
        else:
            super().finish_request(conn, fs)

    def murder_pending(self) -> None:
        """Closes connections whose time is over. A process that ends waits for nobody who has not sent a request."""
        if not self.alive:
            for conn in self.pending_conns:
                conn.timeout = 0.0
        super().murder_pending()


def has_more(conn: Any) -> bool:
    """Whether the client has sent more than the request that was answered."""
    return bool(conn.parser.unreader.buf.getvalue())


def addresses_of(conn: Any) -> dict[str, str]:
    """Between whom a connection over the network is."""
    (client, client_port, *_), (server, server_port, *_) = conn.client, conn.server
    return {
        "REMOTE_ADDR": client,
        "REMOTE_PORT": str(client_port),
        "SERVER_NAME": server,
        "SERVER_PORT": str(server_port),
    }


def send_now(sock: socket.socket, reply: bytes) -> int | None:
    """How much could be sent without waiting; None if the client is gone."""
    try:
        return sock.send(reply)
    except BlockingIOError:
        return 0
    except OSError:
        return None


def send_rest(sock: socket.socket, rest: bytes, stays_open: bool) -> bool:
    sock.setblocking(True)
    sock.sendall(rest)
    return stays_open


def ended_with(result: Any) -> Future[Any]:
    """What `finish_request` takes of a request that no thread of the pool has handled."""
    ended: Future[Any] = Future()
    ended.set_result(result)
    return ended
