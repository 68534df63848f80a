"""Running, stopping, going on."""

import json

import pytest

from reproduction import runs
from reproduction.checkpoint import FILE, Checkpoint
from reproduction.experiment import BadExperiment, Unit
from reproduction.progress import ProgressBar, Screen, spoken

from .builders import Dice, Dying, Fatal, silent


def test_a_run_has_one_row_for_every_condition_and_seed(tmp_path):
    results = runs.run(Dice(), tmp_path, processes=1, screen=silent())
    assert set(results.rows) == {Unit(cell, seed) for cell in ("red", "blue") for seed in range(3)}
    assert results.values("red", "eyes") == [Dice().run("red", seed)["eyes"] for seed in range(3)]
    assert results.curves("blue", "curve") == [Dice().run("blue", s)["curve"] for s in range(3)]


def test_two_processes_give_the_numbers_of_one(tmp_path):
    alone = runs.run(Dice(), tmp_path / "one", processes=1, screen=silent())
    together = runs.run(Dice(), tmp_path / "two", processes=2, screen=silent())
    assert together.rows == alone.rows


def test_a_stopped_run_goes_on_where_it_was(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        runs.run(Dying(), tmp_path, processes=1, screen=silent())
    assert len(Checkpoint.open(tmp_path, {"sides": 6}).rows) == 3
    told = []
    results = runs.run(Dice(), tmp_path, processes=1, screen=Screen(told.append, False))
    assert results.rows == runs.run(Dice(), tmp_path / "b", processes=1, screen=silent()).rows
    assert "4/6" in told[0]


def test_half_a_line_that_a_kill_left_is_done_again(tmp_path):
    whole = runs.run(Dice(), tmp_path, processes=1, screen=silent())
    file = tmp_path / FILE
    file.write_bytes(file.read_bytes()[:-25])
    assert len(Checkpoint.open(tmp_path, {"sides": 6}).rows) == 5
    assert runs.run(Dice(), tmp_path, processes=1, screen=silent()).rows == whole.rows


def test_a_finished_run_is_not_run_again(tmp_path):
    runs.run(Dice(), tmp_path, processes=1, screen=silent())
    before = (tmp_path / FILE).read_bytes()
    told = []
    runs.run(Dice(), tmp_path, processes=1, screen=Screen(told.append, False))
    assert (tmp_path / FILE).read_bytes() == before
    assert told == []


def test_more_seeds_go_on_from_fewer_and_fewer_take_their_part(tmp_path):
    few = runs.run(Dice(seeds=2), tmp_path, processes=1, screen=silent())
    told = []
    more = runs.run(Dice(seeds=3), tmp_path, processes=1, screen=Screen(told.append, False))
    assert "5/6" in told[0]
    assert len(more.rows) == 6
    assert runs.run(Dice(seeds=2), tmp_path, processes=1, screen=silent()).rows == few.rows


def test_a_killed_process_says_how_to_go_on(tmp_path):
    with pytest.raises(BadExperiment, match="same command again"):
        runs.run(Fatal(), tmp_path, processes=2, screen=silent())


def test_a_run_with_other_settings_is_not_mixed_in(tmp_path):
    runs.run(Dice(), tmp_path, processes=1, screen=silent())
    with pytest.raises(BadExperiment, match="--fresh"):
        runs.run(Dice(sides=20), tmp_path, processes=1, screen=silent())
    Checkpoint.discard(tmp_path)
    assert runs.run(Dice(sides=20), tmp_path, processes=1, screen=silent()).rows


def test_the_checkpoint_is_plain_json_lines(tmp_path):
    runs.run(Dice(seeds=1), tmp_path, processes=1, screen=silent())
    head, *rows = map(json.loads, (tmp_path / FILE).read_text().splitlines())
    assert head == {"settings": {"sides": 6}}
    assert [(row["cell"], row["seed"]) for row in rows] == [("red", 0), ("blue", 0)]


def test_no_seeds_are_refused():
    with pytest.raises(BadExperiment, match="1 or more"):
        Dice(seeds=0)


def bar_texts(times, *, total, done=0, is_terminal=True):
    told, clock = [], iter(times)
    bar = ProgressBar(
        total, done=done, screen=Screen(told.append, is_terminal), clock=lambda: next(clock)
    )
    for _ in range(total - done):
        bar.step()
    return told


def test_the_bar_tells_the_time_left_at_the_pace_since_the_first():
    told = bar_texts([0, 10, 12, 14, 16], total=4)
    assert [text.count("#") for text in told] == [8, 15, 22, 30]
    assert "left" not in told[0]
    assert "2/4  about 4 s left" in told[1]
    assert "4/4  16 s in all" in told[3]
    assert all(text.startswith("\r") for text in told)
    assert [text.endswith("\n") for text in told] == [False, False, False, True]


def test_a_log_gets_a_line_now_and_then():
    told = bar_texts(range(41), total=40, is_terminal=False)
    assert len(told) == 4
    assert all(text.endswith("\n") and "\r" not in text for text in told)


def test_what_was_done_before_says_nothing_about_the_pace():
    assert "about 2 s left" in bar_texts([0, 100, 102, 104], total=10, done=7)[1]


@pytest.mark.parametrize("seconds, text", [(7.4, "7 s"), (75, "1 min 15 s"), (600, "10 min 00 s")])
def test_times_are_spoken(seconds, text):
    assert spoken(seconds) == text
