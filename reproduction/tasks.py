"""The data sets of the synthetic learners, as the paper describes them."""

from dataclasses import dataclass

GAUSSIAN = "gaussian"


@dataclass(frozen=True)
class SyntheticTask:
    """How long a data set is taught with and how fast the learning rate falls."""

    title: str
    steps: int
    decay: float


TASKS = {
    GAUSSIAN: SyntheticTask("10-D Gaussian", 500, 20),
    "comp_vs_sci": SyntheticTask("Comp. vs. Sci", 300, 200),
    "rec_vs_talk": SyntheticTask("Rec. vs. Talk", 300, 200),
}
