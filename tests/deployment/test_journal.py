"""No reply leaves before what it tells of is on the disk, and no disk that fails is taken for one that works."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from http.client import RemoteDisconnected
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tests.site import HttpClient, Reply, Site, at_once, running_site
from tests.worker import Worker

WORKERS = 6
POSITIONS = "SELECT code, position FROM studies_participant"


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    worker = "--worker-class tests.deployment.failing_disk.Worker"
    with running_site(threads=4, GUNICORN_CMD_ARGS=worker) as site:
        yield site


@dataclass(frozen=True)
class Unusual(HttpClient):
    """Has a header for which threads of the pool answer, and not the polling thread."""

    def request(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> Reply:
        return super().request(method, path, body, {**(headers or {}), "Upgrade": "none"})


def left_by_a_loss_of_power(site: Site) -> dict[str, int]:
    """The positions of all participants in what has certainly reached the disk."""
    left = site.data_dir / "left"
    with TemporaryDirectory() as folder:
        for name in ("db.sqlite3", "db.sqlite3-wal"):
            shutil.copy(left / name, folder)
        with closing(sqlite3.connect(Path(folder) / "db.sqlite3")) as database:
            return dict(database.execute(POSITIONS).fetchall())


def take_part(site: Site, slug: str, client: HttpClient) -> int:
    """Looks after every reply whether what it tells of would survive; returns the position at the end."""
    worker = Worker(slug, client)
    state = worker.get().json()
    code, position = state["session"]["code"], 0
    while "position" in state["task"]:
        position = state["task"]["position"]
        assert left_by_a_loss_of_power(site)[code] >= position
        state = worker.answer_task(state).json()
    return position


def test_every_answer_that_was_acknowledged_is_on_the_disk(site):
    slug = site.make_study()
    clients = [HttpClient(site.port), Unusual(site.port)] * (WORKERS // 2)
    ends = at_once([lambda client=client: take_part(site, slug, client) for client in clients])
    assert min(ends) > 5
    assert [stage for (stage,) in site.participants(slug, "stage")] == ["done"] * WORKERS
    positions = [position for (position,) in site.participants(slug, "position")]
    left = left_by_a_loss_of_power(site)
    codes = [code for (code,) in site.participants(slug, "code")]
    assert [left[code] for code in codes] == positions


@pytest.mark.parametrize("client", [HttpClient, Unusual])
def test_nothing_is_acknowledged_while_the_disk_fails(site, client):
    worker = Worker(site.make_study(), client(site.port))
    before = worker.get().json()["task"]["position"]
    fails = site.data_dir / "disk-fails"
    fails.touch()
    try:
        with pytest.raises(RemoteDisconnected):
            worker.answer(position=before, agree=True)
        with pytest.raises(RemoteDisconnected):
            worker.get()
    finally:
        fails.unlink()
    assert worker.answer(position=before, agree=True).status_code == 200
    assert worker.task()["position"] == before + 1
