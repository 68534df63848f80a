"""An acknowledged answer is on the disk."""

import pytest
from django.conf import settings
from django.db.utils import ConnectionHandler


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
        "journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 20_000,
    }  # fmt: skip
    assert connection.transaction_mode == "IMMEDIATE"
