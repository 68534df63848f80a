"""Running, stopping, going on."""

import json

import pytest

from jobs.sweeps import HERE, LocalProcesses, SweepFailed
from reproduction import runs
from reproduction.experiment import BadExperiment, Unit
from reproduction.runs import FILE, Checkpoint

from .builders import Dice, Dying, Fatal


def first_line(capsys):
    return capsys.readouterr().err.splitlines()[0]


def test_a_run_has_one_row_for_every_condition_and_seed(tmp_path):
    results = runs.run(Dice(), tmp_path, HERE)
    assert set(results.rows) == {Unit(cell, seed) for cell in ("red", "blue") for seed in range(3)}
    assert results.values("red", "eyes") == [Dice().run("red", seed)["eyes"] for seed in range(3)]
    assert results.curves("blue", "curve") == [Dice().run("blue", s)["curve"] for s in range(3)]


def test_two_processes_give_the_numbers_of_one(tmp_path):
    alone = runs.run(Dice(), tmp_path / "one", HERE)
    together = runs.run(Dice(), tmp_path / "two", LocalProcesses(2))
    assert together.rows == alone.rows


def test_a_stopped_run_goes_on_where_it_was(tmp_path, capsys):
    with pytest.raises(KeyboardInterrupt):
        runs.run(Dying(), tmp_path, HERE)
    assert len(Checkpoint.open(tmp_path, {"sides": 6}).rows) == 3
    capsys.readouterr()
    results = runs.run(Dice(), tmp_path, HERE)
    assert " 3/6 " in first_line(capsys)
    assert results.rows == runs.run(Dice(), tmp_path / "b", HERE).rows


def test_half_a_line_that_a_kill_left_is_done_again(tmp_path):
    whole = runs.run(Dice(), tmp_path, HERE)
    file = tmp_path / FILE
    file.write_bytes(file.read_bytes()[:-25])
    assert len(Checkpoint.open(tmp_path, {"sides": 6}).rows) == 5
    assert runs.run(Dice(), tmp_path, HERE).rows == whole.rows


def test_a_run_goes_on_whatever_characters_its_rows_have(tmp_path):
    rows = {Unit("red", 0): {"person": "a\u2028b\x85c\nd"}}
    for unit, row in rows.items():
        Checkpoint.open(tmp_path, {"path": "x\u2029"}).add(unit, row)
    assert Checkpoint.open(tmp_path, {"path": "x\u2029"}).rows == rows


def test_a_folder_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(BadExperiment, match=r"file cannot be made: File exists\. Name another"):
        runs.run(Dice(), tmp_path / "file", HERE)


def test_a_finished_run_is_not_run_again(tmp_path, capsys):
    runs.run(Dice(), tmp_path, HERE)
    before = (tmp_path / FILE).read_bytes()
    capsys.readouterr()
    runs.run(Dice(), tmp_path, HERE)
    assert (tmp_path / FILE).read_bytes() == before
    assert capsys.readouterr() == ("", "")


def test_more_seeds_go_on_from_fewer_and_fewer_take_their_part(tmp_path, capsys):
    few = runs.run(Dice(seeds=2), tmp_path, HERE)
    capsys.readouterr()
    more = runs.run(Dice(seeds=3), tmp_path, HERE)
    assert " 4/6 " in first_line(capsys)
    assert len(more.rows) == 6
    assert runs.run(Dice(seeds=2), tmp_path, HERE).rows == few.rows


def test_a_killed_process_says_how_to_go_on(tmp_path):
    with pytest.raises(SweepFailed, match="same command again"):
        runs.run(Fatal(), tmp_path, LocalProcesses(2))


def test_a_run_with_other_settings_is_not_mixed_in(tmp_path):
    runs.run(Dice(), tmp_path, HERE)
    with pytest.raises(BadExperiment, match="--fresh"):
        runs.run(Dice(sides=20), tmp_path, HERE)
    Checkpoint.discard(tmp_path)
    assert runs.run(Dice(sides=20), tmp_path, HERE).rows


def test_the_checkpoint_is_plain_json_lines(tmp_path):
    runs.run(Dice(seeds=1), tmp_path, HERE)
    head, *rows = map(json.loads, (tmp_path / FILE).read_text().splitlines())
    assert head == {"settings": {"sides": 6}}
    assert [(row["cell"], row["seed"]) for row in rows] == [("red", 0), ("blue", 0)]


def test_no_seeds_are_refused():
    with pytest.raises(BadExperiment, match="at least 1 run"):
        Dice(seeds=0)
