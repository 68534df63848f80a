"""Prepared features in NumPy archives: X, y for text; X_teach, y_teach, X_eval, y_eval for images."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from teaching.engine import BadPool
from teaching.engine.arrays import FloatArray, IntArray
from teaching.engine.classes import class_numbers, likeliest

from .experiment import BadExperiment

# As in the paper's human experiment.
EVALUATION_PER_CLASS = 50


@dataclass(frozen=True)
class Labelled:
    """Features (n, d) and labels (n,), the classes from 0."""

    features: FloatArray
    labels: IntArray


@dataclass(frozen=True)
class Divided:
    """What is taught with, what is evaluated on, and the graph of the pool where one is given."""

    teaching: Labelled
    evaluation: Labelled
    affinity: FloatArray | None = None


@lru_cache(maxsize=4)
def read_labelled(path: Path) -> Labelled:
    """An archive with X (n, d) and y (n,)."""
    arrays = _read(path, ["X", "y"])
    return _labelled(path, arrays["X"], arrays["y"])


@lru_cache(maxsize=4)
def read_divided(path: Path) -> Divided:
    """An archive with X_teach, y_teach, X_eval, y_eval and perhaps the affinity of the teaching pool."""
    arrays = _read(path, ["X_teach", "y_teach", "X_eval", "y_eval"])
    return Divided(
        _labelled(path, arrays["X_teach"], arrays["y_teach"]),
        _labelled(path, arrays["X_eval"], arrays["y_eval"]),
        arrays.get("affinity"),
    )


def divided(examples: Labelled, share: float, rng: np.random.Generator) -> Divided:
    """A random split with this share for teaching."""
    order = rng.permutation(len(examples.labels))
    cut = round(share * len(order))
    teaching, evaluation = (
        Labelled(examples.features[part], examples.labels[part])
        for part in (order[:cut], order[cut:])
    )
    return Divided(teaching, evaluation)


def drawn_from_each_class(labels: IntArray, per_class: int, rng: np.random.Generator) -> IntArray:
    """The places of up to so many random examples of each class."""
    classes = [rng.permutation(np.flatnonzero(labels == label)) for label in np.unique(labels)]
    return np.concatenate([places[:per_class] for places in classes])


def accuracy_of(concept: FloatArray, examples: Labelled) -> float:
    """The share of examples that a concept (k, d) puts into their class."""
    said = likeliest(examples.features @ concept.T)
    return float(np.mean(said == examples.labels))


def digest(path: Path) -> str:
    """The beginning of a file's SHA-256, which tells whether it is the same file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def _read(path: Path, needed: Sequence[str]) -> dict[str, FloatArray]:
    try:
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            arrays = {
                name: np.asarray(file[name], dtype=np.float64)
                for name in [*needed, "affinity"]
                if name in file.files
            }
    except (OSError, ValueError, EOFError, BadZipFile) as error:
        raise BadExperiment(f"{path} is no NumPy archive of features ({error}).") from error
    missing = [name for name in needed if name not in arrays]
    if missing:
        raise BadExperiment(
            f"{path} has no {', '.join(missing)}. Save one with np.savez(path, {'=…, '.join(needed)}=…)."
        )
    return arrays


def _labelled(path: Path, features: FloatArray, labels: FloatArray) -> Labelled:
    if features.ndim != 2 or labels.shape != (len(features),):
        raise BadExperiment(f"{path}: features are (n, d) and labels (n,), one for each row.")
    try:
        numbers, _ = class_numbers(labels, len(features))
    except BadPool as error:
        raise BadExperiment(f"{path}: {error}") from error
    return Labelled(features, numbers)
