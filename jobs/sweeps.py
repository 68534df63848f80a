"""Sweeps: many tasks that know nothing of each other, worked on in processes of this machine or on a Dask cluster."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from .processes import process_pool

Task = TypeVar("Task")
Result = TypeVar("Result")

PROCESSES = 2


class SweepFailed(Exception):
    """Processes or a cluster that did not carry out the tasks. The message says what to do."""


class Executor(Protocol):
    """Where the tasks of a sweep are worked on.

    The function and the tasks are handed to other processes, so both can be pickled; whatever is random about a result
    follows from its task. Then the results are the same wherever, in whatever order, they are made.
    """

    def results(
        self, function: Callable[[Task], Result], tasks: Sequence[Task]
    ) -> AbstractContextManager[Iterator[tuple[Task, Result]]]:
        """Every task with its result, as they come."""
        ...


@dataclass(frozen=True)
class LocalProcesses:
    """Processes of this machine; one is the process that asks."""

    count: int = PROCESSES

    @contextmanager
    def results(
        self, function: Callable[[Task], Result], tasks: Sequence[Task]
    ) -> Iterator[Iterator[tuple[Task, Result]]]:
        if self.count < 2:
            yield ((task, function(task)) for task in tasks)
            return
        with process_pool(self.count) as pool:
            yield _as_they_come({pool.submit(function, task): task for task in tasks})


def _as_they_come(futures: Mapping[Future[Result], Task]) -> Iterator[tuple[Task, Result]]:
    try:
        for future in as_completed(futures):
            yield futures[future], future.result()
    except BrokenProcessPool as error:
        raise SweepFailed(
            "A process was killed, perhaps for want of memory. Run the same command again, perhaps with fewer "
            "--processes; results that were kept are not made again."
        ) from error


HERE = LocalProcesses(1)


def add_executor_arguments(parser: ArgumentParser) -> None:
    either = parser.add_mutually_exclusive_group()
    either.add_argument(
        "--processes",
        type=int,
        default=PROCESSES,
        metavar="N",
        help=f"on this machine ({PROCESSES})",
    )
    either.add_argument(
        "--scheduler", metavar="ADDRESS", help="of a Dask cluster that does the work instead"
    )


def executor_of(options: Mapping[str, Any]) -> Executor:
    """What the command line asks for."""
    if not options["scheduler"]:
        return LocalProcesses(options["processes"])
    from .cluster import DaskCluster

    return DaskCluster(options["scheduler"])
