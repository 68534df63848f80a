"""How fast the engine chooses, against a textbook baseline in the same run.

    python -m bench.engine                     every size
    python -m bench.engine --sizes 220 1000    some of them
    python -m bench.engine --sizes             none: what more classes cost beside two

Each size runs in a process of its own, so that its peak memory is its own. The pool is saved and
loaded first, as a web process has it, and every step gets the whole history, as a stateless
process does. A step is timed a few times and the fastest counts: whatever else a machine does, and
whatever its neighbours on the same hardware do, only ever lengthens a time. Times are aims; ratios,
growth, memory and exactness are bars, and the exit status says whether they hold.
"""

import os

# One BLAS thread, as in a web process; NumPy reads this once, when it is imported.
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import argparse
import json
import math
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from scipy import linalg

from teaching.engine import (
    TEACHERS,
    Choice,
    LearningRate,
    OmniscientJEDI,
    Pool,
    PoolTooLarge,
    Shown,
    SimulatedLearner,
    Teacher,
    Tracked,
    belief,
    make_teacher,
    suggest_learning_rate,
    teach,
)
from teaching.engine.classes import concept_vector
from teaching.engine.pool import INVERSE_LIMIT
from tests.teaching.engine.bank import oracle

T = TypeVar("T")

SIZES = (220, 1_000, 4_000, 10_000, 100_000)
FEATURES = 110
BETA = 0.75
STEPS = 30
SESSIONS = 2
COLD_START = 5
# All steps are timed again and again for so long, and twice at least.
SECONDS = 3.0
# The baseline takes seconds per step in a large pool, whatever the history: few steps tell.
BASELINE_STEPS = {220: 25, 1_000: 10, 4_000: 3}

# Milliseconds per step, as aims: JEDI (IMT is no slower) and EER.
AIMS = {
    220: (0.6, 1.5),
    1_000: (3, 4),
    4_000: (12, 12),
    10_000: (60, 60),
    100_000: (600, None),
}
# The same for Tracked with a history of 30 answers.
TRACKED_AIMS = {220: 5, 1_000: 6, 4_000: 15, 10_000: 25, 100_000: 250}
# Bayes' rule member by member, and anew for every answer, takes seconds whatever the size of the pool.
TRACKED_BASELINE = (220, 1_000)
# Times faster than the baseline, as bars: JEDI and EER.
RATIOS = {220: (8, 4), 1_000: (30, 30), 4_000: (150, 150)}
# What a step may cost with so many classes, in a pool of this size, beside one with two.
CLASSES, CLASSES_POOL = 5, 1_000
LARGEST_CLASS_RATIO = 3.0
LARGEST_ERROR = 1e-8
LARGEST_TRACKED_ERROR = 1e-9
LARGEST_GROWTH = 1.2
MOST_MEMORY_MB = 1_500
LONGEST_SET_UP_S = 180


# The textbook baseline: dense inverse, loop over candidates.


def baseline_jedi(pool: Pool, affinity: np.ndarray, history: Sequence[Shown], eta: float) -> int:
    """Algorithm 2 step by step: padded graph, inverse, then one candidate after the other."""
    newest = {step.example: step.answer for step in history}
    taught = list(newest)
    n, total = pool.n, pool.n + len(taught)
    padded = np.zeros((total, total))
    padded[:n, :n] = affinity
    padded[n:, :n] = affinity[taught]
    padded[:n, n:] = affinity[:, taught]
    degrees = np.diag(padded.sum(axis=1))
    labels = np.array([[newest[i] == 1, newest[i] == 0] for i in taught], dtype=float)
    estimate = np.linalg.inv(degrees[:n, :n] - padded[:n, :n]) @ padded[:n, n:] @ labels
    p = np.clip(estimate[:, 0], 1e-6, 1 - 1e-6)
    signs, target = 2 * pool.labels - 1, concept_vector(pool.target)
    momentum = np.zeros(pool.dimensions)
    for step in history:
        y = signs[step.example]
        f = 1 - step.p if y > 0 else step.p
        momentum = BETA * momentum - y * f * pool.features[step.example]
    window = math.floor(2 / (1 - BETA) + 0.5)
    recent = {step.example for step in history[-window:]}
    best, best_score = -1, math.inf
    for i in range(n):
        if i in recent:
            continue
        x, y = pool.features[i], signs[i]
        f = 1 - p[i] if y > 0 else p[i]
        diversity = np.linalg.norm(y * f * x - BETA * momentum) ** 2
        usefulness = math.log((1 / (1 - f)) / (1 + math.exp(-y * (target @ x))))
        score = eta**2 * diversity - 2 * eta * usefulness
        if score < best_score:
            best, best_score = i, score
    return best


