"""The life cycle that imports and rehearsals share: claimed by one worker, kept by a heartbeat, never lost."""

import threading
from datetime import timedelta

import pytest
from django.db import DatabaseError
from django_tasks_db.models import DBTaskResult

from image_datasets.imports import services
from jobs import lease, recovery
from jobs.lease import Lease, work_on
from jobs.models import LEASE, MAX_ATTEMPTS, TakenOver
from jobs.recovery import look_for_lost_work, recover, recovery_due

from .lost import MAKERS, fall_silent

pytestmark = pytest.mark.django_db


@pytest.fixture(params=MAKERS)
def make(request):
    return MAKERS[request.param]


def again(job):
    """The job as another worker finds it."""
    return type(job).objects.get(pk=job.pk)


def orders():
    return [order.args_kwargs["args"] for order in DBTaskResult.objects.all()]


@pytest.fixture
def look(django_capture_on_commit_callbacks):
    """A worker looks for what others left, as it does every few seconds."""

    def look_around():
        with django_capture_on_commit_callbacks(execute=True):
            look_for_lost_work()

    return look_around


def die_at_work(job):
    """A worker takes the job up, and is killed."""
    assert again(job).claim()
    fall_silent(job)


def die_before_beginning(job):
    """A worker takes the order from the queue, and is killed before it takes up the job."""
    DBTaskResult.objects.all().delete()
    fall_silent(job)


def test_of_two_workers_only_one_gets_a_job(make):
    job = make()
    first, second = again(job), again(job)
    assert first.claim()
    assert not second.claim()
    assert (first.state, first.attempts, first.run) == ("running", 1, again(job).run)


def test_a_job_whose_worker_died_at_work_is_queued_again(make, look):
    job = make()
    die_at_work(job)
    look()
    look()
    assert (again(job).state, orders()) == ("waiting", [[job.pk]])
    assert again(job).claim()


def test_a_job_whose_worker_is_at_work_is_left_alone(make, look):
    job = make()
    job.claim()
    look()
    assert (again(job).state, orders()) == ("running", [])


def test_a_job_whose_order_was_lost_is_queued_again(make, look):
    job = make()
    look()
    assert orders() == [], "it has only just been ordered"
    die_before_beginning(job)
    look()
    assert (again(job).state, orders()) == ("waiting", [[job.pk]])


def test_a_job_that_only_waits_its_turn_is_not_queued_twice_and_loses_no_attempt(
    make, look, django_capture_on_commit_callbacks
):
    job = make()
    with django_capture_on_commit_callbacks(execute=True):
        job.enqueue()
    for _ in range(MAX_ATTEMPTS + 1):
        fall_silent(job)
        look()
        assert not again(job).is_silent, "a worker has seen it"
    assert (again(job).state, again(job).attempts, orders()) == ("waiting", 0, [[job.pk]])


@pytest.mark.parametrize("die", [die_at_work, die_before_beginning])
def test_a_job_that_costs_three_workers_their_lives_is_given_up_and_says_what_to_do(
    make, look, die
):
    job = make()
    for _ in range(3):
        assert again(job).state == "waiting"
        die(job)
        DBTaskResult.objects.all().delete()
        look()
    given_up = again(job)
    assert (given_up.state, orders()) == ("failed", [])
    assert "stopped three times" in given_up.problem
    assert "server's log" in given_up.problem
    fall_silent(job)
    look()
    assert not again(job).claim()
    assert orders() == []


def test_an_order_that_comes_late_does_not_begin_a_fourth_attempt(make):
    job = make(attempts=MAX_ATTEMPTS, state="running")
    fall_silent(job)
    assert not again(job).claim()


def test_a_worker_that_was_taken_over_can_write_nothing(make, look):
    sleeper = make()
    sleeper.claim()
    fall_silent(sleeper)
    look()
    for meanwhile in (lambda: None, again(sleeper).claim):
        meanwhile()
        before = vars(again(sleeper))
        with pytest.raises(TakenOver):
            sleeper.report(problem="written by the dead")
        Lease(sleeper).renew()
        sleeper.release()
        after = vars(again(sleeper))
        assert {**after, "_state": None} == {**before, "_state": None}


