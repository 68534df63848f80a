"""The command: every measurement in a process of its own, then the report."""

import argparse
import json
import subprocess
import sys
from typing import Any

import bench.engine

from .measure import CLASSES, measure, measure_classes
from .report import report, report_classes

SIZES = (220, 1_000, 4_000, 10_000, 100_000)


def run_apart(what: str, *options: str) -> dict[str, Any]:
    sys.stderr.write(f"\r{what}{' ' * 30}\n")
    command = [sys.executable, "-m", "bench.engine", *options]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(bench.engine.__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES, help="pools to measure")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--only-classes", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one)))
        return
    if options.only_classes:
        print(json.dumps(measure_classes()))
        return
    rows = [run_apart(f"{n} examples", "--one", str(n)) for n in options.sizes]
    by_classes = run_apart(f"{CLASSES} classes", "--only-classes")
    are_met = [not rows or report(rows), report_classes(by_classes)]
    sys.exit(0 if all(are_met) else 1)


if __name__ == "__main__":
    main()
