"""A database that goes away at any statement: what was asked for is done wholly or not at all."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import OperationalError, connection, transaction
from django.test import Client, TestCase

from desk.models import AccessToken
from memorytest.models import MemoryRound
from tests.builders import database_snapshot

# What is meant to stay: the error itself, noted for the monitor; who is signed in, and how often somebody tried to.
NOTED = (
    "studies_sessionevent",
    "django_session",
    "axes_accessattempt",
    "axes_accessfailurelog",
    "axes_accesslog",
)
# Whoever undoes a transaction cannot be stopped by its statements: a database that fails does the same by itself.
UNDOING = ("SAVEPOINT", "ROLLBACK")
# What comes when all is done. A job that could not be queued stands, and a worker queues it later: nobody is told of a
# failure. Whoever is no longer signed in signs in again.
QUEUE, SESSION = "django_tasks_database_dbtaskresult", "django_session"
MOST = 120

Ask = Callable[[], Any]


class Breakdown:
    """Lets one statement fail, by its number, as a database does that has just gone away."""

    def __init__(self, number: int) -> None:
        self.left = number
        self.failed = ""

    def __call__(self, execute: Any, sql: str, *rest: Any) -> Any:
        if sql.startswith(UNDOING):
            return execute(sql, *rest)
        self.left -= 1
        if self.left == 0:
            self.failed = sql
            raise OperationalError("the database has gone away")
        return execute(sql, *rest)


@contextmanager
def failing(number: int) -> Iterator[Breakdown]:
    """What is to be done after a commit is done here too, as a deployed server does it."""
    breakdown = Breakdown(number)
    with (
        connection.execute_wrapper(breakdown),
        TestCase.captureOnCommitCallbacks(execute=True),
    ):
        yield breakdown


def stored() -> Any:
    """Every row, and the folders of data sets and imports."""
    # How often a display was asked for and when somebody was last here are noted at each try, as they should be.
    MemoryRound.objects.filter(exposures__gt=1).update(exposures=1)
    AccessToken.objects.update(last_used_at=None)
    User.objects.update(last_login=None)
    folders = sorted(settings.JEDI_DATA_DIR.glob("*/*"))
    return database_snapshot(but=NOTED), folders


def through_all_failures(ask: Ask) -> tuple[Any, list[str]]:
    """Asks again and again, each time with a later statement failing: the first reply that tells of no failure, and
    what failed before it. If a failure comes too late to undo anything, all of it is done: nothing changes from then
    on."""
    broken: list[str] = []
    states = [stored()]
    for number in range(1, MOST):
        with failing(number) as breakdown:
            reply = ask()
        # A deployed server has no transaction around a request; a test's own goes on.
        if connection.in_atomic_block:
            transaction.set_rollback(False)
        if (now := stored()) != states[-1]:
            states.append(now)
        assert len(states) <= 2, f"half done: {breakdown.failed}"
        if not breakdown.failed or QUEUE in breakdown.failed:
            return reply, broken
        broken.append(breakdown.failed)
        # Django calls a request bad whose session could not be written.
        assert reply.status_code in (400, 500, 503), breakdown.failed
        if SESSION in breakdown.failed and len(states) == 2:
            return reply, broken
    raise AssertionError(f"It still fails after {MOST} statements.")


def unbroken() -> Client:
    """A browser that is told of errors as people are."""
    return Client(raise_request_exception=False)
