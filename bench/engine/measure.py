"""What is measured: one size of pool, or what more classes cost; each in a process of its own."""

import math
import resource
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from scipy import linalg

from research.learners import (
    ExemplarLearner,
    ForgettingLearner,
    HingeLearner,
    PartialView,
    PrototypeLearner,
    RuleSwitcher,
    SquaredLearner,
)
from research.teachers import OmniscientJEDI
from teaching.engine import (
    TEACHERS,
    Choice,
    LearningRate,
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
from teaching.engine.learners.paper import Learner
from teaching.engine.learners.people import Population
from teaching.engine.pool import INVERSE_LIMIT
from tests.teaching.engine.bank import oracle

T = TypeVar("T")

FEATURES = 110
BETA = 0.75
STEPS = 30
SESSIONS = 2
COLD_START = 5
# All steps are timed again and again for so long, and twice at least.
SECONDS = 3.0
# The baseline takes seconds per step in a large pool, whatever the history: few steps tell.
BASELINE_STEPS = {220: 25, 1_000: 10, 4_000: 3}
# Bayes' rule member by member, and anew for every answer, takes seconds whatever the size of the pool.
TRACKED_BASELINE = (220, 1_000)
# So often each kind of history is timed at least, so often answers of each kind are drawn, and so many mostly right.
MIN_ROUNDS = 7
ANSWERED = 3
MOSTLY = 0.65
# Learners as the paper assumes them, whoever teaches them.
PAPER = "paper"
# So many classes, in a pool of this size, beside two.
CLASSES, CLASSES_POOL = 5, 1_000


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


def measure_tracked(pool: Pool, rate: LearningRate) -> dict[str, Any]:
    """Milliseconds of a choice after the costliest kind of history, and of models that are run one after the other."""
    teacher = Tracked(beta=BETA, learning_rate=rate, repeat_window=0)
    histories = tracked_histories(pool, rate)
    rng = np.random.default_rng(0)
    times = timed_in_turn(lambda history: teacher.choose(pool, history, rng), histories)
    slowest = max(times, key=times.__getitem__)
    found: dict[str, Any] = {"tracked_ms": 1e3 * times[slowest], "tracked_slowest": slowest}
    found["tracked_median_ms"] = 1e3 * float(np.median([*times.values()]))
    papers = [seconds for kind, seconds in times.items() if kind.startswith(PAPER)]
    found["tracked_paper_ms"] = 1e3 * max(papers)
    if pool.n in TRACKED_BASELINE:
        history = histories[f"{PAPER}, by tracked"]
        started = time.perf_counter()
        expected = oracle.predicted_answers(teacher, pool, history)
        found["tracked_baseline_ms"] = 1e3 * (time.perf_counter() - started)
        error = np.abs(teacher.predicted_answers(pool, history) - expected).max()
        found["tracked_error"] = float(error)
    return found


def tracked_histories(pool: Pool, rate: LearningRate) -> dict[str, list[Shown]]:
    """Histories of every kind: which learners they leave possible decides what a choice costs."""
    made = {
        f"{PAPER}, by {name}": sessions(pool, name, rate)[0] for name in ("tracked", "rt", "jedi")
    }
    for kind, learner in learners(pool, rate).items():
        teacher = make_teacher("rt", beta=BETA, learning_rate=rate)
        made[kind] = teach(teacher, pool, learner, steps=STEPS, rng=np.random.default_rng(0))
    return made | answered(pool)


def learners(pool: Pool, rate: LearningRate) -> dict[str, Learner]:
    """One of each kind that the paper does not assume."""
    d, k, square = pool.dimensions, pool.class_count, float(pool.squared_norms.mean())
    start = np.zeros((k, d))
    settings: dict[str, Any] = {"beta": BETA, "learning_rate": rate}
    return {
        "hinge": HingeLearner(start, **settings),
        "squared": SquaredLearner(start, **settings),
        "forgetting": ForgettingLearner(start, **settings),
        "half the features": PartialView(
            SimulatedLearner(start, **settings), np.arange(d) % 2 == 0
        ),
        "prototype": PrototypeLearner(d, classes=k, scale=square / 8),
        "exemplar": ExemplarLearner(d, classes=k, width=square / 2),
        "rule": RuleSwitcher(d, classes=k, rng=np.random.default_rng(0)),
        "worker": Population().worker(pool, rate, [0]),
    }


def answered(pool: Pool) -> dict[str, list[Shown]]:
    """Answers without a learner to examples drawn at random."""
    made, k = {}, pool.class_count
    for seed in range(ANSWERED):
        rng = np.random.default_rng([seed, pool.n])
        examples = rng.integers(0, pool.n, STEPS)
        right, drawn = pool.labels[examples], rng.integers(0, k, STEPS)
        wrong = (right + 1) % k
        answers = {
            "at random": drawn,
            "right": right,
            "wrong": wrong,
            "one-sided": np.full(STEPS, seed % k),
            "mostly right": np.where(rng.random(STEPS) < MOSTLY, right, wrong),
        }
        for kind, given in answers.items():
            steps = zip(examples.tolist(), given.tolist(), strict=True)
            made[f"{kind} {seed}"] = [Shown(i, answer, [1 / k] * k) for i, answer in steps]
    return made


def timed_in_turn(
    action: Callable[[list[Shown]], object], histories: dict[str, list[Shown]]
) -> dict[str, float]:
    """The seconds of the processor that an action takes for each history at best."""
    best = dict.fromkeys(histories, math.inf)
    started, rounds = time.perf_counter(), 0
    while rounds < MIN_ROUNDS or time.perf_counter() - started < SECONDS:
        rounds += 1
        for kind, history in histories.items():
            began = time.process_time()
            action(history)
            best[kind] = min(best[kind], time.process_time() - began)
    return best


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
    return lambda history: baseline_jedi(pool, affinity, history, rate(len(history) + 1), BETA)


# The textbook baseline: dense inverse, loop over candidates


def baseline_jedi(
    pool: Pool, affinity: np.ndarray, history: Sequence[Shown], eta: float, beta: float
) -> int:
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
        momentum = beta * momentum - y * f * pool.features[step.example]
    window = math.floor(2 / (1 - beta) + 0.5)
    recent = {step.example for step in history[-window:]}
    best, best_score = -1, math.inf
    for i in range(n):
        if i in recent:
            continue
        x, y = pool.features[i], signs[i]
        f = 1 - p[i] if y > 0 else p[i]
        diversity = np.linalg.norm(y * f * x - beta * momentum) ** 2
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
