"""The ceiling of a data set: how many of the evaluation images its target concept gets right."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from studies.models import Dataset

from .pool_files import damage_of

NO_FEATURES = (
    "How many of the evaluation images can be got right is not known: this data set was made without features of them. "
    "Import the images again to find out."
)


@dataclass(frozen=True)
class Ceiling:
    """The target concept's share of right answers on the n evaluation images, with its 95 % interval."""

    mean: float
    low: float
    high: float
    n: int

    @property
    def sentence(self) -> str:
        shares = (f"{100 * share:.0f}" for share in (self.mean, self.low, self.high))
        mean, low, high = shares
        return (
            f"Somebody who learned the target concept perfectly would get {mean} % of the evaluation images right "
            f"(95 % interval {low}–{high} %, {self.n} images)."
        )


def ceiling_of(dataset: Dataset) -> Ceiling | None:
    """None for a data set that was made without features of its evaluation images, or whose files are damaged."""
    return None if damage_of(dataset) else _ceiling(dataset.pk, dataset.key)


def ceiling_sentence(dataset: Dataset) -> str:
    """The ceiling, or why it is not known."""
    ceiling = ceiling_of(dataset)
    return ceiling.sentence if ceiling else NO_FEATURES


@lru_cache(maxsize=64)
def _ceiling(dataset_id: int, key: str) -> Ceiling | None:
    # Numerics take a moment to load, and a server starts without them.
    from analysis.stats import wilson_interval

    from . import pools
    from .choice import load_pool
    from .engine.classes import likeliest

    dataset = Dataset.objects.get(pk=dataset_id, key=key)
    features = pools.evaluation_features(dataset)
    if features is None:
        return None
    labels = dict(dataset.examples.values_list("pk", "label"))
    target = load_pool(dataset).pool.target
    right = sum(int(likeliest(target @ row)) == labels[pk] for pk, row in features.items())
    interval = wilson_interval(right, len(features))
    if interval is None:
        return None
    return Ceiling(right / len(features), interval.low, interval.high, len(features))
