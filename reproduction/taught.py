"""What experiments share that teach with images: archives of features and imported data sets."""

from __future__ import annotations

import dataclasses
from argparse import ArgumentParser
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from teaching.engine import LearningRate, Pool, suggest_learning_rate

from .experiment import BadExperiment, Experiment
from .features import accuracy_of, digest
from .material import Material, from_archive, from_dataset


@dataclass(frozen=True, kw_only=True)
class TaughtExperiment(Experiment):
    """`seeds` is the number of workers; every condition gets the same ones."""

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
            type=Path,
            metavar="PATH",
            help="archives with X_teach, y_teach, X_eval, y_eval and perhaps affinity",
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
            help="how firm the first opinions are, as a margin (0.3 of humans, 0.1 of estimators)",
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
        """The sentences that every report begins a material with."""
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
