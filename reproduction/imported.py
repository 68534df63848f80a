"""An imported data set for the human experiment: its pool, and the features of its evaluation images.

The border to Django; everything behind it works on files.
"""

from __future__ import annotations

import numpy as np

from studies.models import Dataset
from teaching import pools
from teaching.engine import Pool

from .experiment import BadExperiment
from .features import EVALUATION_PER_CLASS, Divided, Labelled, drawn_from_each_class


def find(name: str) -> Dataset:
    """The newest version of a data set."""
    found = Dataset.objects.filter(name=name).order_by("-version").first()
    if found is None:
        names = sorted(set(Dataset.objects.values_list("name", flat=True)))
        known = f"There are: {', '.join(names)}." if names else "None has been imported yet."
        raise BadExperiment(f"There is no data set {name!r}. {known}")
    return found


def evaluation_set(dataset: Dataset) -> Labelled | None:
    """The evaluation images as the pool sees them; None where an old data set does not have them."""
    features = pools.evaluation_features(dataset)
    if features is None:
        return None
    labels = dict(dataset.examples.values_list("pk", "label"))
    rows = np.array(list(features.values()), dtype=np.float64)
    return Labelled(rows, np.array([labels[key] for key in features], dtype=np.intp))


def held_out(pool: Pool, seed: int) -> Divided:
    """A part of the pool as evaluation set, as many of each class, for data sets without one."""
    rng = np.random.default_rng(seed)
    smaller = int(np.bincount(pool.labels).min())
    per_class = min(EVALUATION_PER_CLASS, smaller // 2)
    places = drawn_from_each_class(pool.labels, per_class, rng)
    rest = np.setdiff1d(np.arange(pool.n), places)
    return Divided(
        Labelled(pool.features[rest], pool.labels[rest]),
        Labelled(pool.features[places], pool.labels[places]),
    )