def baseline_eer(pool: Pool, affinity: np.ndarray, history: Sequence[Shown]) -> int:
    """Johns et al.: the inverse of the unseen block, then each candidate's total risk."""
    newest = {step.example: step.answer for step in history}
    taught = list(newest)
    unseen = np.setdiff1d(np.arange(pool.n), taught)
    laplacian = np.diag(affinity.sum(axis=1)) - affinity
    inverse = np.linalg.inv(laplacian[np.ix_(unseen, unseen)])
    says_plus = np.array([newest[i] > 0 for i in taught], dtype=float)
    f = inverse @ (affinity[np.ix_(unseen, taught)] @ says_plus)
    truth = (pool.labels[unseen] > 0).astype(float)
    best, best_risk = -1, math.inf
    for k, example in enumerate(unseen):
        after = f + (truth[k] - f[k]) * inverse[:, k] / inverse[k, k]
        risk = float(np.abs(truth - after).sum())
        if risk < best_risk:
            best, best_risk = int(example), risk
    return best


# One size, in a process of its own.


def made_pool(n: int, k: int = 2) -> tuple[Pool, float]:
    """A pool of overlapping Gaussian classes, two or more, and the seconds that its set-up took."""
    rng = np.random.default_rng(n)
    labels = np.where(rng.random(n) < 0.5, 1, -1)
    features = rng.standard_normal((n, FEATURES))
    if k == 2:
        features += 0.15 * labels[:, None]
    else:
        labels = rng.integers(0, k, n)
        features += 0.2 * rng.standard_normal((k, FEATURES))[labels]
    started = time.perf_counter()
    pool = Pool(features - features.mean(axis=0), labels)
    if pool.n <= INVERSE_LIMIT:
        # Made on first use, and part of the set-up.
        _ = pool.inverse
    return pool, time.perf_counter() - started


def sessions(pool: Pool, name: str, rate: LearningRate) -> list[list[Shown]]:
    """Histories of simulated learners taught by this teacher."""
    made = []
    for seed in range(SESSIONS):
        learner = SimulatedLearner(
            np.zeros((pool.class_count, pool.dimensions)),
            beta=BETA,
            learning_rate=rate,
            answers="bernoulli",
            rng=np.random.default_rng(seed),
        )
        teacher = make_teacher(name, beta=BETA, learning_rate=rate)
        made.append(teach(teacher, pool, learner, steps=STEPS, rng=np.random.default_rng(seed)))
    return made


def prefixes(made: list[list[Shown]]) -> list[list[Shown]]:
    """The history before each step after the cold start, of every session."""
    return [history[:t] for history in made for t in range(COLD_START, STEPS)]


def largest_error(pool: Pool, history: list[Shown]) -> float:
    """The estimate against a dense Cholesky factorisation of the same system."""
    newest = {step.example: step.answer for step in history}
    links = pool.affinity[:, list(newest)].toarray()
    system = -pool.affinity.toarray()
    system[np.diag_indices(pool.n)] += pool.degrees + links.sum(axis=1)
    plus = links @ np.array([answer > 0 for answer in newest.values()], dtype=float)
    exact = linalg.solve(system, plus, assume_a="pos", overwrite_a=True)
    return float(np.abs(belief(pool, history) - exact).max())


