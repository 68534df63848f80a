"""`python -m tests.teaching.recovery` prints how well the mean β of simulated groups is found again.

Every group has 100 learners of one β with 30 answers each, taught at random, a tenth of them guesses. Learning rates
are alike, or differ between people by a factor of about three.
"""

import sys
from collections.abc import Callable
from statistics import mean

import numpy as np

from teaching.decay import Fit
from teaching.engine import Pool
from teaching.population import Population, population
from tests.teaching.learners import session_of, told_apart

PEOPLE, ANSWERS, GROUPS = 100, 30, 8
RATES: dict[str, Callable[[np.random.Generator], float]] = {
    "rates differ": lambda rng: 2 * float(np.exp(rng.normal(0, 1.2))),
    "rates alike": lambda rng: 3.0,
}


def main() -> None:
    sys.stdout.write("                beta  group mean  intervals hold it  mean of single fits\n")
    pool = told_apart()
    for name in RATES:
        for beta in (0.0, 0.25, 0.5, 0.75, 0.9):
            told(name, beta, [group_of(pool, name, beta, seed) for seed in range(GROUPS)])


def group_of(pool: Pool, name: str, beta: float, seed: int) -> list[Fit]:
    rng = np.random.default_rng([seed, round(100 * beta)])
    return [
        session_of(pool, beta, ANSWERS, int(rng.integers(1 << 30)), RATES[name](rng))
        for _ in range(PEOPLE)
    ]


def told(name: str, beta: float, groups: list[list[Fit]]) -> None:
    found = [population([[fit.surface] for fit in fits]) for fits in groups]
    held = sum(holds(one, beta) for one in found)
    singles = mean(fit.beta for fits in groups for fit in fits)
    middle = mean(one.mean for one in found)
    sys.stdout.write(
        f"{name:14}  {beta:4.2f}  {middle:10.2f}  {held:8} of {len(found)}  {singles:18.2f}\n"
    )


def holds(found: Population, beta: float) -> bool:
    """No mean of a group is quite 0: the nearest on the grid stands for it."""
    return found.interval.low <= max(beta, 0.02) <= found.interval.high


if __name__ == "__main__":
    main()
