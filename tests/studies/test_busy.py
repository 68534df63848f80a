"""Which errors of a database pass by themselves, so that the API asks for patience."""

import sqlite3

import psycopg
import psycopg_pool
import pytest
from django.db import OperationalError, connection

from studies.api.errors import error_reply, is_busy


def raised_by(cause: Exception) -> OperationalError:
    """The error as Django hands it on."""
    error = OperationalError(*cause.args)
    error.__cause__ = cause
    return error


def test_a_locked_sqlite_is_busy_and_one_without_its_table_is_not(tmp_path):
    first, second = (sqlite3.connect(tmp_path / "one.db", timeout=0) for _ in range(2))
    first.execute("BEGIN IMMEDIATE")
    seen = []
    for statement in ("BEGIN IMMEDIATE", "SELECT * FROM locks"):
        with pytest.raises(sqlite3.OperationalError) as caught:
            second.execute(statement)
        seen.append(is_busy(raised_by(caught.value)))
    assert seen == [True, False]
    first.close()
    second.close()


@pytest.mark.parametrize(
    ("cause", "busy"),
    [
        (psycopg.errors.LockNotAvailable(), True),
        (psycopg.errors.DeadlockDetected(), True),
        (psycopg.errors.QueryCanceled(), True),
        (psycopg.errors.TooManyConnections(), True),
        (psycopg.errors.AdminShutdown(), True),
        (psycopg.errors.ConnectionFailure(), True),
        (psycopg_pool.PoolTimeout("no connection in time"), True),
        (psycopg.OperationalError("connection refused"), True),
        (psycopg.errors.DiskFull(), False),
        (psycopg.errors.OutOfMemory(), False),
    ],
)
def test_postgres_says_by_its_codes_what_passes(cause, busy):
    assert is_busy(raised_by(cause)) == busy


@pytest.mark.django_db
def test_a_wrong_statement_is_our_own_fault():
    with pytest.raises(OperationalError) as caught, connection.cursor() as cursor:
        cursor.execute("SELECT connection FROM lock")
    assert error_reply(caught.value, {}).status_code == 500


def test_a_busy_database_asks_for_patience():
    reply = error_reply(raised_by(psycopg.errors.LockNotAvailable()), {})
    assert (reply.status_code, reply.headers["Retry-After"]) == (503, "2")
    assert reply.data["error"]["code"] == "busy"
