"""Processes that a job starts, and processes that stop with the one that started them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

BLAS_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
# An environment variable that `manage.py run` sets for its child processes.
STOP_WITH_STDIN = "STOP_WITH_STDIN"


@contextmanager
def mapped(
    function: Callable[[Item], Result], items: Sequence[Item], *, workers: int, chunk: int
) -> Iterator[Iterator[Result]]:
    """Map a function over all items in their order, in several processes if there are at least two workers."""
    if workers < 2:
        yield map(function, items)
        return
    with process_pool(workers) as pool:
        yield pool.map(function, items, chunksize=chunk)


@contextmanager
def process_pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """A pool of fresh interpreters: a fork would copy the locks of threads that it does not copy.

    After an exception, tasks that have not begun are cancelled, and the others are waited for.
    """
    spawn = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, mp_context=spawn, initializer=initialize_process)
    with one_blas_thread(), pool:
        try:
            yield pool
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Give processes that start meanwhile one BLAS thread each, or they would fight for the cores."""
    before = {name: os.environ.get(name) for name in BLAS_THREADS}
    os.environ.update(dict.fromkeys(BLAS_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def initialize_process() -> None:
    # Ctrl-C reaches the whole process group; the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=exit_with_parent, daemon=True).start()


def exit_with_parent() -> None:
    """Without this, the processes of a killed worker would wait for tasks for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def stop_when_stdin_closes(pid: int) -> None:
    """Send SIGTERM to a process when the one at the other end of our standard input has died, however that happened."""

    def wait() -> None:
        # sys.stdin would hold a lock when the interpreter exits.
        while os.read(0, 1):
            pass
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)

    threading.Thread(target=wait, daemon=True).start()
