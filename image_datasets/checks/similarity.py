"""Whether similar images are of one class, judged by images whose labels had no part in the features."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from analysis.stats import wilson_interval
from image_datasets.extractors.base import BadDescriptions
from teaching.engine.arrays import FloatArray, IntArray
from teaching.engine.graph import neighbour_graph
from teaching.engine.neighbours import nearest_neighbours


@dataclass(frozen=True)
class Share:
    """A share of n with its 95 % interval."""

    mean: float
    low: float
    high: float
    n: int


@dataclass(frozen=True)
class Fold:
    """One fold of a cross-validation: what was learned from, what was held out, and the features of both."""

    train: IntArray
    held_out: IntArray
    learned: FloatArray
    """(train, d)"""
    unseen: FloatArray
    """(held out, d)"""


@dataclass(frozen=True)
class Similarity:
    """How alike the images of a class are."""

    neighbours: Share
    """how often the nearest image that was learned from has the class of an image that was held out"""
    homophily: float
    """the share of the graph's weight between the two that joins images of one class"""

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> "Similarity":
        return cls(Share(**row["neighbours"]), row["homophily"])


@dataclass
class SimilarityCount:
    """Adds up the folds of a cross-validation.

    Extractors may choose features by the labels of what they learn from, which then lie closer to their own class than
    they would otherwise. Only pairs of an unseen and a learned image are counted: under random labels they agree as
    often as chance has it.
    """

    labels: npt.NDArray[Any]
    right: int = 0
    within: float = 0.0
    weight: float = 0.0
    counted: int = field(default=0)

    def add(self, fold: Fold) -> None:
        held_out, train = self.labels[fold.held_out], self.labels[fold.train]
        nearest = nearest_learned(fold.unseen, fold.learned)
        self.right += int(np.count_nonzero(train[nearest] == held_out))
        self.counted += len(held_out)
        edges = neighbour_graph(np.vstack([fold.unseen, fold.learned])).affinity.tocoo()
        crosses = (edges.row < len(held_out)) & (edges.col >= len(held_out))
        same = held_out[edges.row[crosses]] == train[edges.col[crosses] - len(held_out)]
        self.within += float(edges.data[crosses][same].sum())
        self.weight += float(edges.data[crosses].sum())

    @property
    def total(self) -> Similarity:
        return Similarity(
            share(self.right, self.counted), self.within / self.weight if self.weight else 0.0
        )


def nearest_learned(unseen: FloatArray, learned: FloatArray) -> IntArray:
    """The row of `learned` (m, d) that is nearest to each row of `unseen` (n, d); (n,)."""
    squares = np.einsum("ij,ij->i", learned, learned)
    return np.asarray(np.argmin(squares - 2 * (unseen @ learned.T), axis=1), dtype=np.intp)


def neighbour_accuracy(features: FloatArray, labels: npt.NDArray[Any], k: int = 1) -> Share:
    """How often most of the k nearest others have an example's class; features (n, d) that no label had a part in."""
    nearest, _ = nearest_neighbours(features, min(k, len(labels) - 1))
    classes = np.unique(labels)
    votes = np.stack([(labels[nearest] == one).sum(axis=1) for one in classes], axis=1)
    mine = np.take_along_axis(votes, np.searchsorted(classes, labels)[:, None], axis=1)[:, 0]
    # A tie is no majority: one vote more than every other class.
    rivals = np.where(classes[None, :] == labels[:, None], -1, votes).max(axis=1)
    return share(int(np.count_nonzero(mine > rivals)), len(labels))


def homophily_by_chance(labels: npt.NDArray[Any]) -> float:
    """How often two images have one class if classes are dealt at random."""
    _, counts = np.unique(labels, return_counts=True)
    return float(np.square(counts / len(labels)).sum())


def share(right: int, n: int) -> Share:
    """`right` of n with Wilson's 95 % interval."""
    interval = wilson_interval(right, n)
    if interval is None:
        raise BadDescriptions("There are no images to count; add images.")
    return Share(right / n, interval.low, interval.high, n)
