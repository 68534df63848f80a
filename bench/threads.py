"""What it brings that the polling thread of a process answers workers: `python -m bench.threads [--postgres]`.

Two servers, the product's and one with gunicorn's own threaded worker, are asked in turn by the same clients, so that
whatever else the machine does reaches both alike. The figures are medians over the rounds.
"""

from __future__ import annotations

import argparse
import signal
import statistics
import sys
from contextlib import ExitStack

from bench.api import CONCURRENCY, Cost, cpu_of, measure, warm_up
from bench.databases import database
from bench.servers import Server, running_server

SERVERS = {"polling thread": (), "pool of threads": ("--worker-class", "gthread")}
KINDS = ("teaching", "evaluation", "image")

Rounds = dict[str, list[dict[str, Cost]]]


def compared(servers: dict[str, Server], concurrency: int, rounds: int) -> Rounds:
    """Each server in turn, beginning with the other one every time."""
    found: Rounds = {name: [] for name in servers}
    names = list(servers)
    for _ in range(rounds):
        for name in names:
            found[name].append(measure(servers[name], concurrency, 4, KINDS))
        names.reverse()
    return found


def p95(cost: Cost) -> float:
    return statistics.quantiles(cost.ms, n=20)[-1]


def per_second(cost: Cost) -> float:
    return len(cost.ms) / cost.elapsed


def report(concurrency: int, found: Rounds) -> None:
    for kind in KINDS:
        for name, rounds in found.items():
            costs = [one[kind] for one in rounds]
            cpu, rate, slowest = (
                statistics.median(map(value, costs)) for value in (cpu_of, per_second, p95)
            )
            print(
                f"{concurrency:>8}  {kind:<10}  {name:<15} {cpu:>11.2f} {rate:>9.1f} {slowest:>8.1f}",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--postgres", action="store_true", help="instead of SQLite")
    parser.add_argument("--concurrency", type=int, nargs="+", default=CONCURRENCY)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    # A stopped benchmark takes its servers with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    with ExitStack() as stack:
        servers = {}
        for name, gunicorn in SERVERS.items():
            url = stack.enter_context(database(options.postgres))
            servers[name] = stack.enter_context(running_server(url, options=gunicorn))
            warm_up(servers[name])
        print("sessions  request     answered by      CPU ms each     per s   p95 ms")
        for concurrency in options.concurrency:
            report(concurrency, compared(servers, concurrency, options.rounds))


if __name__ == "__main__":
    main()
