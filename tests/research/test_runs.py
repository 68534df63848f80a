"""Running, stopping, going on."""

import json

import pytest

from research.experiment import CHECKPOINT, BadExperiment, Checkpoint, Unit, executor_for, run

from .builders import Dice, Dying, Fatal


def first_line(capsys):
    return capsys.readouterr().err.splitlines()[0]


def test_a_run_has_one_row_for_every_condition_and_seed(tmp_path):
    results = run(Dice(), tmp_path)
    assert set(results.rows) == {Unit(cell, seed) for cell in ("red", "blue") for seed in range(3)}
    assert results.values("red", "eyes") == [Dice().run("red", seed)["eyes"] for seed in range(3)]
    assert results.curves("blue", "curve") == [Dice().run("blue", s)["curve"] for s in range(3)]


def test_two_processes_give_the_numbers_of_one(tmp_path):
    alone = run(Dice(), tmp_path / "one")
    with executor_for(2, None) as pool:
        together = run(Dice(), tmp_path / "two", pool)
    assert together.rows == alone.rows


def test_a_stopped_run_goes_on_where_it_was(tmp_path, capsys):
    with pytest.raises(KeyboardInterrupt):
        run(Dying(), tmp_path)
    assert len(Checkpoint.open(tmp_path, {"sides": 6}).rows) == 3
    capsys.readouterr()
    results = run(Dice(), tmp_path)
    assert " 3/6 " in first_line(capsys)
    assert results.rows == run(Dice(), tmp_path / "b").rows


def test_half_a_line_that_a_kill_left_is_done_again(tmp_path):
    whole = run(Dice(), tmp_path)
    file = tmp_path / CHECKPOINT
    file.write_bytes(file.read_bytes()[:-25])
    assert len(Checkpoint.open(tmp_path, {"sides": 6}).rows) == 5
    assert run(Dice(), tmp_path).rows == whole.rows


def test_a_run_goes_on_whatever_characters_its_rows_have(tmp_path):
    rows = {Unit("red", 0): {"person": "a\u2028b\x85c\nd"}}
    for unit, row in rows.items():
        Checkpoint.open(tmp_path, {"path": "x\u2029"}).add(unit, row)
    assert Checkpoint.open(tmp_path, {"path": "x\u2029"}).rows == rows


def test_a_folder_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(BadExperiment, match=r"file cannot be made: File exists\. Name another"):
        run(Dice(), tmp_path / "file")


def test_a_finished_run_is_not_run_again(tmp_path, capsys):
    run(Dice(), tmp_path)
    before = (tmp_path / CHECKPOINT).read_bytes()
    capsys.readouterr()
    run(Dice(), tmp_path)
    assert (tmp_path / CHECKPOINT).read_bytes() == before
    assert capsys.readouterr() == ("", "")


def test_more_seeds_go_on_from_fewer_and_fewer_take_their_part(tmp_path, capsys):
    few = run(Dice(seeds=2), tmp_path)
    capsys.readouterr()
    more = run(Dice(seeds=3), tmp_path)
    assert " 4/6 " in first_line(capsys)
    assert len(more.rows) == 6
    assert run(Dice(seeds=2), tmp_path).rows == few.rows


def test_a_killed_process_says_how_to_go_on(tmp_path):
    with pytest.raises(BadExperiment, match="same command again"), executor_for(2, None) as pool:
        run(Fatal(), tmp_path, pool)


def test_a_run_with_other_settings_is_not_mixed_in(tmp_path):
    run(Dice(), tmp_path)
    with pytest.raises(BadExperiment, match="--fresh"):
        run(Dice(sides=20), tmp_path)
    Checkpoint.discard(tmp_path)
    assert run(Dice(sides=20), tmp_path).rows


def test_the_checkpoint_is_plain_json_lines(tmp_path):
    run(Dice(seeds=1), tmp_path)
    head, *rows = map(json.loads, (tmp_path / CHECKPOINT).read_text().splitlines())
    assert head == {"settings": {"sides": 6}}
    assert [(row["cell"], row["seed"]) for row in rows] == [("red", 0), ("blue", 0)]


def test_no_seeds_are_refused():
    with pytest.raises(BadExperiment, match="at least 1 run"):
        Dice(seeds=0)
