"""How well the mean β of a group of simulated learners is recovered from their answers.

Every group has 100 learners with 30 answers each, taught at random. Drawn answers are the paper's, a tenth of them
guesses; learning rates are equal, or differ between people by a factor of about three. Firm answers are the more likely
class, except for 2 % slips, as those of a rehearsal's bots, who start with opinions whose margins have a root mean
square of 0.3. All learners of a group have one β; the bots of the last group have those of a rehearsal.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from statistics import mean

import numpy as np

from teaching import engine
from teaching.decay import GroupEstimate, SessionFit, estimate_group, fit_session
from teaching.engine import (
    Habits,
    LearningRate,
    Pool,
    Shown,
    SimulatedLearner,
    SimulatedWorker,
    make_worker,
    suggest_learning_rate,
)

PEOPLE, ANSWERS, GROUPS = 100, 30, 8
BETAS = (0.0, 0.25, 0.5, 0.75, 0.9)
GUESS = 0.1
SLIPS = 0.02
Session = Callable[[Pool, float, np.random.Generator], SessionFit]


def two_classes(n: int = 200, d: int = 8) -> Pool:
    """Two classes that differ in some of their features."""
    rng = np.random.default_rng(0)
    labels = np.arange(n) % 2
    apart = np.where(np.arange(d) < 3, 1.2, 0.0)
    return Pool(rng.standard_normal((n, d)) + labels[:, None] * apart, labels)


def drawn_session(
    pool: Pool, beta: float, steps: int, seed: int, factor: float = 1.0
) -> SessionFit:
    """The fit to a learner who draws answers from its beliefs, and sometimes guesses.

    factor: of its learning rate, relative to the one that a study would assume.
    """
    rng = np.random.default_rng(seed)
    initial = suggest_learning_rate(pool)
    learner = SimulatedLearner(
        np.zeros((2, pool.dimensions)),
        beta=beta,
        learning_rate=LearningRate(factor * initial),
        answers="bernoulli",
        rng=rng,
    )
    history = []
    for example in rng.integers(0, pool.n, steps).tolist():
        x = pool.features[example]
        answer = rng.integers(2) if rng.random() < GUESS else learner.answer(x)
        history.append(Shown(example, int(answer), 0.5))
        learner.learn(x, int(pool.labels[example]))
    return fit_session(pool, history, LearningRate(initial))


def firm_session(
    pool: Pool, beta: float, steps: int, seed: int, conviction: float = 0.0
) -> SessionFit:
    """The fit to a learner at the study's rate who answers the more likely class, except for slips.

    conviction: the root mean square of its margins before the first lesson.
    """
    rate = LearningRate(suggest_learning_rate(pool))
    worker = make_worker(
        pool,
        beta=beta,
        learning_rate=rate,
        seed=seed,
        conviction=conviction,
        habits=Habits(lapse=SLIPS),
    )
    return taught_at_random(pool, worker, steps, seed)


def taught_at_random(pool: Pool, worker: SimulatedWorker, steps: int, seed: int) -> SessionFit:
    """The fit to a worker who is shown random examples."""
    history = []
    for example in np.random.default_rng(seed).integers(0, pool.n, steps).tolist():
        x = pool.features[example]
        history.append(Shown(example, worker.answer(x), 0.5))
        worker.learn(x, int(pool.labels[example]))
    return fit_session(pool, history, LearningRate(suggest_learning_rate(pool)))


def drawn(rate: Callable[[np.random.Generator], float]) -> Session:
    return lambda pool, beta, rng: drawn_session(pool, beta, ANSWERS, seed_of(rng), rate(rng))


def firm(conviction: float) -> Session:
    return lambda pool, beta, rng: firm_session(pool, beta, ANSWERS, seed_of(rng), conviction)


def seed_of(rng: np.random.Generator) -> int:
    return int(rng.integers(1 << 30))


LEARNERS: dict[str, Session] = {
    "drawn, rates differ": drawn(lambda rng: 2 * float(np.exp(rng.normal(0, 1.2)))),
    "drawn, rates alike": drawn(lambda rng: 3.0),
    "firm": firm(0.0),
    "firm, opinions 0.3": firm(0.3),
    "firm, opinions 1": firm(1.0),
}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--groups", type=int, default=GROUPS, help=f"of each kind and β ({GROUPS})")


def main(options: Namespace) -> None:
    print(f"{'':20}  beta  group mean  interval      holds it  mean of single fits")
    pool, seeds = two_classes(), range(options.groups)
    for name, session in LEARNERS.items():
        for beta in BETAS:
            groups = [group_of(pool, session, beta, seed) for seed in seeds]
            print_row(name, [beta] * len(seeds), groups)
    bots = [bots_of(pool, seed) for seed in seeds]
    print_row("bots", [beta for beta, _ in bots], [fits for _, fits in bots])


def group_of(pool: Pool, session: Session, beta: float, seed: int) -> list[SessionFit]:
    rng = np.random.default_rng([seed, round(100 * beta)])
    return [session(pool, beta, rng) for _ in range(PEOPLE)]


def bots_of(pool: Pool, seed: int) -> tuple[float, list[SessionFit]]:
    """Bots of a rehearsal, who differ in β, and its mean."""
    rate = LearningRate(suggest_learning_rate(pool))
    bots = [engine.Population().worker(pool, rate, [seed, number]) for number in range(PEOPLE)]
    fits = [
        taught_at_random(pool, bot, ANSWERS, 1000 * seed + number)
        for number, bot in enumerate(bots)
    ]
    return mean(bot.beta for bot in bots), fits


def print_row(name: str, betas: list[float], groups: list[list[SessionFit]]) -> None:
    found = [estimate_group([[fit.surface] for fit in fits]) for fits in groups]
    held = sum(holds(one, beta) for one, beta in zip(found, betas, strict=True))
    low, high = mean(one.low for one in found), mean(one.high for one in found)
    singles = mean(fit.beta for fits in groups for fit in fits)
    print(
        f"{name:20}  {mean(betas):4.2f}  {mean(one.mean for one in found):10.2f}  {low:.2f} to {high:.2f}"
        f"  {held:3} of {len(found)}  {singles:19.2f}",
        flush=True,
    )


def holds(found: GroupEstimate, beta: float) -> bool:
    """The mean of a group is never exactly 0, so 0.02 stands for it."""
    return found.low <= max(beta, 0.02) <= found.high
