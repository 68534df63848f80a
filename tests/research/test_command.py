"""python -m research."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from research import __main__ as command
from research.__main__ import EXPERIMENTS, main

from .builders import Dice, Dying, made_images
from .test_people import made_people

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def with_dice(monkeypatch):
    monkeypatch.setitem(EXPERIMENTS, "dice", Dice)


@pytest.fixture
def research(capsys):
    def run(*arguments):
        """Everything that the command prints, its progress too."""
        main([str(one) for one in arguments])
        printed = capsys.readouterr()
        return printed.err + printed.out

    return run


def refusal(*arguments):
    with pytest.raises(SystemExit) as refused:
        main([str(one) for one in arguments])
    return str(refused.value)


def test_the_three_experiments_of_the_paper_are_there():
    assert list(EXPERIMENTS)[:3] == ["toy", "synthetic", "humans"]


def test_a_run_ends_with_a_report(tmp_path, research):
    printed = research("dice", "--output", tmp_path, "--processes", "1", "--sides", "1")
    assert f"Report: {tmp_path / 'report.html'}" in printed
    assert "6/6" in printed
    assert "<dt>sides</dt><dd>1</dd>" in (tmp_path / "report.html").read_text()


def test_people_are_reported_with_a_short_table_and_take_no_seeds(tmp_path, research, capsys):
    folder = made_people(tmp_path / "pairs", people=2, steps=5)
    common = ("people", folder, "--output", tmp_path, "--processes", "1")
    printed = research(*common)
    names = ("harmonic", "regularised harmonic", "tracked", "running accuracy")
    for name in (*names, "calibration error of tracked"):
        assert re.search(rf"^{name} +\d\.\d\d\d", printed, re.MULTILINE), name
    page = (tmp_path / "report.html").read_text()
    assert f"<dt>{folder}</dt><dd>items.csv " in page
    assert "<dt>seeds</dt>" not in page and "<dt>rows</dt>" not in page
    assert refusal(*common, "--seeds", "3") == "2"
    assert "unrecognized arguments: --seeds" in capsys.readouterr().err


def test_the_default_folder_is_var_research(monkeypatch, tmp_path, research):
    monkeypatch.setattr(command, "ROOT", tmp_path)
    research("dice", "--processes", "1")
    assert (tmp_path / "var" / "research" / "dice" / "report.html").exists()


def test_other_settings_need_a_fresh_start(tmp_path, research):
    common = ("dice", "--output", tmp_path, "--processes", "1")
    research(*common)
    assert "--fresh" in refusal(*common, "--sides", "20")
    assert "Report" in research(*common, "--sides", "20", "--fresh")


def test_a_stopped_command_continues_when_it_is_run_again(tmp_path, monkeypatch, research):
    monkeypatch.setitem(EXPERIMENTS, "dice", Dying)
    assert "same command again" in refusal("dice", "--output", tmp_path, "--processes", "1")
    monkeypatch.setitem(EXPERIMENTS, "dice", Dice)
    assert " 3/6 " in research("dice", "--output", tmp_path, "--processes", "1")


def test_no_seeds_are_refused(tmp_path):
    assert "at least 1 run" in refusal("dice", "--output", tmp_path, "--seeds", "0")


def test_the_human_experiment_runs_from_the_command_line(tmp_path, research):
    path = made_images(tmp_path / "beasts.npz", n=30, d=3)
    printed = research(
        "humans", "--features", path, "--workers", "2", "--output", tmp_path / "out", "--processes", "1",
    )  # fmt: skip
    assert "14/14" in printed
    assert "beasts" in (tmp_path / "out" / "report.html").read_text()


def test_the_coverage_of_intervals_is_printed(research):
    rows = [line.split() for line in research("intervals", "--samples", "20").splitlines()]
    assert rows[0] == ["population", "n", "t", "BCa"]
    assert [row[-3] for row in rows[1:]] == ["6", "12", "20", "40"] * 2
    assert all(50 < float(row[-2].rstrip("%")) <= 100 for row in rows[1:])


@pytest.mark.parametrize(
    ("code", "remedy"),
    [
        ("import sys; sys.modules['distributed'] = None", "make cluster"),
        ("import dask; dask.config.set({'distributed.comm.timeouts.connect': 0.2})", "dask scheduler"),
    ],
)  # fmt: skip
def test_a_cluster_that_is_not_there_is_refused_with_a_remedy(tmp_path, code, remedy):
    arguments = ["toy", "--seeds", "1", "--output", str(tmp_path), "--scheduler", "tcp://127.0.0.1:9"]  # fmt: skip
    command = f"{code}; from research.__main__ import main; main({arguments})"
    done = subprocess.run(
        [sys.executable, "-c", command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert remedy in done.stderr
    assert "Traceback" not in done.stderr
