"""Processes beside the one that works on a job."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

BLAS_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


@contextmanager
def mapped(
    function: Callable[[Item], Result], items: Sequence[Item], *, workers: int, chunk: int
) -> Iterator[Iterator[Result]]:
    """The results of a function for all items in their order, by several processes if there are to be any."""
    if workers < 2:
        yield map(function, items)
        return
    with process_pool(workers) as pool:
        yield pool.map(function, items, chunksize=chunk)


@contextmanager
def process_pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Fresh interpreters: a fork would copy the locks of threads that it does not copy.

    After a failure, what has not begun is dropped; what has begun is waited for, so that nothing works on behind the
    back of whoever comes next.
    """
    fresh = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, mp_context=fresh, initializer=_live_with_the_parent)
    with _one_blas_thread(), pool:
        try:
            yield pool
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


@contextmanager
def _one_blas_thread() -> Iterator[None]:
    """Processes started meanwhile compute on one thread each, or they would fight for the cores."""
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


def _live_with_the_parent() -> None:
    # Ctrl-C reaches the whole group; the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_the_parent, daemon=True).start()


def _end_with_the_parent() -> None:
    """Without this, the processes of a killed worker would wait for work for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
