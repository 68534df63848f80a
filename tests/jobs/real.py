"""Real background workers on a deployed site: started, watched, stopped and killed."""

import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from functools import partial

from tests.site import ROOT


def start_worker(place, *options):
    return start(place, "work", *options)


def start(place, *command):
    """One of the site's commands, in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "manage.py", *command],
        cwd=ROOT,
        env=place.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        # A run in the background of a shell ignores the keyboard, and so would what it starts.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )


def finish_work(place):
    place.python("manage.py", "work", "--once")


def write(place, sql, *values):
    if place.database_url:
        with place._postgres() as connection:
            connection.execute(sql, values)
    else:
        path = place.data_dir / "db.sqlite3"
        with closing(sqlite3.connect(path, timeout=20)) as connection, connection:
            connection.execute(sql.replace("%s", "?"), values)


def fall_silent(place, table):
    """As if no worker had reported on these jobs for longer than a lease."""
    past = "2020-01-01 00:00:00+00:00" if place.database_url else "2020-01-01 00:00:00"
    write(
        place, f"UPDATE {table} SET heartbeat_at = %s WHERE state IN ('waiting', 'running')", past
    )
