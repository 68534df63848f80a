"""What experiments teach with: archives of features, imported data sets, and the options that name them.

An archive is a NumPy file with X, y for text, or with X_teach, y_teach, X_eval, y_eval and optionally affinity for
images.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import re
from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Self
from zipfile import BadZipFile

import numpy as np

from teaching.engine import BadPool, LearningRate, Pool, suggest_learning_rate
from teaching.engine.arrays import FloatArray, IntArray
from teaching.engine.classes import class_numbers, likeliest

from .experiment import BadExperiment, Experiment

# As in the paper's human experiment.
EVALUATION_PER_CLASS = 50
NO_FEATURES = "Its evaluation images have no features of their own: part of the teaching pool was held out instead."


@dataclass(frozen=True)
class Labelled:
    """Features (n, d) and labels (n,), the classes from 0."""

    features: FloatArray
    labels: IntArray


@dataclass(frozen=True)
class Divided:
    """The teaching and the evaluation set, and the affinity graph of the teaching set if one is given."""

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
    """An archive with X_teach, y_teach, X_eval, y_eval and optionally the affinity of the teaching pool."""
    arrays = _read(path, ["X_teach", "y_teach", "X_eval", "y_eval"])
    return Divided(
        _labelled(path, arrays["X_teach"], arrays["y_teach"]),
        _labelled(path, arrays["X_eval"], arrays["y_eval"]),
        arrays.get("affinity"),
    )


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
    """The indices of up to this many random examples of each class."""
    classes = [rng.permutation(np.flatnonzero(labels == label)) for label in np.unique(labels)]
    return np.concatenate([places[:per_class] for places in classes])


def accuracy_of(concept: FloatArray, examples: Labelled) -> float:
    """The share of examples that a concept (k, d) classifies correctly."""
    said = likeliest(examples.features @ concept.T)
    return float(np.mean(said == examples.labels))


def digest(path: Path) -> str:
    """The first digits of a file's SHA-256."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def absolute_path(text: str) -> Path:
    """For argparse: the workers of a cluster have other working directories."""
    return Path(text).absolute()


# Pools with their evaluation sets


@dataclass(frozen=True)
class Material:
    """A saved pool and its evaluation set, by path: cheap to pickle."""

    title: str
    pool: Path
    evaluation: Path
    note: str = ""

    @property
    def slug(self) -> str:
        """For file names."""
        return "-".join(re.findall(r"\w+", self.title.lower()))

    def load(self) -> tuple[Pool, Labelled]:
        return _loaded(self.pool), read_labelled(self.evaluation)


@lru_cache(maxsize=4)
def _loaded(folder: Path) -> Pool:
    return Pool.load(folder)


def from_archive(path: Path, folder: Path) -> Material:
    """Material from an archive of features, centred by the mean of the teaching set.

    No bias is added: a constant 1 next to features of length ½ would dominate every step.
    """
    read = read_divided(path)
    centre = read.teaching.features.mean(axis=0)
    return _written(
        path.stem,
        Divided(
            Labelled(read.teaching.features - centre, read.teaching.labels),
            Labelled(read.evaluation.features - centre, read.evaluation.labels),
            read.affinity,
        ),
        folder / f"{path.stem}-{digest(path)}",
    )


def from_dataset(name: str, folder: Path) -> Material:
    """Material from the newest version of an imported data set: the only use of Django's database."""
    import django
    from django.apps import apps

    if not apps.ready:
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jedi_web.settings")
        django.setup()
    from studies.models import Dataset
    from teaching import pools

    dataset = Dataset.objects.filter(name=name).order_by("-version").first()
    if dataset is None:
        names = sorted(set(Dataset.objects.values_list("name", flat=True)))
        known = f"There are: {', '.join(names)}." if names else "None has been imported yet."
        raise BadExperiment(f"There is no data set {name!r}. {known}")
    pool, place = dataset.folder / "pool", folder / dataset.key
    features = pools.evaluation_features(dataset)
    if features is None:
        held = held_out(Pool.load(pool), dataset.seed)
        return _written(str(dataset), held, place, NO_FEATURES)
    labels = dict(dataset.examples.values_list("pk", "label"))
    evaluation = Labelled(
        np.array(list(features.values()), dtype=np.float64),
        np.array([labels[key] for key in features], dtype=np.intp),
    )
    return Material(str(dataset), pool, _saved(evaluation, place / "evaluation.npz"))


