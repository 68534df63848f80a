"""What the server says of itself to whoever keeps it."""

import os
import shutil
import time

import pytest

from jedi_web import readiness
from jobs import worker
from studies.models import Dataset
from teaching import pool_files
from teaching.engine import storage
from tests.builders import make_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def parts(client, settings, tmp_path):
    """Asks, with a data folder in which nobody has worked yet."""
    make_study(state="open")
    datasets = settings.JEDI_DATA_DIR / "datasets"
    settings.JEDI_DATA_DIR = tmp_path
    (tmp_path / "datasets").symlink_to(datasets)

    def ask():
        reply = client.get("/readyz")
        said = reply.json()
        assert reply.status_code == (200 if set(said.values()) == {"fine"} else 503)
        return said

    return ask


def test_all_is_fine_while_a_worker_reports(parts):
    assert "No background worker has run yet" in parts()["worker"]
    worker.beat()
    assert parts() == dict.fromkeys(
        ("database", "disk", "cache", "worker", "pools", "clock"), "fine"
    )


def test_a_worker_that_fell_silent_is_noticed(parts, tmp_path):
    long_ago = time.time() - 90
    worker.beat()
    os.utime(tmp_path / "worker-heartbeat", (long_ago, long_ago))
    assert "silent for 9" in parts()["worker"]


def test_lost_files_and_a_full_disk_are_noticed(parts, monkeypatch):
    shutil.rmtree(Dataset.objects.get().folder / "pool")
    monkeypatch.setattr(readiness, "MIN_FREE_BYTES", 1 << 60)
    said = parts()
    assert (
        said["pools"]
        == "1 of the data sets of open studies have lost files. Restore them from a backup."
    )
    assert "MB are free in the data folder. Make room." in said["disk"]


def test_a_cut_image_is_noticed_until_it_is_whole(parts):
    image = next(Dataset.objects.get().image_folder().iterdir())
    whole = image.read_bytes()
    image.write_bytes(whole[:-1])
    assert "have lost files" in parts()["pools"]
    image.write_bytes(whole)
    assert parts()["pools"] == "fine"
    readiness._images_checked_at.clear()
    image.unlink()
    assert "have lost files" in parts()["pools"]


@pytest.fixture
def hashes(monkeypatch):
    """How often a whole pool was hashed."""
    calls, verify = [], storage.verify
    monkeypatch.setattr(storage, "verify", lambda folder: (calls.append(folder), verify(folder)))
    pool_files._hashed.clear()
    return calls


def test_a_flipped_bit_of_a_pool_is_noticed_until_it_is_put_back(parts, hashes):
    path = Dataset.objects.get().folder / "pool" / "features.npy"
    whole = path.read_bytes()
    assert parts()["pools"] == "fine"
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert "have lost files" in parts()["pools"]
    path.write_bytes(whole)
    assert parts()["pools"] == "fine"


def test_a_pool_that_nobody_wrote_is_hashed_again_after_a_while_only(parts, hashes, monkeypatch):
    path = Dataset.objects.get().folder / "pool" / "features.npy"
    whole, stat = path.read_bytes(), path.stat()
    assert parts()["pools"] == parts()["pools"] == "fine"
    assert len(hashes) == 1
    # A disk that fails leaves the time of the file as it was.
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert parts()["pools"] == "fine"
    monkeypatch.setattr(pool_files, "TRUSTED_SECONDS", 0.0)
    assert "have lost files" in parts()["pools"]
    assert len(hashes) == 2
    path.write_bytes(whole)
