"""Many at once, over HTTP, against the deployed server on SQLite and on Postgres."""

from collections import Counter

import pytest

from studies.models import digest_of
from tests.site import Site, at_once
from tests.worker import Worker

ARMS = ["jedi", "imt", "eer", "rt"]
# The shortest memory test that there is: two trials of one round each.
ONE_ROUND = {"memory_trials": 2, "memory_max_length": 2}


def worker_before_assignment(site: Site, slug: str) -> tuple[Worker, dict]:
    """A worker whose next answer ends the memory test."""
    worker = Worker(slug, site.client())
    worker.answer_current()
    last = worker.answer_current().json()["task"]
    worker.expose(last["position"])
    return worker, {"position": last["position"], "order": worker.orders[last["position"]]}


def worker_in(site: Site, slug: str, stage: str) -> Worker:
    worker = Worker(slug, site.client())
    worker.go_to(stage)
    return worker


def same_session(site: Site, worker: Worker) -> Worker:
    """The same session in another tab: another connection with the same token."""
    tab = object.__new__(Worker)
    tab.client, tab.token, tab.orders = site.client(), worker.token, {}
    return tab


def test_the_round_robin_is_exact_when_thirty_two_workers_arrive_at_once(site):
    slug = site.make_study(**ONE_ROUND)
    waiting = [worker_before_assignment(site, slug) for _ in range(32)]

    replies = at_once([lambda w=w, body=body: w.answer(**body) for w, body in waiting])

    assert [reply.status_code for reply in replies] == [200] * 32
    tickets = dict(site.participants(slug, "ticket", "arm"))
    assert tickets == {k: ARMS[k % 4] for k in range(32)}
    assert site.rows("SELECT next_ticket FROM studies_study WHERE slug = %s", slug) == [(32,)]


def test_arms_are_filled_evenly_when_gaps_are_filled_at_once(site):
    slug = site.make_study(assignment="fill_gaps", **ONE_ROUND)
    waiting = [worker_before_assignment(site, slug) for _ in range(24)]

    replies = at_once([lambda w=w, body=body: w.answer(**body) for w, body in waiting])

    assert {reply.status_code for reply in replies} == {200}
    arms = Counter(arm for (arm,) in site.participants(slug, "arm"))
    assert arms == dict.fromkeys(ARMS, 6)


@pytest.mark.parametrize("stage", ["consent", "memory", "teaching", "evaluation"])
def test_the_same_answer_from_sixteen_tabs_is_stored_once_with_equal_replies(site, stage):
    slug = site.make_study()
    worker = worker_in(site, slug, stage)
    state = worker.get().json()
    if stage == "memory":
        worker.expose(state["task"]["position"])
    body = {"position": state["task"]["position"], **worker.obvious(state)}
    tabs = [same_session(site, worker) for _ in range(16)]

    replies = at_once([lambda tab=tab: tab.answer(**body) for tab in tabs])

    assert [reply.status_code for reply in replies] == [200] * 16
    assert all(reply.json() == replies[0].json() for reply in replies)
    assert [(body["position"] + 1,)] == site.participants(slug, "position")


def test_of_different_answers_at_once_exactly_one_wins(site):
    slug = site.make_study()
    worker = worker_in(site, slug, "teaching")
    state = worker.get().json()
    position, classes = state["task"]["position"], state["session"]["classes"]
    tabs = [same_session(site, worker) for _ in range(16)]

    def answer(tab: Worker, label: str):
        return label, tab.answer(position=position, label=label)

    calls = [lambda tab=tab, k=k: answer(tab, classes[k % 2]) for k, tab in enumerate(tabs)]
    outcomes = at_once(calls)

    accepted = {label for label, reply in outcomes if reply.status_code == 200}
    refused = {label for label, reply in outcomes if reply.status_code == 409}
    assert len(accepted) == 1
    assert refused == set(classes) - accepted
    codes = {r.json()["error"]["code"] for _, r in outcomes if r.status_code == 409}
    assert codes == {"already_answered"}
    [(answer_stored, steps)] = site.rows(
        "SELECT (SELECT t.answer FROM teaching_teachingstep t WHERE t.participant_id = p.id AND t.step = 1), "
        "(SELECT count(*) FROM teaching_teachingstep t WHERE t.participant_id = p.id) "
        "FROM studies_participant p WHERE p.token_digest = %s",
        digest_of(worker.token),
    )
    assert ("wild", "domestic")[answer_stored] in accepted
    assert steps == 2


