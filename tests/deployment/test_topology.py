"""Many machines: workers notice nothing while web servers and workers die and an upgrade goes round."""

import json
import random
import re
import socket
import ssl
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.client import IncompleteRead
from itertools import cycle, product
from subprocess import Popen
from threading import Event
from typing import Any

import pytest

from tests.kills import Acknowledged, answers_of, stored_answers
from tests.next_release import BY_THE_DATABASE, BY_THE_NEXT_RELEASE
from tests.processes import until
from tests.site import HttpClient, Reply
from tests.topology import Topology, running_topology
from tests.worker import Worker

JOURNEYS = 40
BOTS = 12
# Of each of the two servers that are killed, what its threads were just sending.
MOST_CUT_OFF = 2 * 8
JOINS_PER_MINUTE = 150
# Of every reply its own, or of the server that sent it.
CHANGING = {
    "Date",
    "X-Request-ID",
    "X-Request-Id",
    "Server",
    "Connection",
    "Content-Length",
    "Alt-Svc",
}


@dataclass(frozen=True)
class Page(HttpClient):
    """Loads the image of every task. It asks again for a reply that was cut off, as the worker's page does without a
    word; whatever else goes wrong fails the test."""

    images: list[Reply] = field(default_factory=list)
    cut_off: list[str] = field(default_factory=list)

    def request(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> Reply:
        try:
            return super().request(method, path, body, headers)
        except IncompleteRead:
            self.cut_off.append(path)
            return super().request(method, path, body, headers)

    def post(self, path: str, body: Any, content_type: str = "application/json") -> Reply:
        reply = super().post(path, body, content_type)
        assert reply.status_code < 300, (path, reply)
        if image := reply.json().get("task", {}).get("image"):
            self.images.append(self.get(image["url"]))
        return reply


@dataclass
class Crowd:
    """Journeys through the proxy, one after the other in every thread."""

    topology: Topology
    slug: str
    over: Event = field(default_factory=Event)
    workers: list[Worker] = field(default_factory=list)
    journeys: list[Future[None]] = field(default_factory=list)
    acknowledged: Acknowledged = field(default_factory=dict)

    def take_part(self, number: int) -> None:
        rng = random.Random(number)
        while True:
            person = f"person-{number}-{rng.random()}"
            worker = Worker(self.slug, Page(self.topology.site.port, True), PROLIFIC_PID=person)
            self.workers.append(worker)
            self.acknowledged.update(answers_of(worker, rng))
            if self.over.is_set():
                return

    @property
    def images(self) -> list[Reply]:
        return [image for worker in self.workers for image in worker.client.images]

    def go_on(self, count: int = 100) -> None:
        """Lets them see so many more images. A journey that ends meanwhile has failed, and says why."""
        seen = len(self.images)
        until(lambda: len(self.images) >= seen + count or self.ended())
        for journey in self.ended():
            journey.result()

    def ended(self) -> list[Future[None]]:
        return [journey for journey in self.journeys if journey.done()]


@contextmanager
def crowd(topology: Topology, slug: str) -> Iterator[Crowd]:
    people = Crowd(topology, slug)
    with ThreadPoolExecutor(JOURNEYS) as threads:
        people.journeys += [threads.submit(people.take_part, one) for one in range(JOURNEYS)]
        try:
            yield people
        finally:
            people.over.set()
    for journey in people.journeys:
        journey.result()


def order_rehearsals(topology: Topology, *slugs: str) -> None:
    errands = [json.dumps(["rehearse", slug, {"workers": BOTS}]) + "\n" for slug in slugs]
    topology.site.conversation("-m", "tests.jobs.errands").communicate("".join(errands))


def rehearsals(topology: Topology, *columns: str) -> list[tuple[Any, ...]]:
    return topology.site.rows(f"SELECT {', '.join(columns)} FROM rehearsal_rehearsal ORDER BY id")


@contextmanager
def two_workers_at_work(topology: Topology) -> Iterator[list[Popen[bytes]]]:
    """Each holds one of two rehearsals when the block begins."""
    workers = [topology.start_worker() for _ in range(2)]
    try:
        until(lambda: rehearsals(topology, "state") == [("running",)] * 2)
        yield workers
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()


def lose_a_worker(topology: Topology, workers: Sequence[Popen[bytes]]) -> None:
    """The one that holds the first rehearsal. The other takes it up when its own is done."""
    [holder] = [worker for worker in workers if is_holder(topology, worker)]
    holder.kill()
    holder.wait()


def is_holder(topology: Topology, worker: Popen[bytes]) -> bool:
    """Whether the order for the first rehearsal names this process."""
    [(names,)] = topology.site.rows(
        "SELECT worker_ids FROM django_tasks_database_dbtaskresult o JOIN rehearsal_rehearsal r "
        "ON o.args_kwargs @> jsonb_build_object('args', jsonb_build_array(r.id)) "
        "WHERE o.task_path = 'rehearsal.tasks.carry_out' ORDER BY r.id LIMIT 1"
    )
    return names[-1].endswith(f"-{worker.pid}")


def assert_nothing_was_lost(topology: Topology, people: Crowd) -> None:
    site = topology.site
    assert len(people.workers) >= JOURNEYS
    assert sum(len(worker.client.cut_off) for worker in people.workers) <= MOST_CUT_OFF
    tokens = {digest for digest, _ in people.acknowledged}
    stored = {key: answer for key, answer in stored_answers(site).items() if key[0] in tokens}
    assert stored == people.acknowledged
    stages = site.participants(people.slug, "stage", "code")
    assert [stage for stage, _ in stages] == ["done"] * len(people.workers)
    site.python("manage.py", "verify_log")
    for _, code in stages[:4]:
        site.python("manage.py", "replay_session", code)


def assert_both_releases_have_written(topology: Topology) -> None:
    """Into the table with the new column, of which the older one knows nothing."""
    written = topology.site.rows("SELECT DISTINCT next_release FROM teaching_teachingstep")
    assert {release for (release,) in written} == {BY_THE_DATABASE, BY_THE_NEXT_RELEASE}


def assert_images_tell_nothing(topology: Topology, people: Crowd) -> None:
    """All have the same headers and length, those of the web server itself, whoever asks and however."""
    images = people.images
    assert {image.status_code for image in images} == {200}
    assert len({len(image.content) for image in images}) == 1
    assert len({frozenset(steady(image).items()) for image in images}) == 1
    assert len({image.content for image in images}) > 10
    assert not {"ETag", "Last-Modified", "Accept-Ranges"} & images[0].headers.keys()
    worker = Worker(people.slug, Page(topology.site.port, True))
    address = worker.go_to("teaching")["image"]["url"]
    assert steady(topology.replicas[0].site.client().get(address)) == steady(images[0])
    for condition in (
        {"If-None-Match": "*"},
        {"If-Modified-Since": "Fri, 01 Jan 2100 00:00:00 GMT"},
        {"Range": "bytes=0-9"},
    ):
        reply = topology.site.client().get(address, condition)
        assert (reply.status_code, len(reply.content)) == (200, len(images[0].content))
    assert topology.site.client().get(address.replace("images/", "images/0")).status_code == 404


def steady(reply: Reply) -> dict[str, str]:
    """The headers that do not change; every process writes the parts of a policy in an order of its own."""
    return {
        name: " ".join(sorted(re.split("[ ;,]+", value)))
        for name, value in reply.headers.items()
        if name not in CHANGING
    }


def assert_static_files_are_found(topology: Topology, people: Crowd) -> None:
    client = topology.site.client()
    page = client.get(f"/w/{people.workers[0].token}/").content.decode()
    for address in re.findall(r'(?:src|href)="(/static/[^"]+)"', page):
        file = client.get(address, {"Accept-Encoding": "gzip"})
        assert file.status_code == 200
        assert "immutable" in file.headers["Cache-Control"]


NEW_FILE = "of-the-next-release.js"


def assert_a_file_of_one_server_is_found(topology: Topology) -> None:
    """As during an upgrade: a server knows the files that were there when it started."""
    found = [replica.site.client().get(f"/static/{NEW_FILE}") for replica in topology.replicas]
    assert [reply.status_code for reply in found] == [404, 200]
    client = topology.site.client()
    assert {client.get(f"/static/{NEW_FILE}").status_code for _ in range(10)} == {200}


def assert_one_limit_holds_for_both_servers(topology: Topology, slug: str) -> None:
    topology.cache.flushall()
    client = topology.site.client()
    for _ in range(JOINS_PER_MINUTE):
        assert client.post(f"/api/studies/{slug}/sessions/", {}).status_code == 201
    assert client.post(f"/api/studies/{slug}/sessions/", {}).status_code == 429


# What a client may get wrong in a request line that has a link.
BAD_REQUEST_LINES = (
    "GET {path} HTTP/9.9",
    "GET {path} x HTTP/1.1",
    "get\x00 {path} HTTP/1.1",
    "{path}",
)


def send_bad_requests(topology: Topology, token: str) -> None:
    """To every server, because it may be asked without the ones in front of it."""
    ports = (topology.nginx_port, topology.replicas[0].port)
    for line in BAD_REQUEST_LINES:
        request = f"{line}\r\nHost: 127.0.0.1\r\n\r\n".format(path=f"/w/{token}/").encode()
        for connect in (lambda: tls_connection(topology.site.port), *map(plain, ports)):
            with connect() as connection:
                connection.sendall(request)
                connection.shutdown(socket.SHUT_WR)
                # A reply, or none at all.
                while connection.recv(4096):
                    pass


def plain(port: int) -> Callable[[], socket.socket]:
    return lambda: socket.create_connection(("127.0.0.1", port), timeout=60)


def tls_connection(port: int) -> socket.socket:
    """The certificate of the site is signed by itself."""
    return ssl._create_unverified_context().wrap_socket(plain(port)())


def assert_the_logs_keep_secrets(topology: Topology, people: Crowd) -> None:
    send_bad_requests(topology, people.workers[0].token)
    for name, path in topology.logs.items():
        log = path.read_text()
        assert log, f"{name} has logged nothing: the test has proved nothing"
        assert not [worker.token for worker in people.workers if worker.token in log], name
    lines = topology.logs["nginx"].read_text().splitlines()
    retried = [line for line in lines if re.search(r'"127[^"]*, 127', line)]
    assert retried, "no request met a dead server: the test has proved nothing"
    assert {line.split()[4] for line in retried} <= {"200", "201"}


@pytest.mark.faults
@pytest.mark.timeout(1200)
def test_nobody_notices_when_servers_and_workers_die_and_an_upgrade_goes_round(postgres):
    url = postgres.create_database("many")
    with running_topology(url, JEDI_JOIN_RATE=f"{JOINS_PER_MINUTE}/min") as topology:
        slug, *rehearsed = (topology.site.make_study(evaluation_size=10) for _ in range(3))
        order_rehearsals(topology, *rehearsed)
        first, second = topology.replicas
        with two_workers_at_work(topology) as workers:
            with crowd(topology, slug) as people:
                lose_a_worker(topology, workers)
                first.kill()
                people.go_on()
                first.start()
                people.go_on()
                second.kill()
                people.go_on()
                (topology.site.data_dir / "static" / NEW_FILE).write_text("// A test.")
                second.start()
                assert_a_file_of_one_server_is_found(topology)
                topology.upgrade("tests.next_release.settings")
                people.go_on()
            until(lambda: rehearsals(topology, "state") == [("done",)] * 2)

        assert_nothing_was_lost(topology, people)
        assert rehearsals(topology, 'finished + "left"', "attempts") == [(BOTS, 2), (BOTS, 1)]
        assert_both_releases_have_written(topology)
        assert_images_tell_nothing(topology, people)
        assert_static_files_are_found(topology, people)
        assert_the_logs_keep_secrets(topology, people)
        assert_one_limit_holds_for_both_servers(topology, slug)


SLOW_CONNECTIONS = 500
# Requests that never end: a request line, a header, and a body that the view reads.
UNFINISHED = (
    "GET /healthz HT",
    "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ",
    "POST /api/studies/{slug}/sessions/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    "Content-Length: 40\r\n\r\n[",
)


@contextmanager
def slow_clients(slug: str, *connect: Callable[[], socket.socket]) -> Iterator[list[socket.socket]]:
    """Connections that have sent half a request and keep quiet, to each of the servers in turn."""
    kinds = cycle(product(UNFINISHED, connect))
    with ExitStack() as stack:
        connections = []
        for _, (request, connect_to) in zip(range(SLOW_CONNECTIONS), kinds, strict=False):
            connection = stack.enter_context(connect_to())
            connection.sendall(request.replace("{slug}", slug).encode())
            connections.append(connection)
        yield connections


def is_waiting(connection: socket.socket) -> bool:
    """Whether the server has neither answered nor closed the connection."""
    connection.setblocking(False)
    try:
        connection.recv(1)
    except (BlockingIOError, ssl.SSLWantReadError):
        return True
    return False


@pytest.mark.faults
@pytest.mark.timeout(600)
def test_participants_are_served_while_500_slow_clients_hold_their_connections(postgres):
    with running_topology(postgres.create_database("slow")) as topology:
        slug = topology.site.make_study(evaluation_size=10)
        servers = (plain(topology.nginx_port), lambda: tls_connection(topology.site.port))
        with slow_clients(slug, *servers) as connections, crowd(topology, slug) as people:
            people.go_on(300)
            assert all(map(is_waiting, connections))
        assert_nothing_was_lost(topology, people)
