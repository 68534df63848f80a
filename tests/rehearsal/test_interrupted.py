"""A rehearsal whose worker died goes on, or says honestly that it does not; it never blocks its study."""

import pytest

from jobs.lease import Lease
from jobs.models import TakenOver
from jobs.recovery import recover
from rehearsal.models import Rehearsal
from rehearsal.services import numbers_of, run
from studies.models import Participant
from tests.builders import make_study
from tests.jobs.lost import fall_silent
from tests.rehearsal.test_rehearsal import take_part

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    return make_study(arms="jedi,rt", learning_rate=0.5)


def base(study):
    return f"/admin/studies/study/{study.pk}/rehearsal/"


def stop_after_one(rehearsal):
    """A worker that is killed when the first simulated worker has ended."""

    class Killed(BaseException):
        pass

    def be_killed(_):
        raise Killed

    with pytest.raises(Killed):
        run(rehearsal, progress=be_killed)
    fall_silent(rehearsal)


def test_a_rehearsal_that_was_lost_while_waiting_no_longer_blocks_its_study(
    study, researcher, django_capture_on_commit_callbacks
):
    lost = Rehearsal.objects.create(study=study, workers=5)
    fall_silent(lost)
    [row] = researcher.get(base(study) + "state/").json()["rehearsals"]
    assert (row["text"], row["is_under_way"]) == ("no background worker is running", False)
    with django_capture_on_commit_callbacks():
        researcher.post(base(study) + "bots/", {"workers": "6"})
    assert Rehearsal.objects.count() == 2


def test_a_rehearsal_that_was_lost_while_waiting_is_carried_out_by_the_next_worker(study):
    lost = Rehearsal.objects.create(study=study, kind="forecast", workers=2)
    fall_silent(lost)
    recover(Rehearsal)
    run(Rehearsal.objects.get())
    assert Rehearsal.objects.get().state == "done"


def test_a_forecast_whose_worker_died_is_started_again_from_its_seed(study, researcher):
    undisturbed = Rehearsal.objects.create(study=study, kind="forecast", workers=3, seed=4)
    run(undisturbed)
    assert undisturbed.interruption == ""
    killed = Rehearsal.objects.create(study=study, kind="forecast", workers=3, seed=4)
    stop_after_one(killed)
    assert Rehearsal.objects.get(pk=killed.pk).finished == 1
    recover(Rehearsal)
    run(Rehearsal.objects.get(pk=killed.pk))
    killed.refresh_from_db()
    assert (killed.state, killed.finished) == ("done", 3)
    assert killed.results == undisturbed.results
    page = researcher.get(base(study)).content.decode()
    assert page.count("started again from the same seed") == 1


def test_a_waiting_rehearsal_says_that_its_worker_stopped(study):
    job = Rehearsal.objects.create(study=study, workers=3)
    stop_after_claim(job)
    recover(Rehearsal)
    job.refresh_from_db()
    assert job.state == "waiting"
    assert "New bots replace those that had not finished" in job.interruption


def stop_after_claim(job):
    job.claim()
    fall_silent(job)


def test_bots_go_on_with_those_that_had_not_ended_under_numbers_that_were_never_used(study):
    job = Rehearsal.objects.create(study=study, workers=5)
    job.claim()
    first = numbers_of(job)
    assert list(first) == [0, 1, 2, 3, 4]
    job.report(finished=1, left=1)
    fall_silent(job)
    recover(Rehearsal)
    job.claim()
    second = numbers_of(job)
    assert len(second) == 3
    assert not set(second) & set(first)


def test_a_forecaster_that_wakes_up_after_it_was_taken_over_writes_nothing(study):
    job = Rehearsal.objects.create(study=study, kind="forecast", workers=4)
    seen = []

    def sleep_meanwhile(rehearsal):
        seen.append(rehearsal.finished)
        fall_silent(rehearsal)
        recover(Rehearsal)
        run(Rehearsal.objects.get())
        seen.append(Rehearsal.objects.values().get())

    run(job, progress=sleep_meanwhile)
    [ended, afterwards] = seen
    assert ended == 1
    assert (afterwards["state"], afterwards["finished"]) == ("done", 4)
    assert Rehearsal.objects.values().get() == afterwards


def test_a_bot_that_wakes_up_after_it_was_taken_over_sends_nothing_more(study):
    job = Rehearsal.objects.create(study=study, workers=1)
    job.claim()
    lease = Lease(job)
    requests = []

    def check():
        if len(requests) == 4:
            Rehearsal.objects.update(run="another")
            lease.renew()
        requests.append(Participant.objects.values_list("stage", "position").first())
        lease.check()

    with pytest.raises(TakenOver):
        take_part(study, before_each_request=check)
    assert len(requests) == 5
    assert Participant.objects.values_list("stage", "position").get() == requests[-1]


def test_one_that_is_given_up_frees_the_study(study):
    job = Rehearsal.objects.create(study=study, workers=3)
    for _ in range(3):
        stop_after_claim(Rehearsal.objects.get())
        recover(Rehearsal)
    job.refresh_from_db()
    assert (job.state, job.is_under_way, job.interruption) == ("failed", False, "")