def held_out(pool: Pool, seed: int) -> Divided:
    """A balanced part of the pool as the evaluation set, for old data sets that have none with features."""
    rng = np.random.default_rng(seed)
    smaller = int(np.bincount(pool.labels).min())
    per_class = min(EVALUATION_PER_CLASS, smaller // 2)
    places = drawn_from_each_class(pool.labels, per_class, rng)
    rest = np.setdiff1d(np.arange(pool.n), places)
    return Divided(
        Labelled(pool.features[rest], pool.labels[rest]),
        Labelled(pool.features[places], pool.labels[places]),
    )


def _written(title: str, divided: Divided, folder: Path, note: str = "") -> Material:
    pool = folder / "pool"
    if not pool.exists():
        folder.mkdir(parents=True, exist_ok=True)
        teaching = divided.teaching
        Pool(teaching.features, teaching.labels, affinity=divided.affinity).save(pool)
    return Material(title, pool, _saved(divided.evaluation, folder / "evaluation.npz"), note)


def _saved(examples: Labelled, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, X=examples.features, y=examples.labels)
    return path


@dataclass(frozen=True, kw_only=True)
class TaughtExperiment(Experiment):
    """An experiment on such material. `seeds` is the number of workers; every condition gets the same ones."""

    seeds: int = 200
    features: tuple[Path, ...] = ()
    datasets: tuple[str, ...] = ()
    materials: tuple[Material, ...] = ()
    learning_rate: float | None = None
    conviction: float
    """the root mean square of a learner's first margins wᵀx over the pool"""

    @staticmethod
    def add_arguments(parser: ArgumentParser) -> None:
        parser.add_argument(
            "--features",
            nargs="+",
            type=absolute_path,
            metavar="PATH",
            help="archives with X_teach, y_teach, X_eval, y_eval and optionally affinity",
        )
        parser.add_argument(
            "--dataset", nargs="+", dest="datasets", metavar="NAME", help="imported data sets"
        )
        parser.add_argument("--workers", type=int, dest="seeds", help="for each condition (200)")
        parser.add_argument(
            "--learning-rate", type=float, help="η₀ (default: from the scale of the features)"
        )
        parser.add_argument(
            "--conviction",
            type=float,
            help="the first opinions, as a margin (0.3 of humans, 0.1 of estimators)",
        )

    def prepared(self, folder: Path) -> Self:
        """With pools and evaluation sets on disk."""
        if not (self.features or self.datasets):
            raise BadExperiment(
                "Name an imported data set with --dataset, or an archive of features with --features."
            )
        materials = [from_archive(path, folder) for path in self.features]
        materials += [from_dataset(name, folder) for name in self.datasets]
        return dataclasses.replace(self, materials=tuple(materials))

    def settings(self) -> dict[str, Any]:
        sources = {one.title: digest(one.evaluation) for one in self.materials}
        return super().settings() | {"materials": sources}

    def material(self, title: str) -> Material:
        return next(one for one in self.materials if one.title == title)

    def about(self, material: Material) -> list[str]:
        """The first sentences of a material's section."""
        pool, evaluation = material.load()
        facts = (
            f"{pool.n} teaching and {len(evaluation.labels)} evaluation examples, {pool.dimensions} features, "
            f"η₀ = {self.rate(pool).initial:.3g}. The target concept itself has an evaluation accuracy of "
            f"{100 * accuracy_of(pool.target, evaluation):.1f} %."
        )
        return [facts, material.note] if material.note else [facts]

    def rate(self, pool: Pool) -> LearningRate:
        """The study's learning rate."""
        return LearningRate(self.learning_rate or suggest_learning_rate(pool))
