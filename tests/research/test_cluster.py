"""Experiments on a Dask cluster of real processes, one of which is killed."""

import pytest
from distributed import LocalCluster

from research.__main__ import EXPERIMENTS, main
from research.experiment import executor_for, run

from .builders import Dice, Murderous


@pytest.fixture(scope="module")
def address():
    with LocalCluster(2, threads_per_worker=1, dashboard_address=":0", host="127.0.0.1") as running:
        yield running.scheduler_address


def test_a_cluster_gives_the_numbers_of_a_pool_even_if_a_worker_is_killed(address, tmp_path):
    with executor_for(2, None) as pool:
        local = run(Dice(seeds=8), tmp_path / "local", pool)
    experiment = Murderous(seeds=8, mark=tmp_path / "mark")
    with executor_for(2, address) as cluster:
        remote = run(experiment, tmp_path / "remote", cluster)
    assert experiment.mark.exists()
    assert list(remote.rows.items()) == list(local.rows.items())


def test_the_command_resumes_a_run_of_this_machine_on_a_cluster(
    address, tmp_path, monkeypatch, capsys
):
    monkeypatch.setitem(EXPERIMENTS, "dice", Dice)
    common = ["dice", "--output", str(tmp_path)]
    main([*common, "--seeds", "2", "--processes", "1"])
    main([*common, "--scheduler", address])
    printed = capsys.readouterr()
    assert "4/6" in printed.err
    assert "Report: " in printed.out


def test_what_a_unit_raises_comes_back_from_the_cluster(address, tmp_path):
    with pytest.raises(ValueError, match="high"), executor_for(2, address) as cluster:
        run(Dice(sides=-1), tmp_path, cluster)
