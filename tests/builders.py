"""Plain Python builders with defaults: tests say only what matters to them."""

import io
import itertools
from collections.abc import Collection, Sequence
from functools import cache
from typing import Any

import numpy as np
from django.db import connection
from PIL import Image

from image_datasets.imports.creation import Draft, LabelledImage, create_dataset
from studies.models import Dataset, Participant, Study
from studies.recruitment import Recruitment
from studies.services import join

_numbers = itertools.count(1)


@cache
def jpeg(colour: tuple[int, int, int] = (200, 180, 150), size: int = 32) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (size, size), colour).save(buffer, "JPEG")
    return buffer.getvalue()


def make_dataset(
    *,
    teaching: int = 40,
    evaluation: int = 20,
    seed: int = 7,
    separation: float = 1.0,
    classes: Sequence[str] = ("wild", "domestic"),
    **fields: Any,
) -> Dataset:
    """A Gaussian cloud in the plane for every class, with a small plain picture for every example."""
    rng = np.random.default_rng(seed)
    corners = separation * corners_of(len(classes))

    def labels(count: int) -> np.ndarray:
        return rng.permutation(np.tile(np.arange(len(classes)), count)[:count])

    def images(values: np.ndarray) -> list[LabelledImage]:
        return [
            LabelledImage(jpeg((int(shade), 120, 90)), int(label))
            for shade, label in zip(rng.integers(0, 255, len(values)), values, strict=True)
        ]

    teaching_labels, evaluation_labels = labels(teaching), labels(evaluation)
    features = corners[teaching_labels] + rng.standard_normal((teaching, 2))
    noise = np.random.default_rng(seed).standard_normal((evaluation, 2))
    unseen = corners[evaluation_labels] + noise
    settings: dict[str, Any] = {
        "name": f"Data set {next(_numbers)}",
        "classes": classes,
        "seed": seed,
    }
    draft = Draft(
        **(settings | fields),
        teaching=images(teaching_labels),
        features=features,
        evaluation=images(evaluation_labels),
        evaluation_features=unseen,
    )
    return create_dataset(draft)


def corners_of(classes: int) -> np.ndarray:
    """Where the clouds lie, (k, 2): two on the diagonal, more on a circle."""
    if classes == 2:
        return np.array([[-1.0, -1.0], [1.0, 1.0]])
    angles = 2 * np.pi * np.arange(classes) / classes
    return 3 * np.column_stack([np.cos(angles), np.sin(angles)])


# Short sessions: one short memory trial more than is dropped, few steps, few evaluation images.
SHORT: dict[str, Any] = {
    "memory_trials": 2,
    "memory_max_length": 3,
    "memory_practice": False,
    "cold_start": 3,
    "short_steps": 6,
    "medium_steps": 7,
    "long_steps": 8,
    "other_steps": 6,
    "evaluation_size": 6,
}


def make_study(*, dataset: Dataset | None = None, short: bool = True, **fields: Any) -> Study:
    number = next(_numbers)
    settings: dict[str, Any] = {
        "title": f"Study {number}",
        "slug": f"study-{number}",
        "state": Study.State.OPEN,
        "consent": "Do you agree to take part?",
        "seed": 11,
    }
    study = Study(
        dataset=dataset or make_dataset(), **(settings | (SHORT if short else {}) | fields)
    )
    study.full_clean()
    study.save()
    return study


def make_participant(study: Study | None = None, **recruitment: Any) -> Participant:
    participant, _ = join(study=study or make_study(), recruitment=Recruitment(**recruitment))
    return participant


def database_snapshot(but: Collection[str] = ()) -> dict[str, list[str]]:
    """Every row of every table, except the tables named."""
    with connection.cursor() as cursor:
        tables = connection.introspection.table_names(cursor)
        snapshot = {}
        for table in sorted(set(tables) - set(but)):
            cursor.execute(f'SELECT * FROM "{table}"')
            snapshot[table] = sorted(map(repr, cursor.fetchall()))
    return snapshot
