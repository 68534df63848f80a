"""How often the 95 % intervals of a mean cover it: Student's t and the bootstrap (BCa), at several sizes of a sample.

    python -m bench.intervals                      1,000 samples of each size and population
    python -m bench.intervals --samples 200        fewer, for a first look

`analysis.stats` takes Student's interval below 20 values, where the bootstrap's covers the mean too rarely. From 20 on
the two are close, and the bootstrap's follows the skew of the values.
"""

import argparse
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from analysis.stats.describe import Interval, bootstrap_interval, t_interval

SIZES = (6, 12, 20, 40)
Draw = Callable[[np.random.Generator, tuple[int, int]], NDArray[np.float64]]
# With the mean that an interval should cover: gains look like the first, and response times like the second.
POPULATIONS: dict[str, tuple[Draw, float]] = {
    "normal": (lambda rng, shape: rng.normal(0.0, 1.0, shape), 0.0),
    "skewed (exponential)": (lambda rng, shape: rng.exponential(1.0, shape), 1.0),
}
WAYS: dict[str, Callable[[tuple[float, ...]], Interval]] = {
    "t": t_interval,
    # Around its cache: no sample comes twice.
    "BCa": bootstrap_interval.__wrapped__,
}


def coverage(way: Callable[..., Interval], samples: NDArray[np.float64], truth: float) -> float:
    intervals = (way(tuple(sample)) for sample in samples)
    return float(np.mean([one.low <= truth <= one.high for one in intervals]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=1000, help="of each size and population")
    options = parser.parse_args()
    print(f"{'population':22}{'n':>4}" + "".join(f"{way:>8}" for way in WAYS))
    for name, (draw, truth) in POPULATIONS.items():
        for size in SIZES:
            samples = draw(np.random.default_rng(size), (options.samples, size))
            shares = [coverage(way, samples, truth) for way in WAYS.values()]
            print(f"{name:22}{size:>4}" + "".join(f"{100 * share:7.1f}%" for share in shares))


if __name__ == "__main__":
    main()