def test_work_that_was_taken_over_ends_quietly(make):
    job = make()
    job.claim()
    steps = []

    def work(held):
        steps.append("first")
        type(job).objects.update(run="another")
        job.report()
        steps.append("second")

    work_on(job, work)
    assert steps == ["first"]


def test_a_worker_that_is_told_to_stop_gives_its_job_back_at_once(
    make, django_capture_on_commit_callbacks
):
    job = make()
    job.claim()

    def be_stopped(held):
        raise SystemExit(1)

    with django_capture_on_commit_callbacks(execute=True), pytest.raises(SystemExit):
        work_on(job, be_stopped)
    assert (again(job).state, again(job).attempts, orders()) == ("waiting", 0, [[job.pk]])


def test_a_removed_job_ends_its_work(make):
    job = make()
    job.claim()
    held = Lease(job)
    type(job).objects.all().delete()
    held.renew()
    with pytest.raises(TakenOver):
        held.check()


def test_a_worker_that_slept_for_longer_than_a_lease_asks_before_it_goes_on(
    make, django_assert_num_queries
):
    job = make()
    job.claim()
    held = Lease(job)
    with django_assert_num_queries(0):
        held.check()
    held._renewed_at -= LEASE + timedelta(seconds=1)
    with django_assert_num_queries(1):
        held.check()
    type(job).objects.update(run="another")
    held._renewed_at -= LEASE + timedelta(seconds=1)
    with pytest.raises(TakenOver):
        held.check()


@pytest.mark.django_db(transaction=True)
def test_a_thread_beside_the_work_keeps_the_lease_while_the_work_says_nothing(make, monkeypatch):
    monkeypatch.setattr(lease, "BEAT_SECONDS", 0.01)
    job = make()
    job.claim()
    fall_silent(job)
    beaten = threading.Event()
    renew = Lease.renew

    def recorded(held):
        renew(held)
        beaten.set()

    monkeypatch.setattr(Lease, "renew", recorded)
    with Lease(job):
        assert beaten.wait(60)
    assert again(job).is_at_work


@pytest.mark.django_db(transaction=True)
def test_a_heartbeat_survives_a_database_that_does_not_answer(make, monkeypatch):
    monkeypatch.setattr(lease, "BEAT_SECONDS", 0.01)
    job = make()
    job.claim()
    tries, renewed = iter([True, False]), threading.Event()

    def renew(held):
        if next(tries, False):
            raise DatabaseError
        renewed.set()

    monkeypatch.setattr(Lease, "renew", renew)
    with Lease(job):
        assert renewed.wait(60)


def test_an_app_whose_recovery_fails_keeps_no_other_from_its_own(make, look, caplog):
    job = make()
    die_at_work(job)

    def fail(**options):
        raise DatabaseError("away")

    receivers = recovery_due.receivers
    recovery_due.receivers = []
    try:
        recovery_due.connect(fail)
        recovery.register(type(job))
        look()
    finally:
        recovery_due.receivers = receivers
        recovery_due.sender_receivers_cache.clear()
    assert again(job).state == "waiting"
    assert "away" in caplog.text


def test_recovery_says_on_an_imports_log_what_happened(look):
    job = MAKERS["import"]()
    for _ in range(3):
        die_at_work(job)
        look()
    log = again(job).log
    assert log.count("The background worker stopped; another one continues.") == 2
    assert log.count("stopped three times") == 1


def test_a_cancelled_import_whose_worker_died_is_not_carried_out_after_all():
    job = MAKERS["import"]()
    die_at_work(job)
    type(job).objects.update(cancel_requested=True)
    recover(type(job))
    assert again(job).cancel_requested


def test_resuming_an_import_gives_it_three_more_attempts():
    job = MAKERS["import"](state="failed", attempts=MAX_ATTEMPTS)
    services.resume(job)
    assert (again(job).state, again(job).attempts) == ("waiting", 0)
