"""The command: every measurement in its own process, then the tables with the aims and bars."""

import argparse
import json
import math
import subprocess
import sys
from typing import Any

import numpy as np

import bench.engine

from .measure import (
    BETA,
    CLASSES,
    CLASSES_POOL,
    COLD_START,
    FEATURES,
    SESSIONS,
    STEPS,
    measure,
    measure_classes,
)

SIZES = (220, 1_000, 4_000, 10_000, 100_000)
# Milliseconds per step, as aims: JEDI (IMT is no slower) and EER.
AIMS = {
    220: (0.6, 1.5),
    1_000: (3, 4),
    4_000: (12, 12),
    10_000: (60, 60),
    100_000: (600, None),
}
# The same for Tracked after 30 answers.
TRACKED_AIMS = {220: 10, 1_000: 15, 4_000: 40, 10_000: 90, 100_000: 900}
# Times faster than the baseline, as bars: JEDI and EER.
RATIOS = {220: (8, 4), 1_000: (30, 30), 4_000: (150, 150)}
# What a step may cost with many classes, beside one with two.
MAX_CLASS_RATIO = 3.0
MAX_ERROR = 1e-8
MAX_TRACKED_ERROR = 1e-9
MAX_GROWTH = 1.2
MAX_MEMORY_MB = 1_500
MAX_SET_UP_S = 180


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


def report(rows: list[dict[str, Any]]) -> bool:
    """Print the table and the bars; True if every bar holds."""
    print(
        f"\nMedian of at least {SESSIONS * (STEPS - COLD_START)} steps of {STEPS}-step sessions, "
        f"d = {FEATURES}, β = {BETA}, one BLAS thread, NumPy {np.__version__}\n"
    )
    print(
        f"{'pool':>8} {'JEDI ms':>9} {'IMT ms':>8} {'EER ms':>8} {'tracked ms':>11} "
        f"{'baseline JEDI, EER ms':>23} "
        f"{'ratios':>12} {'error':>8} {'set-up s':>9} {'peak MB':>8}"
    )
    for row in rows:
        baseline = ratios = "–"
        if "jedi_baseline_ms" in row:
            baseline = f"{row['jedi_baseline_ms']:.1f}, {row['eer_baseline_ms']:.1f}"
            ratios = "{:.0f}x, {:.0f}x".format(*ratios_of(row))
        eer = f"{row['eer_ms']:.2f}" if "eer_ms" in row else "refused"
        error = f"{row['error']:.0e}" if "error" in row else "–"
        print(
            f"{row['n']:>8,} {row['jedi_ms']:>9.2f} {row['imt_ms']:>8.2f} {eer:>8} "
            f"{row['tracked_ms']:>11.2f} {baseline:>23} "
            f"{ratios:>12} {error:>8} {row['set_up_s']:>9.1f} {row['peak_mb']:>8.0f}"
        )
    print(
        f"\nTracked: all {STEPS} answers given, of the costliest kind, by the time of the processor:\n"
    )
    for row in rows:
        print(
            f"{row['n']:>8,} {row['tracked_ms']:>8.2f} ms, answers “{row['tracked_slowest']}”; "
            f"median of all kinds {row['tracked_median_ms']:.2f} ms; learners of the paper's kind "
            f"{row['tracked_paper_ms']:.2f} ms"
        )
    print()
    return print_verdicts(rows)


def report_classes(found: dict[str, dict[str, float]]) -> bool:
    """Print what many classes cost beside two; True if every teacher stays within the bar."""
    print(
        f"\n{CLASSES} classes beside 2, a pool of {CLASSES_POOL:,}, {STEPS} answers, d = {FEATURES}; "
        "best of many, in turn\n"
    )
    are_met = []
    for name, row in found.items():
        ratio = row["many_ms"] / row["two_ms"]
        are_met.append(ratio <= MAX_CLASS_RATIO)
        verdict = "pass" if are_met[-1] else "FAIL"
        times = f"{row['two_ms']:.2f} ms and {row['many_ms']:.2f} ms"
        print(f"{verdict}  {name}: {times}, {ratio:.2f}x, bar {MAX_CLASS_RATIO:g}x")
    return all(are_met)


def ratios_of(row: dict[str, Any]) -> tuple[float, float]:
    return (row["jedi_baseline_ms"] / row["jedi_ms"], row["eer_baseline_ms"] / row["eer_ms"])


def tracked_times(row: dict[str, Any]) -> dict[str, float]:
    """The milliseconds of Tracked, by the histories that they are of."""
    return {
        f"costliest kind “{row['tracked_slowest']}”": row["tracked_ms"],
        "median of all kinds": row["tracked_median_ms"],
        "learners of the paper's kind": row["tracked_paper_ms"],
    }


def print_verdicts(rows: list[dict[str, Any]]) -> bool:
    verdicts: list[bool] = []

    def bar(holds: bool, text: str) -> None:
        verdicts.append(holds)
        print(f"{'pass' if holds else 'FAIL'}  {text}")

    def aim(value: float, limit: float, text: str) -> None:
        print(f"{'met ' if value <= limit else 'miss'}  {text}: {value:.2f} ms, aim {limit} ms")

    for row in rows:
        n = row["n"]
        if n in RATIOS and "jedi_baseline_ms" in row:
            for name, ratio, least in zip(("JEDI", "EER"), ratios_of(row), RATIOS[n], strict=True):
                bar(ratio >= least, f"{n:,}: {name} {ratio:.0f}x the baseline, bar {least}x")
        if "error" in row:
            bar(row["error"] <= MAX_ERROR, f"{n:,}: error {row['error']:.0e}, bar 1e-08")
        if n in AIMS:
            jedi, eer = AIMS[n]
            aim(max(row["jedi_ms"], row["imt_ms"]), jedi, f"{n:,}: JEDI and IMT")
            if eer is not None:
                aim(row["eer_ms"], eer, f"{n:,}: EER")
        if n in TRACKED_AIMS:
            for histories, value in tracked_times(row).items():
                aim(value, TRACKED_AIMS[n], f"{n:,}: Tracked, {histories}")
        if "tracked_error" in row:
            error, slower = row["tracked_error"], row["tracked_baseline_ms"] / row["tracked_ms"]
            text = f"{n:,}: Tracked {error:.0e} from models one by one, {slower:.0f}x as fast"
            bar(error <= MAX_TRACKED_ERROR, f"{text}, bar 1e-09")
        if n == 100_000:
            bar(row["peak_mb"] <= MAX_MEMORY_MB, f"{n:,}: {row['peak_mb']:.0f} MB, bar 1500 MB")
            bar(row["set_up_s"] <= MAX_SET_UP_S, f"{n:,}: {row['set_up_s']:.0f} s, bar 180 s")
            print(f"      {n:,}: {row['refusal']}")
    for name in ("jedi", "tracked"):
        times = {row["n"]: row[f"{name}_ms"] for row in rows}
        if 10_000 in times and 100_000 in times:
            growth = math.log10(times[100_000] / times[10_000])
            text = f"{name}: growth from 10,000 to 100,000: n^{growth:.2f}, bar n^1.2"
            bar(growth <= MAX_GROWTH, text)
    return all(verdicts)


if __name__ == "__main__":
    main()
