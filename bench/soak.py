"""Whether a server stays as it is for half an hour: `python -m bench.soak [--postgres] --workers 250 [--minutes 30]`.

Workers at a human pace (bench/crowd.py) on a fresh site with the demo study. Every ten seconds the memory of the
server's processes, the answers since, errors and lines of the log are read, and a line is printed every minute. The
trends leave out the first minutes, in which caches fill. Something grows if the 95 % interval of its trend lies above
zero and the trend adds up to more than a certain share of its level over the run.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import signal
import statistics
import sys
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from scipy.stats import theilslopes

from bench.crowd import Record, Worker, grown, hold, percentile
from bench.servers import Server, database, running_server

INTERVAL_SECONDS = 10.0
SAMPLES_PER_MINUTE = 6
WARM_UP_MINUTES = 3.0
# What a trend may add to memory and to response times over the run, as a share of their level.
MOST_MEMORY_GROWTH = 0.05
MOST_TIME_GROWTH = 0.25
MOST_LOG_LINES_PER_MINUTE = 1.0
SHOWN_LOG_LINES = 5


@dataclass(frozen=True)
class Sample:
    """The server after so many seconds, and what happened since the sample before."""

    seconds: float
    memory_mb: float
    answers_ms: tuple[float, ...] = ()
    errors: int = 0
    log_lines: int = 0


@dataclass(frozen=True)
class Minute:
    number: int
    memory_mb: float
    answers: int
    p50: float
    p95: float
    errors: int
    log_lines: int


def minutes_of(samples: Sequence[Sample]) -> list[Minute]:
    """A sample stands for the seconds before it; the memory of a minute is that at its end."""
    by_minute = groupby(samples, key=lambda one: int((one.seconds - INTERVAL_SECONDS / 2) // 60))
    return [summary(number, list(group)) for number, group in by_minute]


def summary(number: int, samples: Sequence[Sample]) -> Minute:
    times = [ms for sample in samples for ms in sample.answers_ms]
    return Minute(
        number=number,
        memory_mb=samples[-1].memory_mb,
        answers=len(times),
        p50=statistics.median(times) if times else 0.0,
        p95=percentile(times),
        errors=sum(sample.errors for sample in samples),
        log_lines=sum(sample.log_lines for sample in samples),
    )


@dataclass(frozen=True)
class Trend:
    """A straight line through values by minutes: Theil and Sen's, which single outliers do not move."""

    level: float
    per_hour: float
    low: float
    high: float
    hours: float

    @classmethod
    def of(cls, minutes: Sequence[float], values: Sequence[float]) -> Trend:
        slope, _, low, high = theilslopes(values, minutes)
        hours = (minutes[-1] - minutes[0]) / 60
        return cls(statistics.median(values), 60 * slope, 60 * low, 60 * high, hours)

    def grows(self, most: float) -> bool:
        return self.low > 0 and self.per_hour * self.hours > most * self.level

    def told(self, name: str, unit: str, most: float) -> str:
        verdict = "GROWS" if self.grows(most) else "flat"
        return (
            f"{name:<8} {self.level:8.1f} {unit}, {self.per_hour:+.2f} an hour "
            f"(95 % interval {self.low:+.2f} to {self.high:+.2f}): {verdict}"
        )


def report(samples: Sequence[Sample], warm_up: float) -> tuple[list[str], bool]:
    """The lines of the verdict, and whether all of it holds."""
    late = [sample for sample in samples if sample.seconds > 60 * warm_up]
    late_minutes = [one for one in minutes_of(samples) if one.number >= warm_up and one.answers]
    if len(late_minutes) < 2:
        return ["Too short for a trend: give it more minutes than the warm-up."], False
    memory = Trend.of([one.seconds / 60 for one in late], [one.memory_mb for one in late])
    numbers = [float(one.number) for one in late_minutes]
    p50 = Trend.of(numbers, [one.p50 for one in late_minutes])
    p95 = Trend.of(numbers, [one.p95 for one in late_minutes])
    errors = sum(sample.errors for sample in samples)
    lines = sum(sample.log_lines for sample in samples)
    is_noisy = lines > MOST_LOG_LINES_PER_MINUTE * samples[-1].seconds / 60
    grows = memory.grows(MOST_MEMORY_GROWTH) or any(
        one.grows(MOST_TIME_GROWTH) for one in (p50, p95)
    )
    told = [
        memory.told("memory", "MB", MOST_MEMORY_GROWTH),
        p50.told("p50", "ms", MOST_TIME_GROWTH),
        p95.told("p95", "ms", MOST_TIME_GROWTH),
        f"errors   {errors:8d}",
        f"log      {lines:8d} lines: {'NOISE' if is_noisy else 'quiet'}",
    ]
    return told, not (grows or errors or is_noisy)


