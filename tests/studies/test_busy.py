"""Which errors of a database pass by themselves, so that the API asks for patience."""

import errno
import sqlite3
from contextlib import closing

import psycopg
import psycopg_pool
import pytest
from django.db import OperationalError, connection

from studies.api.errors import error_reply
from studies.errors import BUSY, NOT_WRITTEN, outage_of


def raised_by(cause: Exception) -> OperationalError:
    """The error as Django hands it on."""
    error = OperationalError(*cause.args)
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("fault", "statement", "outage"),
    [
        ("", "BEGIN IMMEDIATE", BUSY),
        ("PRAGMA max_page_count = 2", "CREATE TABLE other (id)", NOT_WRITTEN),
        ("PRAGMA query_only = ON", "DELETE FROM one", NOT_WRITTEN),
        ("", "ATTACH '/nowhere/at/all.db' AS other", NOT_WRITTEN),
        ("", "SELECT * FROM locks", None),
    ],
)
def test_sqlite_says_by_its_codes_what_passes(tmp_path, fault, statement, outage):
    with (
        closing(sqlite3.connect(tmp_path / "one.db", timeout=0)) as first,
        closing(sqlite3.connect(tmp_path / "one.db", timeout=0)) as second,
    ):
        first.execute("CREATE TABLE one (id)")
        if outage == BUSY:
            first.execute("BEGIN IMMEDIATE")
        second.execute(fault)
        with pytest.raises(sqlite3.OperationalError) as caught:
            second.execute(statement)
    assert outage_of(raised_by(caught.value)) == outage


def test_a_file_that_cannot_be_written_passes_and_one_that_is_missing_does_not():
    assert outage_of(OSError(errno.ENOSPC, "No space left on device")) == NOT_WRITTEN
    assert outage_of(FileNotFoundError(errno.ENOENT, "No such file or directory")) is None


@pytest.mark.parametrize(
    ("cause", "outage"),
    [
        (psycopg.errors.LockNotAvailable(), BUSY),
        (psycopg.errors.DeadlockDetected(), BUSY),
        (psycopg.errors.QueryCanceled(), BUSY),
        (psycopg.errors.TooManyConnections(), BUSY),
        (psycopg.errors.AdminShutdown(), BUSY),
        (psycopg.errors.ConnectionFailure(), BUSY),
        (psycopg_pool.PoolTimeout("no connection in time"), BUSY),
        (psycopg.OperationalError("connection refused"), BUSY),
        (psycopg.errors.DiskFull(), NOT_WRITTEN),
        (psycopg.errors.IoError(), NOT_WRITTEN),
        (psycopg.errors.OutOfMemory(), None),
    ],
)
def test_postgres_says_by_its_codes_what_passes(cause, outage):
    assert outage_of(raised_by(cause)) == outage


@pytest.mark.django_db
def test_a_wrong_statement_is_our_own_fault():
    with pytest.raises(OperationalError) as caught, connection.cursor() as cursor:
        cursor.execute("SELECT connection FROM lock")
    assert error_reply(caught.value, {}).status_code == 500


def test_a_busy_database_asks_for_patience():
    reply = error_reply(raised_by(psycopg.errors.LockNotAvailable()), {})
    assert (reply.status_code, reply.headers["Retry-After"]) == (503, "2")
    assert reply.data["error"]["code"] == "busy"
