"""What a worker's page tells of itself: kept in bounded amounts, and never in anybody's way."""

from datetime import timedelta

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from studies import events
from studies.models import Participant, SessionEvent, Study
from studies.withdrawal import withdraw
from tests.builders import database_snapshot, make_dataset, make_study
from tests.web.test_bad_input import assert_refused
from tests.worker import Worker

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return make_study(arms="rt", dataset=make_dataset(teaching=12, evaluation=8))


@pytest.fixture
def worker(study) -> Worker:
    worker = Worker(study)
    worker.go_to("memory")
    return worker


def tell(worker: Worker, *reported: dict, **more) -> int:
    reply = worker.post("events", {"events": list(reported), **more})
    assert reply.status_code == 200, reply.content
    return reply.json()["kept"]


def stored() -> list[SessionEvent]:
    return list(SessionEvent.objects.order_by("pk"))


def test_events_are_kept_with_their_task_and_time(worker):
    before = timezone.now()
    reported = [
        {"kind": "opened", "client_ms": 100.5},
        {"kind": "hidden", "client_ms": 50_000, "position": 1},
        {"kind": "error", "client_ms": 61_000, "position": 99, "detail": "TypeError at main.js:7"},
    ]
    assert tell(worker, *reported, sent_ms=62_000) == 3
    opened, hidden, error = stored()
    assert {event.participant.token for event in stored()} == {worker.token}
    assert [event.kind for event in stored()] == ["opened", "hidden", "error"]
    # Without a task it is the current one; no page is ahead of the server.
    assert [event.position for event in stored()] == [2, 1, 2]
    assert (error.detail, hidden.detail) == ("TypeError at main.js:7", "")
    assert [event.client_ms for event in stored()] == [100.5, 50_000, 61_000]
    assert timedelta() <= error.at - (before - timedelta(seconds=1)) < timedelta(seconds=10)
    # Earlier by the page's clock than the session by the server's: the session's beginning is the limit.
    assert opened.at == worker.participant.created_at


def test_an_event_without_a_clock_is_of_now(worker):
    before = timezone.now()
    assert tell(worker, {"kind": "shown"}, sent_ms=5000) == 1
    assert tell(worker, {"kind": "shown", "client_ms": 5000}) == 1
    assert all(before <= event.at <= timezone.now() for event in stored())


@given(
    kept_ms=st.floats(0, 1e12), sent_ms=st.none() | st.floats(0, 1e12), hours=st.integers(0, 500)
)
def test_no_clock_puts_an_event_outside_of_the_session(kept_ms, sent_ms, hours):
    person = Participant(created_at=timezone.now() - timedelta(hours=hours))
    moment = events._moment(person, events.PageEvent("shown", kept_ms), sent_ms)
    assert max(person.created_at, timezone.now() - timedelta(hours=25)) <= moment <= timezone.now()


def test_a_call_keeps_its_first_twenty_and_a_session_five_hundred(worker, study):
    many = [{"kind": "hidden", "client_ms": k} for k in range(30)]
    assert tell(worker, *many) == 20
    assert [event.client_ms for event in stored()] == list(range(20))
    rows = [SessionEvent(participant=worker.participant, kind="shown", position=1)] * 475
    SessionEvent.objects.bulk_create(rows)
    assert tell(worker, *many) == 5
    assert tell(worker, *many) == 0
    assert SessionEvent.objects.count() == 500
    # Another session has its own room.
    other = Worker(study)
    assert tell(other, *many) == 20


def test_long_words_are_cut(worker):
    assert tell(worker, {"kind": "error", "detail": "é" * 1000}) == 1
    assert stored()[0].detail == "é" * 300


def test_nothing_is_kept_of_a_session_that_is_over(worker, study):
    declined = Worker(study)
    declined.answer(position=1, agree=False)
    withdrawn = Worker(study)
    withdrawn.go_to("memory")
    assert tell(withdrawn, {"kind": "opened"}) == 1
    withdraw(withdrawn.participant)
    expired = Worker(study)
    Participant.objects.with_token(expired.token).update(
        last_seen_at=timezone.now() - timedelta(days=30)
    )
    done = Worker(study)
    done.go_to("done")
    for over in (declined, withdrawn, expired, done):
        assert tell(over, {"kind": "shown"}) == 0
    assert stored() == []


def test_events_change_nothing_but_their_own_table(worker):
    before = database_snapshot(but=["studies_sessionevent"])
    assert tell(worker, {"kind": "hidden"}, {"kind": "shown"}) == 2
    assert tell(worker) == 0
    assert database_snapshot(but=["studies_sessionevent"]) == before


NONSENSE = [
    {"kind": "dancing"},
    {},
    {"kind": "error", "detail": "a\x00b"},
    {"kind": "error", "detail": ["a"]},
    {"kind": "shown", "client_ms": -1},
    {"kind": "shown", "client_ms": "soon"},
    {"kind": "shown", "position": 0},
    "shown",
]


@pytest.mark.parametrize("entry", NONSENSE)
def test_nonsense_is_refused_whole(worker, entry):
    reply = worker.post("events", {"events": [{"kind": "shown"}, entry]})
    assert_refused(reply, 400, "invalid", "events")
    assert stored() == []


def test_what_is_no_list_is_refused(worker, study):
    for body in ({}, {"events": None}, {"events": "opened"}, {"events": {"kind": "opened"}}):
        assert_refused(worker.post("events", body), 400, "invalid", "events")
    assert_refused(
        worker.post("events", {"events": [], "sent_ms": "late"}), 400, "invalid", "sent_ms"
    )
    big = {"events": [{"kind": "error", "detail": "x" * 20_000}]}
    assert_refused(worker.post("events", big), 413, "too_large")
    worker.token = "nobody"
    assert_refused(worker.post("events", {"events": []}), 404, "not_found")


def test_a_call_costs_the_same_however_many_events_there_are(worker, django_assert_max_num_queries):
    for reported in ([{"kind": "hidden"}], [{"kind": "hidden"}] * 20):
        with django_assert_max_num_queries(6):
            tell(worker, *reported)
