"""The statistics of a comparison between teachers: pure functions over numbers.

`spread` and `describe` summarise a sample, `intervals` has its confidence intervals, `comparisons` tests for
differences, `effects` says how large they are, and `power` how many participants it takes to see one. SciPy computes
what it has; nothing here warns or raises for thin data: what cannot be said is None.
"""

from .comparisons import (
    HypothesisTest,
    PairwiseComparison,
    compare,
    holm,
    kruskal_wallis,
    spearman,
    welch_anova,
)
from .describe import Box, SampleSummary, box, quantile_of_classes, summarise
from .intervals import BOOTSTRAP_SEED, CONFIDENCE, RESAMPLES, Interval, wilson_interval
from .power import detectable_effect
from .spread import FEW, TOO_FEW, known, mean, standard_deviation

__all__ = [
    "BOOTSTRAP_SEED",
    "CONFIDENCE",
    "FEW",
    "RESAMPLES",
    "TOO_FEW",
    "Box",
    "HypothesisTest",
    "Interval",
    "PairwiseComparison",
    "SampleSummary",
    "box",
    "compare",
    "detectable_effect",
    "holm",
    "known",
    "kruskal_wallis",
    "mean",
    "quantile_of_classes",
    "spearman",
    "standard_deviation",
    "summarise",
    "welch_anova",
    "wilson_interval",
]
