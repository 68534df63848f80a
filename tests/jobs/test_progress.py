"""The progress of commands: a bar on a terminal, and lines without carriage returns in a log."""

import io

from jobs import progress
from jobs.progress import progress_bar


class Terminal(io.StringIO):
    def isatty(self):
        return True


def shown_on(file, total, done=0):
    with progress_bar(total, done=done, file=file) as bar:
        for _ in range(total - done):
            bar.update()
    return file.getvalue()


def test_a_terminal_gets_one_line_that_is_written_over():
    shown = shown_on(Terminal(), 4)
    assert shown.startswith("\r") and shown.count("\n") == 1
    assert "4/4" in shown.split("\r")[-1]


def test_a_log_gets_whole_lines_and_only_now_and_then():
    first, last = shown_on(io.StringIO(), 1000).splitlines()
    assert " 0/1000 " in first
    assert " 1000/1000 " in last
    assert "\r" not in first + last


def test_a_log_gets_a_line_when_enough_time_has_passed(monkeypatch):
    monkeypatch.setattr(progress, "LOG_SECONDS", 0.0)
    assert len(shown_on(io.StringIO(), 4).splitlines()) > 4


def test_what_was_done_before_is_counted():
    assert " 7/10 " in shown_on(io.StringIO(), 10, done=7).splitlines()[0]
