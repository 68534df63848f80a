"""Processes beside the one that works on a job."""

import multiprocessing
import threading

import pytest

from jobs.processes import mapped


def test_a_failure_leaves_neither_processes_nor_threads_behind():
    before = set(threading.enumerate())
    with (
        pytest.raises(RuntimeError, match="cancelled"),
        mapped(abs, range(4), workers=2, chunk=1),
    ):
        raise RuntimeError("cancelled")
    assert multiprocessing.active_children() == []
    assert set(threading.enumerate()) <= before
