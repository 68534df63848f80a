"""Every SQL statement of every write path fails in turn: nothing is half done, and the repeat succeeds."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.http import Http404
from django.test import RequestFactory
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone

from desk.models import AccessToken
from studies.models import Dataset, Participant, Study, digest_of
from studies.verification import check_participant
from tests.breakdown import Ask, through_all_failures, unbroken
from tests.builders import SHORT, make_dataset, make_study
from tests.people import make_researcher
from tests.site import ROOT
from tests.web import test_failing_admin
from tests.worker import Worker


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
    client = unbroken()
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
    assert check_participant(person).findings == ()
    Study.objects.get(pk=study.pk, next_ticket=1)


@pytest.mark.parametrize("keeps", ["delete", "keep"])
def test_a_withdrawal_that_fails_anywhere_leaves_the_session_as_it_is(study, keeps):
    Study.objects.update(on_withdrawal=keeps)
    worker = Worker(Study.objects.get(), unbroken())
    worker.go_to("teaching")
    reply, broken = through_all_failures(lambda: worker.post("withdrawal", {}))
    assert reply.json()["task"]["outcome"] == "withdrawn"
    assert len(broken) > 5


def joining_by_the_page(study: Study) -> Ask:
    client = unbroken()
    return lambda: client.post(f"/s/{study.slug}/?PROLIFIC_PID=p")


def reloading(study: Study) -> Ask:
    worker = Worker(study, unbroken())
    # What a process reads once is read.
    worker.get()
    Participant.objects.update(last_seen_at=timezone.now() - timedelta(minutes=5))
    return worker.get


def reporting_a_disturbed_display(study: Study) -> Ask:
    worker = Worker(study, unbroken())
    position = worker.go_to("memory")["position"]
    worker.expose(position)
    return lambda: worker.post("displays", {"position": position, "is_interrupted": True})


def reporting_events(study: Study) -> Ask:
    worker = Worker(study, unbroken())
    worker.get()
    return lambda: worker.post("events", {"events": [{"kind": "hidden"}, {"kind": "hidden"}]})


def program_of(study: Study) -> Callable[..., Any]:
    owner = make_researcher("owner")
    Study.objects.update(owner=owner)
    Dataset.objects.update(owner=owner)
    secret = AccessToken.new_secret()
    AccessToken.objects.create(user=owner, name="a test", digest=digest_of(secret))
    headers = {"Authorization": f"Bearer {secret}"}
    return partial(unbroken().post, content_type="application/json", headers=headers)


def creating_a_study(study: Study) -> Ask:
    post = program_of(study)
    names = {"title": "New", "slug": "new", "dataset": study.dataset.name}
    body = SHORT | names | {"consent": "Do you agree?"}
    return lambda: post("/api/v1/studies/", body)


def pausing_a_study(study: Study) -> Ask:
    post = program_of(study)
    return lambda: post(f"/api/v1/studies/{study.slug}/state/", {"state": "paused"})


# What the tests above do not go through, by the name of its address.
OTHER_WRITES: dict[str, Callable[[Study], Ask]] = {
    "entry": joining_by_the_page,
    "api-session": reloading,
    "api-displays": reporting_a_disturbed_display,
    "api-events": reporting_events,
    "api-v1-studies": creating_a_study,
    "api-v1-state": pausing_a_study,
}
ABOVE = {"api-join", "api-exposures", "api-answers", "api-withdrawal"}


@pytest.mark.parametrize("address", OTHER_WRITES)
def test_whatever_else_writes_is_done_wholly_or_not_at_all(study, address):
    reply, broken = through_all_failures(OTHER_WRITES[address](study))
    # Whoever did not hear that the study was made hears that there is one of that name.
    assert reply.status_code < 400 or "link name already exists" in reply.content.decode()
    assert reply.resolver_match.url_name == address
    assert any(sql.startswith(("INSERT", "UPDATE")) for sql in broken)


@pytest.mark.django_db
def test_there_is_nothing_else_that_writes():
    assert set(addresses_that_take_posts(get_resolver().url_patterns)) | {"api-session"} == (
        ABOVE | set(OTHER_WRITES)
    )


def addresses_that_take_posts(patterns: Iterable[Any]) -> Iterator[str]:
    """The names of all addresses outside the admin that anything can be sent to."""
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            if not str(pattern.pattern).startswith("admin/"):
                yield from addresses_that_take_posts(pattern.url_patterns)
        elif not str(pattern.pattern).startswith("admin/") and takes_posts(pattern):
            yield pattern.name


def takes_posts(pattern: URLPattern) -> bool:
    if view := getattr(pattern.callback, "view_class", None):
        return any(hasattr(view, method) for method in ("post", "put", "patch", "delete"))
    words = dict.fromkeys(pattern.pattern.converters, "none")
    with suppress(Http404):
        return pattern.callback(RequestFactory().post("/"), **words).status_code != 405
    return True


@pytest.mark.faults
def test_all_of_this_holds_on_postgres(postgres):
    url = postgres.create_database("statements")
    files = [__file__, test_failing_admin.__file__]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-m", "not faults", "--nomigrations", *files],
        cwd=ROOT,
        env=os.environ | {"TEST_DATABASE_URL": url},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