def measure(n: int) -> dict[str, Any]:
    """Everything there is to say about one size."""
    made, set_up = made_pool(n)
    with tempfile.TemporaryDirectory() as folder:
        made.save(Path(folder) / "pool")
        del made
        return {"n": n, "set_up_s": set_up} | measure_loaded(Pool.load(Path(folder) / "pool"))


def measure_classes() -> dict[str, Any]:
    """What a step with all answers given costs with many classes and with two, in turn, for each teacher."""
    pools = {k: made_pool(CLASSES_POOL, k)[0] for k in (2, CLASSES)}
    return {name: timed_by_classes(pools, name) for name in (*TEACHERS, "omniscient")}


def timed_by_classes(pools: dict[int, Pool], name: str) -> dict[str, float]:
    """Milliseconds with two classes and with many, each at its best over the same seconds."""
    steps = {k: one_step(pool, name) for k, pool in pools.items()}
    best = dict.fromkeys(steps, math.inf)
    started = time.perf_counter()
    while time.perf_counter() - started < SECONDS:
        for k, step in steps.items():
            # Of the processor: what else the machine does has no part in a ratio.
            began = time.process_time()
            step()
            best[k] = min(best[k], time.process_time() - began)
    return {"two_ms": 1e3 * best[2], "many_ms": 1e3 * best[CLASSES]}


def one_step(pool: Pool, name: str) -> Callable[[], Choice]:
    rate = LearningRate(suggest_learning_rate(pool))
    taught_by = "jedi" if name == "omniscient" else name
    [history, *_] = sessions(pool, taught_by, rate)
    if name == "omniscient":
        learner = SimulatedLearner(pool.target, beta=BETA, learning_rate=rate)
        teacher: Teacher = OmniscientJEDI(learner=learner, beta=BETA, learning_rate=rate)
    else:
        teacher = make_teacher(name, beta=BETA, learning_rate=rate)
    return lambda: teacher.choose(pool, history, np.random.default_rng(0))


