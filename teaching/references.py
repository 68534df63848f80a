"""A picture of each class, shown with its name before the learning part if a study asks for it."""

from __future__ import annotations

from functools import lru_cache

from studies.models import Dataset, Example, Participant
from studies.stages import Json, example_url


def describe_references(participant: Participant) -> list[Json]:
    """In the order of the participant's buttons."""
    dataset = participant.study_as_joined.dataset
    pictures = references_of(dataset)
    descriptions = {one.display_name: one.description for one in dataset.classes.all()}
    return [
        {
            "name": name,
            "description": descriptions[name],
            "image": {
                "url": example_url(participant, pictures[dataset.class_names.index(name)]),
                "alt": f"A picture of the class {name}",
            },
        }
        for name in participant.classes
    ]


def references_of(dataset: Dataset) -> list[Example]:
    """The picture of every class, class 0 first: the researcher's choice, or else the most typical one."""
    typical = typical_examples(dataset)
    chosen = dataset.classes.select_related("reference")
    return [one.reference or typical[one.index] for one in chosen]


def typical_examples(dataset: Dataset) -> list[Example]:
    """The image of each class in the pool that is nearest to the mean of the class, class 0 first."""
    examples = Example.objects.in_bulk(_typical_ids(dataset.pk, dataset.key))
    return sorted(examples.values(), key=lambda example: example.label)


@lru_cache(maxsize=64)
def _typical_ids(dataset_id: int, key: str) -> list[int]:
    # NumPy is slow to import, and the server starts without it.
    import numpy as np

    from .choice import load_pool

    dataset = Dataset.objects.get(pk=dataset_id, key=key)
    teaching = load_pool(dataset)
    pool, found = teaching.pool, []
    for label in np.unique(pool.labels):
        rows = np.flatnonzero(pool.labels == label)
        distances = np.square(pool.features[rows] - pool.features[rows].mean(axis=0)).sum(axis=1)
        found.append(teaching.example_ids[rows[distances.argmin()]])
    return found
