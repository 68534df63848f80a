"""How often 95 % intervals of a mean cover it: Student's t and the bootstrap (BCa), by sample size.

`analysis.stats` uses Student's interval below 20 values, where the bootstrap's coverage is too low. From 20 on the two
are close, and the bootstrap's follows the skew of the values.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable

import numpy as np

from analysis.stats.describe import Interval, bootstrap_interval, t_interval
from teaching.engine.arrays import FloatArray

SIZES = (6, 12, 20, 40)
# With the true mean. Gains look like the first population, response times like the second.
POPULATIONS: dict[str, tuple[Callable[[np.random.Generator, tuple[int, int]], FloatArray], float]]
POPULATIONS = {
    "normal": (lambda rng, shape: rng.normal(0.0, 1.0, shape), 0.0),
    "skewed (exponential)": (lambda rng, shape: rng.exponential(1.0, shape), 1.0),
}
WAYS: dict[str, Callable[[tuple[float, ...]], Interval]] = {
    "t": t_interval,
    # Without its cache, because no sample comes twice.
    "BCa": bootstrap_interval.__wrapped__,
}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--samples", type=int, default=1000, help="of each size and population (1000)"
    )


def main(options: Namespace) -> None:
    print(f"{'population':22}{'n':>4}" + "".join(f"{way:>8}" for way in WAYS))
    for name, (draw, truth) in POPULATIONS.items():
        for size in SIZES:
            samples = draw(np.random.default_rng(size), (options.samples, size))
            shares = [coverage(way, samples, truth) for way in WAYS.values()]
            print(f"{name:22}{size:>4}" + "".join(f"{100 * share:7.1f}%" for share in shares))


def coverage(way: Callable[..., Interval], samples: FloatArray, truth: float) -> float:
    intervals = (way(tuple(sample)) for sample in samples)
    return float(np.mean([one.low <= truth <= one.high for one in intervals]))
