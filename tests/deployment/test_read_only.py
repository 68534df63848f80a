"""The data folder of a running server turns read-only, and writable again."""

import os
import signal
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.deployment.test_faults import until_it_answers, without_the_rights_of_root
from tests.processes import children_of, is_alive, until
from tests.site import Site, at_once, clean_environment, free_port, wait_until_ready
from tests.worker import Worker

THREADS = 4
WRITING = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


@pytest.fixture
def bound_site(tmp_path) -> Iterator[Site]:
    """A site on SQLite that permissions bind, whoever runs the tests: root may write anywhere."""
    folder = tmp_path / "data"
    port = free_port()
    own = {"PORT": str(port), "WEB_CONCURRENCY": "1", "WEB_THREADS": str(THREADS)}
    site = Site(port, folder, "", clean_environment(folder) | own)
    site.prepare()
    with (tmp_path / "server.log").open("w+") as log:
        server = site.start_server(log, preexec_fn=without_the_rights_of_root)
        try:
            wait_until_ready(site, server, log)
            yield site
        finally:
            site.close()
            server.send_signal(signal.SIGQUIT)
            server.wait(60)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """As after a restore by somebody else, or a change of the owner; nothing of it can be written or removed."""
    modes = {path: path.stat().st_mode for path in (folder, *folder.rglob("*"))}
    for path, mode in modes.items():
        path.chmod(mode & ~WRITING)
    try:
        yield
    finally:
        for path, mode in modes.items():
            path.chmod(mode)


def replace_the_web_process(site: Site) -> None:
    """A process that has the files open already can go on writing: its successor has to open them now."""
    [web] = children_of(site.server_pid)
    os.kill(web, signal.SIGKILL)
    until(lambda: not is_alive(web) and site.client().get("/healthz").status_code == 200)


def test_a_folder_that_turns_read_only_is_told_and_the_session_goes_on_when_it_is_writable(
    bound_site,
):
    site = bound_site
    slug = site.make_study()
    worker = Worker(slug, site.client())
    worker.go_to("teaching")
    answered = worker.answer_current()
    state = worker.get().json()
    with read_only(site.data_dir):
        replace_the_web_process(site)
        refused = until_it_answers(worker, state, 503)
        seen = worker.get()
        joining = site.client().request("POST", f"/s/{slug}/")
        ready = at_once([lambda: site.client().get("/readyz")] * 2 * THREADS)
    assert answered.status_code == 200
    assert refused.json()["error"]["code"] == "not_writable"
    assert "cannot store anything at the moment" in refused.json()["error"]["message"]
    assert refused.headers["Retry-After"] == "5"
    assert seen.json() == state
    assert joining.status_code == 503
    assert "disk is full or cannot be written" in joining.content.decode()
    for reply in ready:
        assert reply.status_code == 503
        assert "readonly database" in reply.json()["database"]
        assert "cannot be written (Permission denied)" in reply.json()["disk"]

    # Every thread has looked at the folder while it could only be read, and none of them remembers it.
    again = at_once([lambda: site.client().get("/readyz")] * 2 * THREADS)
    assert {(reply.json()["database"], reply.json()["disk"]) for reply in again} == {
        ("fine", "fine")
    }
    assert worker.answer_task(state).status_code == 200
    worker.go_to("done")
    assert site.participants(slug, "stage") == [("done",)]
