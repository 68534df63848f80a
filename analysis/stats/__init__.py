"""The statistics of a comparison between teachers: pure functions over numbers.

`describe` summarises a sample, `comparisons` has tests and effect sizes, `power` sample sizes, `predictions` scores of
predicted answers. Nothing here warns or raises for small samples: a value that cannot be
computed is None.
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
from .predictions import (
    CalibrationBin,
    calibration,
    leave_one_out_accuracy,
    log_loss,
    loss_reduction,
    running_accuracy,
)

__all__ = [
    "BOOTSTRAP_SEED",
    "CONFIDENCE",
    "FEW",
    "RESAMPLES",
    "TOO_FEW",
    "Box",
    "CalibrationBin",
    "HypothesisTest",
    "Interval",
    "PairwiseComparison",
    "RankCorrelation",
    "SampleSummary",
    "box",
    "calibration",
    "compare",
    "detectable_effect",
    "holm",
    "known",
    "kruskal_wallis",
    "leave_one_out_accuracy",
    "log_loss",
    "loss_reduction",
    "mean",
    "median",
    "median_interval",
    "quantile_of_classes",
    "running_accuracy",
    "spearman",
    "standard_deviation",
    "summarise",
    "welch_anova",
    "wilson_interval",
]
