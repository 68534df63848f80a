"""Sweeps on a Dask cluster.

The cluster's scheduler needs no JEDI Web: it passes on a pickled sweep and the numbers of its tasks. A worker opens the
sweep if its software is the same as here. When a worker dies, Dask gives its tasks to the others, and as a result
depends on its task alone, it is the same there.
"""

from __future__ import annotations

import gc
import hashlib
import io
import operator
import pickle
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .sweeps import Result, SweepFailed, Task

if TYPE_CHECKING:
    from distributed import Client, Future

ROOT = Path(__file__).resolve().parents[1]
# Not deployed everywhere, and no result depends on them.
NOT_DIGESTED = ("bench", "tests")
LIBRARIES = ("numpy", "scipy")
START_A_WORKER = "in a folder with JEDI Web of this release: .venv/bin/python -m dask worker"


@dataclass(frozen=True)
class DaskCluster:
    """Everything that tasks read has to be there for the workers under the same path."""

    address: str
    connect_seconds: float = 10.0
    worker_seconds: float = 60.0
    """how long to wait for a first worker; a cluster that grows with its tasks has none before"""

    @contextmanager
    def results(
        self, function: Callable[[Task], Result], tasks: Sequence[Task]
    ) -> Iterator[Iterator[tuple[Task, Result]]]:
        with self._connected() as client:
            from distributed import as_completed

            sweep = client.submit(pickle.loads, pickle.dumps(Sweep.of(function, tasks)), pure=False)
            numbers = range(len(tasks))
            futures = client.map(operator.call, [sweep] * len(tasks), numbers, pure=False)
            self._wait_for_a_worker(client)
            done = as_completed(futures, loop=client.loop, with_results=True)
            yield self.as_they_come(done, dict(zip(futures, tasks, strict=True)))

    def _connected(self) -> Client:
        try:
            from distributed import Client
        except ImportError as error:
            raise SweepFailed(
                "--scheduler needs Dask's distributed, which is not installed. Install it with: make cluster"
            ) from error
        try:
            return Client(self.address, timeout=self.connect_seconds, set_as_default=False)
        except (OSError, ValueError) as error:
            reason = str(error)
        # The client that could not connect takes a lock of Dask's when it is collected. At a moment when that lock is
        # held, it would wait for itself for ever: so it is collected now.
        gc.collect()
        raise SweepFailed(
            f"No Dask scheduler answers at {self.address} ({reason}). Start one with .venv/bin/python -m dask "
            "scheduler, and give the address that it prints, such as tcp://10.0.0.5:8786."
        )

    def _wait_for_a_worker(self, client: Client) -> None:
        try:
            client.wait_for_workers(1, timeout=self.worker_seconds)
        except TimeoutError as error:
            raise SweepFailed(
                f"The cluster at {self.address} has no workers. Start some {START_A_WORKER} {self.address}"
            ) from error

    def as_they_come(
        self, done: Iterable[tuple[Future[Result], Result]], tasks: Mapping[Future[Result], Task]
    ) -> Iterator[tuple[Task, Result]]:
        from distributed import KilledWorker

        try:
            for future, result in done:
                if isinstance(result, CancelledError):
                    raise result
                yield tasks[future], result
        except ModuleNotFoundError as error:
            raise SweepFailed(
                f"A worker of the cluster at {self.address} has no module {error.name}. Start the workers "
                f"{START_A_WORKER} {self.address}"
            ) from error
        except KilledWorker as error:
            raise SweepFailed(
                f"Several workers of the cluster died over one task ({error.last_worker.address} was the last), "
                "perhaps for want of memory. Start them with more, then run the same command again."
            ) from error
        except CancelledError as error:
            raise SweepFailed(
                f"The cluster at {self.address} was stopped or restarted. Start it, then run the same command again."
            ) from error


@dataclass(frozen=True)
class Sweep:
    """A function and its tasks on their way to a worker, closed until the software there has been looked at."""

    software: Mapping[str, str]
    content: bytes
    paths: Sequence[Path]

    @classmethod
    def of(cls, function: Callable[[Task], Any], tasks: Sequence[Task]) -> Sweep:
        buffer = io.BytesIO()
        pickler = AbsolutePaths(buffer)
        pickler.dump((function, tasks))
        return cls(software(), buffer.getvalue(), sorted(pickler.paths))

    def __call__(self, number: int) -> Any:
        """The result of a task."""
        function, tasks = self._opened
        try:
            return function(tasks[number])
        except Exception as error:
            if missing := [str(path) for path in self.paths if not path.exists()]:
                raise SweepFailed(
                    f"{worker_name()} does not have {', '.join(missing)}. Put what the command names, its --output and "
                    "JEDI_DATA_DIR where all machines have them under the same path."
                ) from error
            raise

    @cached_property
    def _opened(self) -> tuple[Callable[[Any], Any], Sequence[Any]]:
        there = software()
        if differences := [name for name in self.software if there[name] != self.software[name]]:
            words = "; ".join(
                f"{name} is {there[name]} there and {self.software[name]} here"
                for name in differences
            )
            raise SweepFailed(
                f"{worker_name()} has other software: {words}. Install the same release of JEDI Web with the same "
                "requirements on all machines, and start the workers again."
            )
        opened: tuple[Callable[[Any], Any], Sequence[Any]] = pickle.loads(self.content)  # noqa: S301 (our own)
        return opened


class AbsolutePaths(pickle.Pickler):
    """A worker has a current folder of its own, so that paths leave this machine as absolute ones."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file)
        self.paths: set[Path] = set()

    def reducer_override(self, value: object) -> Any:
        if not isinstance(value, Path):
            return NotImplemented
        self.paths.add(value.absolute())
        return Path, (str(value.absolute()),)


@cache
def software() -> dict[str, str]:
    """What results depend on beside their tasks."""
    return {
        "the code of JEDI Web": code_digest(ROOT),
        "Python": ".".join(platform.python_version_tuple()[:2]),
        **{name: version(name) for name in LIBRARIES},
    }


def code_digest(root: Path) -> str:
    """The beginning of a SHA-256 over our modules, which a version's number would not tell apart between releases."""
    found = hashlib.sha256()
    packages = [path.parent for path in sorted(root.glob("*/__init__.py"))]
    for package in packages:
        if package.name not in NOT_DIGESTED:
            for path in sorted(package.rglob("*.py")):
                found.update(path.relative_to(root).as_posix().encode())
                found.update(path.read_bytes())
    return found.hexdigest()[:12]


def worker_name() -> str:
    from distributed import get_worker

    return f"The cluster's worker at {get_worker().address}"