def measure_loaded(pool: Pool) -> dict[str, Any]:
    rate = LearningRate(suggest_learning_rate(pool))
    found: dict[str, Any] = {}
    last: list[Shown] = []
    for name in ("jedi", "imt", "eer"):
        try:
            histories = prefixes(sessions(pool, name, rate))
        except PoolTooLarge as error:
            found["refusal"] = str(error)
            continue
        found |= measure_teacher(pool, name, rate, histories)
        last = histories[-1] if name == "jedi" else last
    found |= measure_tracked(pool, rate)
    # Before the dense solve below, which is not the engine's.
    found["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if pool.n <= 10_000:
        found["error"] = largest_error(pool, last)
    return found


def measure_tracked(pool: Pool, rate: LearningRate) -> dict[str, float]:
    """Milliseconds of a choice with all answers given, and of one by models that are run one after the other."""
    teacher = Tracked(beta=BETA, learning_rate=rate, repeat_window=0)
    histories = sessions(pool, "tracked", rate)
    _, times = timed(lambda history: teacher.scores(pool, history), histories)
    found = {"tracked_ms": 1e3 * float(np.median(times))}
    if pool.n in TRACKED_BASELINE:
        history = histories[0]
        started = time.perf_counter()
        expected = oracle.predicted_answers(teacher, pool, history)
        found["tracked_baseline_ms"] = 1e3 * (time.perf_counter() - started)
        error = np.abs(teacher.predicted_answers(pool, history) - expected).max()
        found["tracked_error"] = float(error)
    return found


def measure_teacher(
    pool: Pool, name: str, rate: LearningRate, histories: list[list[Shown]]
) -> dict[str, float]:
    """Median milliseconds of a teacher and of its baseline, which has to choose alike."""
    teacher = make_teacher(name, beta=BETA, learning_rate=rate)

    def choose(history: list[Shown]) -> Choice:
        return teacher.choose(pool, history, np.random.default_rng(0))

    _, times = timed(choose, histories)
    found = {}
    baseline = baseline_for(pool, name, rate)
    if baseline:
        some = histories[:: math.ceil(len(histories) / BASELINE_STEPS[pool.n])]
        examples, baseline_times = timed(baseline, some)
        found[f"{name}_baseline_ms"] = 1e3 * float(np.median(baseline_times))
        for history, example in zip(some, examples, strict=True):
            choice = choose(history)
            if not math.isclose(choice.score, choice.scores[example], rel_tol=1e-9):
                raise SystemExit(f"{name} and its baseline disagree at n = {pool.n}.")
    found[f"{name}_ms"] = 1e3 * float(np.median(times))
    return found


def timed(
    action: Callable[[list[Shown]], T], histories: list[list[Shown]]
) -> tuple[list[T], list[float]]:
    """What an action gives for each history, and the seconds that it takes at best."""
    times = [math.inf] * len(histories)
    started, rounds = time.perf_counter(), 0
    while rounds < 2 or time.perf_counter() - started < SECONDS:
        results, rounds = [], rounds + 1
        for place, history in enumerate(histories):
            began = time.perf_counter()
            results.append(action(history))
            times[place] = min(times[place], time.perf_counter() - began)
    return results, times


def baseline_for(pool: Pool, name: str, rate: LearningRate) -> Callable[[list[Shown]], int] | None:
    if pool.n not in BASELINE_STEPS or name == "imt":
        return None
    affinity = pool.affinity.toarray()
    if name == "eer":
        return lambda history: baseline_eer(pool, affinity, history)
    return lambda history: baseline_jedi(pool, affinity, history, rate(len(history) + 1))


# The report.


def run_apart(what: str, *options: str) -> dict[str, Any]:
    sys.stderr.write(f"\r{what}{' ' * 30}\n")
    command = [sys.executable, "-m", "bench.engine", *options]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


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
    print(f"\nTracked: all {STEPS} answers given.\n")
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
        are_met.append(ratio <= LARGEST_CLASS_RATIO)
        verdict = "pass" if are_met[-1] else "FAIL"
        times = f"{row['two_ms']:.2f} ms and {row['many_ms']:.2f} ms"
        print(f"{verdict}  {name}: {times}, {ratio:.2f}x, bar {LARGEST_CLASS_RATIO:g}x")
    return all(are_met)


def ratios_of(row: dict[str, Any]) -> tuple[float, float]:
    return (row["jedi_baseline_ms"] / row["jedi_ms"], row["eer_baseline_ms"] / row["eer_ms"])


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
            bar(row["error"] <= LARGEST_ERROR, f"{n:,}: error {row['error']:.0e}, bar 1e-08")
        if n in AIMS:
            jedi, eer = AIMS[n]
            aim(max(row["jedi_ms"], row["imt_ms"]), jedi, f"{n:,}: JEDI and IMT")
            if eer is not None:
                aim(row["eer_ms"], eer, f"{n:,}: EER")
            aim(row["tracked_ms"], TRACKED_AIMS[n], f"{n:,}: Tracked")
        if "tracked_error" in row:
            error, slower = row["tracked_error"], row["tracked_baseline_ms"] / row["tracked_ms"]
            text = f"{n:,}: Tracked {error:.0e} from models one by one, {slower:.0f}x as fast"
            bar(error <= LARGEST_TRACKED_ERROR, f"{text}, bar 1e-09")
        if n == 100_000:
            bar(row["peak_mb"] <= MOST_MEMORY_MB, f"{n:,}: {row['peak_mb']:.0f} MB, bar 1500 MB")
            bar(row["set_up_s"] <= LONGEST_SET_UP_S, f"{n:,}: {row['set_up_s']:.0f} s, bar 180 s")
            print(f"      {n:,}: {row['refusal']}")
    for name in ("jedi", "tracked"):
        times = {row["n"]: row[f"{name}_ms"] for row in rows}
        if 10_000 in times and 100_000 in times:
            growth = math.log10(times[100_000] / times[10_000])
            text = f"{name}: growth from 10,000 to 100,000: n^{growth:.2f}, bar n^1.2"
            bar(growth <= LARGEST_GROWTH, text)
    return all(verdicts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
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
