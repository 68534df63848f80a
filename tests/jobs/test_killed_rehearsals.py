"""Rehearsals whose worker is really killed, or really sleeps, on SQLite and on Postgres."""

import os
import signal

import pytest

from tests.processes import until

from .real import fall_silent, finish_work, start, start_worker, write


@pytest.fixture
def study(workplace) -> str:
    return workplace.make_study(memory_max_length=4)


def row(place, pk, *columns):
    [found] = place.rows(f"SELECT {', '.join(columns)} FROM rehearsal_rehearsal WHERE id = %s", pk)
    return found


def kill(worker):
    os.kill(worker.pid, signal.SIGKILL)
    worker.wait()


def stages(place, slug):
    return [stage for (stage,) in place.participants(slug, "stage")]


@pytest.mark.faults
def test_a_killed_workers_bots_are_replaced_and_each_ends_once(workplace, ask, study):
    pk = ask("rehearse", study, {"workers": 12})
    worker = start_worker(workplace)
    until(lambda: row(workplace, pk, "finished") >= (2,))
    kill(worker)
    ended, *_ = row(workplace, pk, "finished", "state")
    assert row(workplace, pk, "state", "attempts") == ("running", 1)
    assert ended < 12
    finish_work(workplace)
    assert row(workplace, pk, "state") == ("running",), "it was taken before the lease had lapsed"
    fall_silent(workplace, "rehearsal_rehearsal")
    finish_work(workplace)
    state, finished, left, attempts, problem = row(
        workplace, pk, "state", "finished", '"left"', "attempts", "problem"
    )
    assert (state, finished + left, attempts, problem) == ("done", 12, 2, "")
    # One more when the worker was killed between the last answer of a bot and its count.
    assert finished <= stages(workplace, study).count("done") <= finished + 4


def test_a_killed_workers_forecast_is_started_again_and_completed(workplace, ask, study):
    pk = ask("rehearse", study, {"kind": "forecast", "workers": 400})
    worker = start_worker(workplace)
    until(lambda: row(workplace, pk, "finished") >= (2,))
    kill(worker)
    assert row(workplace, pk, "state") == ("running",)
    write(workplace, "UPDATE rehearsal_rehearsal SET workers = 5 WHERE id = %s", pk)
    fall_silent(workplace, "rehearsal_rehearsal")
    finish_work(workplace)
    assert row(workplace, pk, "state", "finished", "attempts") == ("done", 5, 2)


@pytest.mark.faults
def test_a_rehearsal_that_was_lost_while_waiting_is_carried_out(workplace, ask, study):
    forecast = {"kind": "forecast", "workers": 2}
    lost = ask("rehearse", study, forecast, False)
    queued = ask("rehearse", study, forecast)
    finish_work(workplace)
    assert row(workplace, lost, "state") == ("waiting",)
    assert row(workplace, queued, "state") == ("done",)
    waiting = ask("rehearse", study, forecast)
    fall_silent(workplace, "rehearsal_rehearsal")
    finish_work(workplace)
    assert row(workplace, lost, "state", "attempts") == ("done", 2)
    assert row(workplace, waiting, "state", "attempts") == ("done", 1), "it only waited its turn"


@pytest.mark.faults
@pytest.mark.parametrize("workplace", ["sqlite", "postgres"], indirect=True)
def test_a_worker_that_wakes_up_after_it_was_taken_over_stops_quietly(workplace, ask, study):
    # At a human pace the worker mostly sleeps, and holds no lock when it is stopped.
    pk = ask("rehearse", study, {"workers": 2, "is_paced": True})
    sleeper = start_worker(workplace, "--once")
    until(lambda: len(stages(workplace, study)) == 2)
    os.kill(sleeper.pid, signal.SIGSTOP)
    write(workplace, "UPDATE rehearsal_rehearsal SET is_paced = %s WHERE id = %s", False, pk)
    fall_silent(workplace, "rehearsal_rehearsal")
    finish_work(workplace)
    everything = ("state", "finished", '"left"', "attempts", "run", "heartbeat_at", "problem")
    before = row(workplace, pk, *everything)
    assert before[:2] == ("done", 2)
    os.kill(sleeper.pid, signal.SIGCONT)
    assert sleeper.wait(120) == 0
    assert row(workplace, pk, *everything) == before
    assert stages(workplace, study).count("done") == 2


def test_a_rehearsal_that_was_stopped_at_the_keyboard_is_not_taken_over(workplace, study):
    command = start(workplace, "rehearse", study, "--workers=2", "--think")
    until(lambda: len(stages(workplace, study)) == 2)
    command.send_signal(signal.SIGINT)
    assert command.wait(120) == 1
    [(pk, state, problem)] = workplace.rows(
        "SELECT r.id, r.state, r.problem FROM rehearsal_rehearsal r "
        "JOIN studies_study s ON s.id = r.study_id WHERE s.slug = %s",
        study,
    )
    assert (state, problem) == ("failed", "Stopped from the command line.")
    finish_work(workplace)
    assert row(workplace, pk, "state") == ("failed",)


@pytest.mark.faults
@pytest.mark.parametrize(
    ("signals", "seconds"), [([signal.SIGTERM], 30), ([signal.SIGINT, signal.SIGTERM], 9)]
)
def test_a_worker_that_is_told_to_stop_hands_its_rehearsal_back(
    workplace, ask, study, signals, seconds
):
    """After ten seconds, or at once if it is told twice: before a container is killed."""
    pk = ask("rehearse", study, {"workers": 2, "is_paced": True})
    worker = start_worker(workplace)
    until(lambda: len(stages(workplace, study)) == 2)
    for number in signals:
        worker.send_signal(number)
    worker.wait(seconds)
    assert row(workplace, pk, "state", "attempts") == ("waiting", 0)
    write(workplace, "UPDATE rehearsal_rehearsal SET is_paced = %s WHERE id = %s", False, pk)
    finish_work(workplace)
    assert row(workplace, pk, "state", "finished") == ("done", 2)
