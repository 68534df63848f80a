"""Every SQL statement of every write path fails in turn: nothing is half done, and the repeat succeeds."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test import Client

from memorytest.models import MemoryRound
from studies import chain
from studies.models import Study
from tests.builders import database_snapshot, make_dataset, make_study
from tests.worker import Worker

# The error itself is noted for the monitor; that is meant to stay.
NOTED = "studies_sessionevent"
# Whoever undoes a transaction cannot be stopped by its statements: a database that fails does the same by itself.
UNDOING = ("SAVEPOINT", "ROLLBACK")
MOST = 60


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
    breakdown = Breakdown(number)
    with connection.execute_wrapper(breakdown):
        yield breakdown


def rows() -> Any:
    # How often a display was asked for is counted, as it should be.
    MemoryRound.objects.filter(exposures__gt=1).update(exposures=1)
    return database_snapshot(but=[NOTED])


def through_all_failures(ask: Callable[[], Any]) -> tuple[Any, list[str]]:
    """Asks again and again, each time with a later statement failing: the first reply without a failure, and what
    failed before it. If a failure comes too late to undo anything, all of it is done: nothing changes from then on."""
    broken: list[str] = []
    states = [rows()]
    for number in range(1, MOST):
        with failing(number) as breakdown:
            reply = ask()
        if (now := rows()) != states[-1]:
            states.append(now)
        assert len(states) <= 2, f"half done: {breakdown.failed}"
        if not breakdown.failed:
            return reply, broken
        broken.append(breakdown.failed)
        assert reply.status_code >= 500, breakdown.failed
    raise AssertionError(f"It still fails after {MOST} statements.")


@pytest.fixture
def study(db) -> Study:
    dataset = make_dataset(teaching=12, evaluation=8)
    lengths = {"memory_trials": 2, "memory_max_length": 2, "cold_start": 2}
    steps = dict.fromkeys(("short_steps", "medium_steps", "long_steps", "other_steps"), 3)
    return make_study(
        dataset=dataset,
        arms="jedi",
        evaluation_size=2,
        webhook_url="https://hooks.example.org/",
        **lengths,
        **steps,
    )


def answer(worker: Worker, state: dict[str, Any]) -> list[str]:
    """Answers the current task through all failures; returns the statements that failed."""
    task, broken = state["task"], []
    if task["kind"] == "memory":
        begun, broken = through_all_failures(lambda: exposure(worker, task["position"]))
        worker.orders[task["position"]] = begun.json()["task"]["order"]
    body = {"position": task["position"], **worker.obvious(state)}
    reply, more = through_all_failures(lambda: worker.answer(**body))
    assert reply.status_code == 200
    assert worker.answer(**body).json() == reply.json()
    return [*broken, *more]


def exposure(worker: Worker, position: int) -> Any:
    return worker.post("exposures", {"position": position})


def test_whatever_statement_fails_nothing_is_half_done_and_the_repeat_succeeds(study):
    client = Client(raise_request_exception=False)
    address = f"/api/studies/{study.slug}/sessions/"
    joined, broken = through_all_failures(
        lambda: client.post(address, {"PROLIFIC_PID": "p"}, content_type="application/json")
    )
    assert joined.status_code == 201
    assert any(sql.startswith("INSERT") and "participant" in sql for sql in broken)
    worker = Worker.resuming(joined.json()["token"])
    worker.client = client
    state, seen = worker.get().json(), []
    while (kind := state["task"]["kind"]) != "done":
        broken = answer(worker, state)
        seen.append(kind)
        assert any(sql.startswith("UPDATE") and "participant" in sql for sql in broken)
        state = worker.get().json()
    assert seen == [
        "consent",
        "memory",
        "memory",
        "teaching",
        "teaching",
        "teaching",
        *["evaluation"] * 2,
    ]
    assert any("webhookdelivery" in sql for sql in broken), "the last answer tells the webhook"
    person = worker.participant
    assert person.webhook_deliveries.count() == 1
    assert chain.check(person).findings == ()
    Study.objects.get(pk=study.pk, next_ticket=1)


@pytest.mark.parametrize("keeps", ["delete", "keep"])
def test_a_withdrawal_that_fails_anywhere_leaves_the_session_as_it_is(study, keeps):
    Study.objects.update(on_withdrawal=keeps)
    worker = Worker(Study.objects.get(), Client(raise_request_exception=False))
    worker.go_to("teaching")
    reply, broken = through_all_failures(lambda: worker.post("withdrawal", {}))
    assert reply.json()["task"]["outcome"] == "withdrawn"
    assert len(broken) > 5
