"""`python -m tests.teaching.recovery` prints how well the mean β of simulated groups is found again.

Every group has 100 learners with 30 answers each, taught at random. Drawn answers are those of the paper, a tenth of
them guesses; learning rates are alike, or differ between people by a factor of about three. Firm answers are what the
learner finds likelier, slips in 2 % apart, as those of a rehearsal's bots, who begin with opinions whose margins have a
root mean square of 0.3. All learners of a group have one β; the bots of the last group have those of a rehearsal.
"""

import sys
from collections.abc import Callable
from statistics import mean

import numpy as np

from teaching import engine
from teaching.decay import Fit
from teaching.engine import LearningRate, Pool, suggest_learning_rate
from teaching.population import Population, population
from tests.teaching.learners import firm_session, session_of, taught_at_random, told_apart

PEOPLE, ANSWERS, GROUPS = 100, 30, 8
BETAS = (0.0, 0.25, 0.5, 0.75, 0.9)
Session = Callable[[Pool, float, np.random.Generator], Fit]


def drawn(rate: Callable[[np.random.Generator], float]) -> Session:
    return lambda pool, beta, rng: session_of(pool, beta, ANSWERS, seed_of(rng), rate(rng))


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


def main() -> None:
    sys.stdout.write(f"{'':20}  beta  group mean  interval      holds it  mean of single fits\n")
    pool = told_apart()
    for name, session in LEARNERS.items():
        for beta in BETAS:
            groups = [group_of(pool, session, beta, seed) for seed in range(GROUPS)]
            told(name, [beta] * GROUPS, groups)
    bots = [bots_of(pool, seed) for seed in range(GROUPS)]
    told("bots", [beta for beta, _ in bots], [fits for _, fits in bots])


def group_of(pool: Pool, session: Session, beta: float, seed: int) -> list[Fit]:
    rng = np.random.default_rng([seed, round(100 * beta)])
    return [session(pool, beta, rng) for _ in range(PEOPLE)]


def bots_of(pool: Pool, seed: int) -> tuple[float, list[Fit]]:
    """Bots of a rehearsal, who differ in β, and its mean."""
    rate = LearningRate(suggest_learning_rate(pool))
    bots = [engine.Population().worker(pool, rate, [seed, number]) for number in range(PEOPLE)]
    fits = [
        taught_at_random(pool, bot, ANSWERS, 1000 * seed + number)
        for number, bot in enumerate(bots)
    ]
    return mean(bot.beta for bot in bots), fits


def told(name: str, betas: list[float], groups: list[list[Fit]]) -> None:
    found = [population([[fit.surface] for fit in fits]) for fits in groups]
    held = sum(holds(one, beta) for one, beta in zip(found, betas, strict=True))
    low, high = mean(one.interval.low for one in found), mean(one.interval.high for one in found)
    singles = mean(fit.beta for fits in groups for fit in fits)
    sys.stdout.write(
        f"{name:20}  {mean(betas):4.2f}  {mean(one.mean for one in found):10.2f}  {low:.2f} to {high:.2f}"
        f"  {held:3} of {len(found)}  {singles:19.2f}\n"
    )
    sys.stdout.flush()


def holds(found: Population, beta: float) -> bool:
    """No mean of a group is quite 0: a small one stands for it."""
    return found.interval.low <= max(beta, 0.02) <= found.interval.high


if __name__ == "__main__":
    main()