def test_one_person_who_joins_from_many_tabs_has_one_session(site):
    slug = site.make_study()
    clients = [site.client() for _ in range(24)]

    def join(client):
        return client.post(f"/api/studies/{slug}/sessions/", {"PROLIFIC_PID": "5f1e"})

    replies = at_once([lambda client=client: join(client) for client in clients])

    assert sorted(reply.status_code for reply in replies) == [200] * 23 + [201]
    assert len({reply.json()["token"] for reply in replies}) == 1
    assert site.participants(slug, "external_id") == [("5f1e",)]


def test_the_last_place_is_kept_for_the_person_who_takes_it_in_two_tabs(site):
    slug = site.make_study(max_participants=1)
    clients = [site.client() for _ in range(16)]

    def join(client):
        return client.post(
            f"/api/studies/{slug}/sessions/", {"workerId": "A1", "assignmentId": "B"}
        )

    replies = at_once([lambda client=client: join(client) for client in clients])

    assert {reply.status_code for reply in replies} == {200, 201}
    assert len(site.participants(slug, "id")) == 1


def test_a_study_never_takes_more_workers_than_it_has_places(site):
    slug = site.make_study(max_participants=5)
    clients = [site.client() for _ in range(32)]

    def join(client):
        return client.post(f"/api/studies/{slug}/sessions/", {})

    replies = at_once([lambda client=client: join(client) for client in clients])

    assert Counter(reply.status_code for reply in replies) == {201: 5, 403: 27}
    refusals = {r.json()["error"]["code"] for r in replies if r.status_code == 403}
    assert refusals == {"study_full"}
    assert len(site.participants(slug, "id")) == 5


def test_a_display_started_from_many_tabs_shows_one_order(site):
    slug = site.make_study()
    worker = worker_in(site, slug, "memory")
    position = worker.task()["position"]
    tabs = [same_session(site, worker) for _ in range(16)]

    replies = at_once([lambda tab=tab: tab.expose(position) for tab in tabs])

    assert {reply.status_code for reply in replies} == {200}
    assert all(reply.json() == replies[0].json() for reply in replies)
    [(exposures,)] = site.rows(
        "SELECT exposures FROM memorytest_memoryround m JOIN studies_participant p "
        "ON p.id = m.participant_id WHERE p.token_digest = %s",
        digest_of(worker.token),
    )
    assert exposures == 16


def test_a_withdrawal_leaves_nothing_whatever_other_tabs_do_at_that_moment(site):
    slug = site.make_study()
    workers = [worker_in(site, slug, "teaching") for _ in range(4)]
    calls = []
    for worker in workers:
        state = worker.get().json()
        body = {"position": state["task"]["position"], **worker.obvious(state)}
        reported = {"events": [{"kind": "hidden"}]}
        calls += [
            lambda w=worker, body=body: w.answer(**body),
            lambda w=worker, body=reported: w.post("events", body),
            lambda w=worker: w.post("withdrawal", {}),
            lambda w=worker: w.get(),
        ]

    replies = at_once(calls)

    assert {reply.status_code for reply in replies[2::4]} == {200}
    assert {reply.status_code for reply in replies} <= {200, 410}
    assert site.participants(slug, "stage", "memory_span") == [("withdrawn", None)] * 4
    for table in ("memorytest_memoryround", "teaching_teachingstep", "studies_sessionevent"):
        left = site.rows(
            f"SELECT COUNT(*) FROM {table} t JOIN studies_participant p ON p.id = t.participant_id "
            "JOIN studies_study s ON s.id = p.study_id WHERE s.slug = %s",
            slug,
        )
        assert left == [(0,)], table
