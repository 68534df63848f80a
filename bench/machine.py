"""What the machine itself does to times of the processor: `python -m bench.machine [--rounds 5]`.

The same plain Python work takes more of the processor's time while every core is busy, if cores share their parts, and
after a pause, in which other programs and other guests of the host take over caches and branch predictors. A server's
times contain both: with many sessions all cores are busy, and at a human pace there is a pause before every request.
So the same is measured of work without any server, and of a Django view that does nothing, as ratios in one run.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor

from bench.client import Connection
from bench.servers import bare_server

PAUSES_MS = (3, 10, 30)
# Pieces of work back to back, and requests of each kind; fewer after pauses.
PIECES = 600
PAUSED_PIECES = 100


def piece() -> None:
    """Half a millisecond of what a web server does: dictionaries, strings, JSON."""
    rows = [{f"name{i}": i, "text": str(i) * 3} for i in range(150)]
    read = json.loads(json.dumps(rows))
    sorted((row["text"] for row in read), reverse=True)


def own_cpu_ms(pieces: int, pause_ms: float = 0.0) -> float:
    """The milliseconds of the processor that a piece of work takes, each after a pause."""
    total = 0.0
    for _ in range(pieces):
        began = time.thread_time()
        piece()
        total += time.thread_time() - began
        if pause_ms:
            time.sleep(pause_ms / 1000)
    return 1000 * total / pieces


def with_all_cores_busy() -> float:
    cores = os.cpu_count() or 1
    with ProcessPoolExecutor(cores) as busy:
        return statistics.mean(busy.map(own_cpu_ms, [PIECES] * cores))


def measure_work() -> dict[str, float]:
    own_cpu_ms(PIECES // 4)
    found = {"back to back": own_cpu_ms(PIECES), "every core busy": with_all_cores_busy()}
    return found | {paused(ms): own_cpu_ms(PAUSED_PIECES, ms) for ms in PAUSES_MS}


def paused(ms: float) -> str:
    return f"after a pause of {ms} ms"


def measure_view() -> dict[str, float]:
    """The same of one client of a view that does nothing, by the time of its server."""
    with bare_server() as server:
        client = Connection(server.address)

        def cpu_ms(requests: int, pause_ms: float = 0.0) -> float:
            began = server.cpu_seconds()
            for _ in range(requests):
                client.content("/healthz")
                time.sleep(pause_ms / 1000)
            return 1000 * (server.cpu_seconds() - began) / requests

        cpu_ms(PIECES // 4)
        found = {"back to back": cpu_ms(2 * PIECES)}
        return found | {paused(ms): cpu_ms(3 * PAUSED_PIECES, ms) for ms in PAUSES_MS}


def report(title: str, measure: Callable[[], dict[str, float]], rounds: int) -> None:
    found = [measure() for _ in range(rounds)]
    print(f"\n{title:<32} {'ms':>6}  {'x back to back':>14}  over the rounds")
    for name in found[0]:
        ratios = sorted(one[name] / one["back to back"] for one in found)
        ms = statistics.median(one[name] for one in found)
        between = f"{ratios[0]:.2f} to {ratios[-1]:.2f}"
        print(f"{name:<32} {ms:>6.2f}  {statistics.median(ratios):>14.2f}  {between}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    report("plain Python work", measure_work, options.rounds)
    report("a Django view that does nothing", measure_view, options.rounds)


if __name__ == "__main__":
    main()
