"""manage.py reproduce."""

import io
import re
from contextlib import redirect_stderr

import pytest
from django.core.management import CommandError, call_command

from reproduction.management.commands.reproduce import EXPERIMENTS

from .builders import Dice, Dying, made_images
from .test_people import made_people


@pytest.fixture(autouse=True)
def with_dice(monkeypatch):
    monkeypatch.setitem(EXPERIMENTS, "dice", Dice)


def reproduce(*args):
    """What the command says, with its progress, which goes to standard error."""
    out = io.StringIO()
    with redirect_stderr(out):
        call_command("reproduce", *args, stdout=out)
    return out.getvalue()


def test_the_three_experiments_of_the_paper_are_there():
    assert list(EXPERIMENTS)[:3] == ["toy", "synthetic", "humans"]


def test_a_run_ends_with_a_report(tmp_path):
    told = reproduce("dice", "--output", str(tmp_path), "--processes", "1", "--sides", "1")
    assert f"Report: {tmp_path / 'report.html'}" in told
    assert "6/6" in told
    assert "<dt>sides</dt><dd>1</dd>" in (tmp_path / "report.html").read_text()


def test_the_command_says_what_it_does_after_the_last_result(tmp_path):
    told = reproduce("dice", "--output", str(tmp_path), "--processes", "1")
    assert told.index("6/6") < told.index("Making tables and figures") < told.index("Report:")


def test_people_are_reported_with_a_short_table_and_take_no_seeds(tmp_path):
    folder = made_people(tmp_path / "pairs", people=2, steps=5)
    common = ("people", str(folder), "--output", str(tmp_path), "--processes", "1")
    told = reproduce(*common)
    names = ("harmonic", "harmonic, mended", "tracked", "running accuracy")
    for name in (*names, "calibration error of tracked"):
        assert re.search(rf"^{name} +\d\.\d\d\d", told, re.MULTILINE), name
    page = (tmp_path / "report.html").read_text()
    assert f"<dt>{folder}</dt><dd>items.csv " in page
    assert "<dt>seeds</dt>" not in page and "<dt>rows</dt>" not in page
    with pytest.raises(CommandError, match="unrecognized arguments: --seeds"):
        reproduce(*common, "--seeds", "3")


def test_the_default_folder_is_in_the_data_folder(settings, tmp_path):
    settings.JEDI_DATA_DIR = tmp_path
    reproduce("dice", "--processes", "1")
    assert (tmp_path / "reproduction" / "dice" / "report.html").exists()


def test_other_settings_need_a_fresh_start(tmp_path):
    common = ("dice", "--output", str(tmp_path), "--processes", "1")
    reproduce(*common)
    with pytest.raises(CommandError, match="--fresh"):
        reproduce(*common, "--sides", "20")
    assert "Report" in reproduce(*common, "--sides", "20", "--fresh")


def test_a_stop_says_how_to_go_on(tmp_path, monkeypatch):
    monkeypatch.setitem(EXPERIMENTS, "dice", Dying)
    with pytest.raises(CommandError, match="same command again"):
        reproduce("dice", "--output", str(tmp_path), "--processes", "1")
    monkeypatch.setitem(EXPERIMENTS, "dice", Dice)
    assert " 3/6 " in reproduce("dice", "--output", str(tmp_path), "--processes", "1")


def test_no_seeds_are_refused(tmp_path):
    with pytest.raises(CommandError, match="at least 1 run"):
        reproduce("dice", "--output", str(tmp_path), "--seeds", "0")


def test_the_human_experiment_runs_from_the_command_line(tmp_path):
    path = made_images(tmp_path / "beasts.npz", n=30, d=3)
    told = reproduce(
        "humans", "--features", str(path), "--workers", "2",
        "--output", str(tmp_path / "out"), "--processes", "1",
    )  # fmt: skip
    assert "14/14" in told
    assert "beasts" in (tmp_path / "out" / "report.html").read_text()
