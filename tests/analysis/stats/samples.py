"""Samples that the tests of the statistics share."""

import numpy as np

_rng = np.random.default_rng(3)
GROUPS = [
    tuple(_rng.normal(0.10, 0.05, 14)),
    tuple(_rng.normal(0.16, 0.12, 9)),
    tuple(_rng.normal(0.08, 0.20, 21)),
]
SKEWED = tuple(_rng.exponential(1.0, 30))
SAME, ONE, NONE = (0.1,) * 6, (0.2,), ()
