"""Sweeps on a Dask cluster of real processes, which are really killed."""

import gc
import io
import sys
from functools import partial
from pathlib import Path

import pytest
from distributed import Client, LocalCluster, Scheduler, SpecCluster
from distributed.client import FutureCancelledError
from django.core.management import CommandError, call_command

from jobs import cluster
from jobs.cluster import DaskCluster, code_digest, software
from jobs.sweeps import HERE, LocalProcesses, SweepFailed
from rehearsal.forecast import forecast
from rehearsal.models import Rehearsal
from reproduction import runs
from reproduction.management.commands.reproduce import EXPERIMENTS
from tests.builders import make_study
from tests.reproduction.builders import Dice, Murderous


@pytest.fixture(scope="module")
def address():
    with LocalCluster(2, threads_per_worker=1, dashboard_address=":0", host="127.0.0.1") as running:
        yield running.scheduler_address


def all_of(executor, function, tasks):
    with executor.results(function, tasks) as results:
        return dict(results)


def refusal(executor, function=abs, tasks=(1, 2)):
    with pytest.raises(SweepFailed) as refused:
        all_of(executor, function, tasks)
    return str(refused.value)


def test_a_killed_worker_changes_no_number(address, tmp_path):
    experiment = Murderous(seeds=8, mark=tmp_path / "mark")
    results = runs.run(experiment, tmp_path / "out", DaskCluster(address))
    assert experiment.mark.exists()
    alone = runs.run(Dice(seeds=8), tmp_path / "alone", HERE)
    assert list(results.rows.items()) == list(alone.rows.items())


def test_the_command_runs_on_a_cluster_and_goes_on_from_results_of_this_machine(
    address, tmp_path, monkeypatch, capsys
):
    monkeypatch.setitem(EXPERIMENTS, "dice", Dice)
    common = ("reproduce", "dice", "--output", str(tmp_path))
    call_command(*common, "--seeds", "2", "--processes", "1")
    call_command(*common, "--scheduler", address)
    told = capsys.readouterr()
    assert "4/6" in told.err
    assert "Report: " in told.out
    with pytest.raises(CommandError, match="not allowed with"):
        call_command(*common, "--scheduler", address, "--processes", "1")


@pytest.mark.django_db
def test_a_forecast_has_the_same_numbers_everywhere(address):
    study = make_study(arms="jedi,rt", learning_rate=0.5)
    with forecast(study, 3, 9) as rows:
        alone = dict(rows)
    with forecast(study, 3, 9, LocalProcesses(2)) as rows:
        assert dict(rows) == alone
    out = io.StringIO()
    options = ("--forecast", "--workers=3", "--seed=9")
    call_command("rehearse", study.slug, *options, "--scheduler", address, stdout=out)
    assert "3 simulated" in out.getvalue()
    made = Rehearsal.objects.get()
    assert made.results == {arm: [alone[n][arm] for n in range(3)] for arm in study.arm_names}
    with pytest.raises(CommandError, match="--scheduler is for --forecast"):
        call_command("rehearse", study.slug, "--scheduler", address)
    with pytest.raises(CommandError, match="No Dask scheduler answers"):
        call_command("rehearse", study.slug, "--forecast", "--scheduler", "nowhere://")


def test_what_a_task_raises_comes_back_as_it_is(address):
    with pytest.raises(ZeroDivisionError):
        all_of(DaskCluster(address), partial(divmod, 1), [0])


def test_paths_are_the_same_files_for_the_workers_and_missing_ones_are_named(
    address, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    Path("note").write_text("here")
    executor = DaskCluster(address)
    assert all_of(executor, partial(Path.read_text, Path("note")), ["utf-8"]) == {"utf-8": "here"}
    told = refusal(executor, partial(Path.read_text, Path("gone")), ["utf-8"])
    assert f"does not have {tmp_path / 'gone'}." in told
    assert "all machines" in told


def test_workers_with_other_software_are_refused(address, tmp_path, monkeypatch):
    executor = DaskCluster(address)
    with monkeypatch.context() as patch:
        older = software() | {"numpy": "1.0"}
        patch.setattr(cluster, "software", lambda: older)
        told = refusal(executor)
    assert "The cluster's worker at tcp://127.0.0.1:" in told
    assert "there and 1.0 here" in told
    assert "same release" in told
    (tmp_path / "only_here.py").write_text("def made(number):\n    return number\n")
    monkeypatch.syspath_prepend(tmp_path)
    from only_here import made

    told = refusal(executor, made)
    assert "no module only_here" in told
    assert f"dask worker {address}" in told


def test_the_digest_tells_any_two_states_of_the_code_apart(tmp_path):
    def digest_with(files):
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text)
        return code_digest(tmp_path)

    first = digest_with({"own/__init__.py": "", "own/a.py": "1"})
    assert digest_with({"tests/__init__.py": "", "data/b.py": "2"}) == first
    assert digest_with({"own/a.py": "2"}) != first


def test_a_cluster_that_is_not_there_or_has_no_workers_is_told_how_to_start():
    told = refusal(DaskCluster("tcp://127.0.0.1:9", connect_seconds=0.2))
    assert "No Dask scheduler answers at tcp://127.0.0.1:9" in told
    assert "dask scheduler" in told
    alone = {"cls": Scheduler, "options": {"host": "127.0.0.1", "dashboard_address": ":0"}}
    with SpecCluster(workers={}, scheduler=alone) as empty:
        told = refusal(DaskCluster(empty.scheduler_address, worker_seconds=0.2))
        assert f"dask worker {empty.scheduler_address}" in told


def clients() -> set[int]:
    # By their types: asked for its class, a weak proxy whose object is gone raises an error.
    return {id(one) for one in gc.get_objects() if issubclass(type(one), Client)}


def test_a_client_that_could_not_connect_is_gone_while_its_refusal_is_told():
    before = clients()
    with pytest.raises(SweepFailed) as told:
        DaskCluster("tcp://127.0.0.1:9", connect_seconds=0.2)._connected()
    assert told.value
    assert clients() <= before


def test_a_cluster_that_stops_is_named():
    # What a client hands out as results when its scheduler is gone.
    done = [("future", FutureCancelledError("future", "scheduler-connection-lost"))]
    with pytest.raises(SweepFailed, match="run the same command again"):
        list(DaskCluster("tcp://127.0.0.1:9").as_they_come(done, {"future": 1}))


def test_without_dask_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert "make cluster" in refusal(DaskCluster("tcp://127.0.0.1:9"))
