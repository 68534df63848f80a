"""An acknowledged answer is on the disk, and a locked database keeps nothing else waiting for long."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from django.conf import settings
from django.db.utils import ConnectionHandler

from tests.site import running_site
from tests.worker import Worker


@pytest.mark.django_db
def test_sqlite_syncs_every_commit_and_takes_the_write_lock_at_the_start(tmp_path):
    database = settings.DATABASES["default"] | {"NAME": tmp_path / "db.sqlite3"}
    connection = ConnectionHandler({"default": database})["default"]
    with connection.cursor() as cursor:
        pragmas = {
            name: cursor.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
    connection.close()
    assert pragmas == {
        "journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 5_000,
    }  # fmt: skip
    assert connection.transaction_mode == "IMMEDIATE"


def test_the_health_check_answers_while_the_database_is_locked():
    with running_site(threads=4) as site, ThreadPoolExecutor(8) as participants:
        slug = site.make_study()
        workers = [Worker(slug, site.client(), PROLIFIC_PID=str(number)) for number in range(8)]
        with closing(sqlite3.connect(site.data_dir / "db.sqlite3", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            # One answer for every thread of the server.
            answers = [
                participants.submit(worker.answer, position=1, agree=True) for worker in workers
            ]
            assert site.client().get("/healthz").status_code == 200
            other.execute("ROLLBACK")
        assert {answer.result().status_code for answer in answers} <= {200, 503}
        for worker in workers:
            assert worker.answer(position=1, agree=True).status_code == 200
        assert set(site.participants(slug, "position")) == {(2,)}
