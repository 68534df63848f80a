"""What several web servers share: a cache that may be away, and images that the server in front sends."""

import time

import pytest

from jedi_web import environment
from jedi_web.caches import SharedCache
from studies.api.views import JoinThrottle
from studies.models import Dataset
from tests.builders import make_study
from tests.site import free_port
from tests.worker import Worker


@pytest.fixture
def cache_that_is_away(settings, monkeypatch):
    monkeypatch.setenv("JEDI_CACHE_URL", f"redis://127.0.0.1:{free_port()}/0")
    settings.CACHES = {"default": environment.cache()}
    settings.JEDI_SHARES_CACHE = True


@pytest.mark.django_db
@pytest.mark.usefixtures("cache_that_is_away")
def test_workers_join_while_the_shared_cache_is_away_and_its_keeper_learns_of_it(client):
    assert Worker(make_study()).joined.status_code == 201
    assert "shared cache does not answer" in client.get("/readyz").json()["cache"]


def test_without_an_address_every_process_has_its_own_cache(monkeypatch):
    monkeypatch.delenv("JEDI_CACHE_URL", raising=False)
    assert "locmem" in environment.cache()["BACKEND"]
    monkeypatch.setenv("JEDI_CACHE_URL", "rediss://:secret@cache.example.org:6380/2")
    assert environment.cache()["BACKEND"].endswith(SharedCache.__name__)


def test_machines_that_share_their_counts_count_by_the_clock_that_they_share(settings, monkeypatch):
    monkeypatch.setattr(time, "time", lambda: 1e9)
    settings.JEDI_SHARES_CACHE = True
    assert JoinThrottle.timer() == 1e9
    settings.JEDI_SHARES_CACHE = False
    assert JoinThrottle.timer() != 1e9


@pytest.mark.django_db
def test_the_server_in_front_is_told_the_file_of_an_image_and_nothing_else(settings):
    worker = Worker(make_study())
    address = worker.go_to("teaching")["image"]["url"]
    sent = worker.client.get(address)
    settings.JEDI_ACCEL_LOCATION = "/files/"
    told = worker.client.get(address)
    place = told["X-Accel-Redirect"].removeprefix("/files/")
    assert (Dataset.all_folders() / place).read_bytes() == sent.content
    assert (told.content, told["Content-Type"]) == (b"", "image/jpeg")
    assert set(told.headers) - set(sent.headers) == {"X-Accel-Redirect"}
    assert told["Cache-Control"] == sent["Cache-Control"]
