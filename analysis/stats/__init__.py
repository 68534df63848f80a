"""The statistics of a comparison between teachers: pure functions over numbers.

`describe` summarises a sample with its confidence intervals, `comparisons` tests for differences and says how large
they are, and `power` how many participants it takes to see one. SciPy computes what it has; nothing here warns or
raises for thin data: what cannot be said is None.
"""

from .comparisons import (
    HypothesisTest,
    PairwiseComparison,
    RankCorrelation,
    compare,
    holm,
    kruskal_wallis,
    spearman,
    welch_anova,
)
from .describe import (
    BOOTSTRAP_SEED,
    CONFIDENCE,
    FEW,
    RESAMPLES,
    TOO_FEW,
    Box,
    Interval,
    SampleSummary,
    box,
    known,
    mean,
    median,
    median_interval,
    quantile_of_classes,
    standard_deviation,
    summarise,
    wilson_interval,
)
from .power import detectable_effect

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
    "RankCorrelation",
    "SampleSummary",
    "box",
    "compare",
    "detectable_effect",
    "holm",
    "known",
    "kruskal_wallis",
    "mean",
    "median",
    "median_interval",
    "quantile_of_classes",
    "spearman",
    "standard_deviation",
    "summarise",
    "welch_anova",
    "wilson_interval",
]
