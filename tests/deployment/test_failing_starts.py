"""Starts that cannot succeed: what is missing is told in a sentence, with the remedy."""

import json
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import psycopg
import pytest
from django.db import ProgrammingError

from jedi_web import connections
from studies.errors import UNPREPARED, is_unprepared
from tests.site import ROOT, Site, clean_environment

NOWHERE = "postgres://user:secret@127.0.0.1:1/name"
# manage.py, which waits for no database that is just being started.
IMPATIENT = """
import sys
import manage
from jedi_web import connections
connections.MAX_WAIT_SECONDS = 0
sys.argv[0] = "manage.py"
manage.main()
"""
ASKED = """
import json
import django
django.setup()
from django.test import Client
asked = [Client().get(path, headers={"host": "localhost"}) for path in ("/healthz", "/readyz")]
print(json.dumps([[reply.status_code, reply.content.decode()] for reply in asked]))
"""


def manage(folder: Path, command: str, database_url: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", IMPATIENT, command],
        cwd=ROOT,
        env=clean_environment(folder) | {"DATABASE_URL": database_url},
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("command", ["prepare", "migrate_to_postgres"])
def test_a_postgres_that_does_not_answer_is_named_with_its_reason(tmp_path, command):
    (tmp_path / "db.sqlite3").touch()
    refused = manage(tmp_path, command, NOWHERE)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert re.fullmatch(
        r"CommandError: The database of DATABASE_URL \(host 127.0.0.1, port 1, name name\) cannot be reached: .*"
        r"Connection refused\. Start Postgres, or correct DATABASE_URL, and try again\.\n",
        refused.stderr,
    )


def test_a_wrong_value_of_an_option_is_the_reason_that_is_told(tmp_path):
    refused = manage(tmp_path, "prepare", f"{NOWHERE}?sslmode=bogus")
    assert 'cannot be reached: connection is bad: invalid sslmode value: "bogus".' in refused.stderr
    assert "secret" not in refused.stderr


def test_a_postgres_that_is_just_being_started_is_waited_for(monkeypatch):
    answers = iter(["Connection refused", "the database system is starting up", ""])
    monkeypatch.setattr(connections, "default", SimpleNamespace(vendor="postgresql"))
    monkeypatch.setattr(connections, "connection_error", lambda: next(answers))
    monkeypatch.setattr(connections, "PAUSE_SECONDS", 0)
    connections.wait_for_postgres()
    assert not list(answers)


def test_a_server_on_a_folder_that_nobody_prepared_says_how_to(tmp_path):
    site = Site(0, tmp_path, "", clean_environment(tmp_path))
    health, ready = json.loads(site.python("-W", "ignore", "-c", ASKED))
    assert health == [503, f"{UNPREPARED}\n"]
    assert ready[0] == 503
    assert json.loads(ready[1])["database"] == UNPREPARED


@pytest.mark.parametrize(
    ("cause", "lacks_tables"),
    [
        (psycopg.errors.UndefinedTable(), True),
        (psycopg.errors.InsufficientPrivilege(), False),
        (psycopg.OperationalError("connection refused"), False),
    ],
)
def test_postgres_says_by_its_code_that_nobody_prepared_it(cause, lacks_tables):
    error = ProgrammingError()
    error.__cause__ = cause
    assert is_unprepared(error) == lacks_tables