async def sampled(
    server: Server, record: Record, log: Path, seconds: float, samples: list[Sample]
) -> None:
    """Reads a sample every few seconds until the time is over, and prints every minute."""
    clock = asyncio.get_running_loop().time
    started, before = clock(), (0, 0, lines_in(log))
    for due in range(1, int(seconds / INTERVAL_SECONDS) + 1):
        await asyncio.sleep(started + due * INTERVAL_SECONDS - clock())
        now = len(record.answers_ms), len(record.errors), lines_in(log)
        new = tuple(record.answers_ms[before[0] : now[0]])
        memory, errors, lines = server.memory_mb(), now[1] - before[1], now[2] - before[2]
        samples.append(Sample(clock() - started, memory, new, errors, lines))
        before = now
        if due % SAMPLES_PER_MINUTE == 0:
            print(line_of(minutes_of(samples)[-1]), flush=True)


def lines_in(log: Path) -> int:
    return log.read_bytes().count(b"\n")


def line_of(minute: Minute) -> str:
    return (
        f"{minute.number + 1:>6} {minute.answers:>8} {minute.p50:>8.1f} {minute.p95:>8.1f} "
        f"{minute.memory_mb:>8.1f} {minute.errors:>7} {minute.log_lines:>10}"
    )


async def soak(
    server: Server, log: Path, count: int, seconds: float
) -> tuple[list[Sample], list[str]]:
    """The samples, and the first lines that were logged since everybody had joined."""
    workers: list[Worker] = []
    await grown(workers, server, count, are_spread=True)
    before = lines_in(log)
    record, samples = Record(), list[Sample]()
    print("minute  answers   p50 ms   p95 ms       MB  errors  log lines")
    await asyncio.gather(
        hold(workers, server, seconds, record), sampled(server, record, log, seconds, samples)
    )
    logged = log.read_text(errors="replace").splitlines()[before:]
    return samples, logged[:SHOWN_LOG_LINES]


def write_csv(path: Path, samples: Iterable[Sample]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["seconds", "memory_mb", "answers", "p50_ms", "p95_ms", "errors", "log_lines"])  # fmt: skip
        for sample in samples:
            row = summary(0, [sample])
            writer.writerow([
                f"{sample.seconds:.1f}", f"{row.memory_mb:.2f}", row.answers, f"{row.p50:.2f}", f"{row.p95:.2f}",
                row.errors, row.log_lines,
            ])  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--postgres", action="store_true", help="instead of SQLite")
    parser.add_argument("--workers", type=int, default=250)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--warm-up", type=float, default=WARM_UP_MINUTES, metavar="MINUTES")
    parser.add_argument("--csv", type=Path, default=Path("soak.csv"), help="where the samples go")
    options = parser.parse_args()
    # A stopped benchmark takes its server with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    with ExitStack() as stack:
        url = stack.enter_context(database(options.postgres))
        log = stack.enter_context(tempfile.NamedTemporaryFile(prefix="jedi-soak-", suffix=".log"))
        server = stack.enter_context(running_server(url, log.file))
        kind = "Postgres" if options.postgres else "SQLite"
        print(f"{kind}, demo study, {options.workers} workers for {options.minutes:g} minutes\n")
        path = Path(log.name)
        samples, logged = asyncio.run(soak(server, path, options.workers, 60 * options.minutes))
    write_csv(options.csv, samples)
    told, holds = report(samples, options.warm_up)
    print("", *told, *logged, f"\nThe samples are in {options.csv}.", sep="\n")
    sys.exit(None if holds else 1)


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main()
