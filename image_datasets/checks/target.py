"""The target concept w*: its fit, its cross-validated accuracy, and the comparison of extractors.

Everything that uses labels (the choice of features, the penalty, the concept itself) is repeated inside each fold, on
the other folds only. The accuracy is thus that on unseen images. The same folds measure whether similar images are of
one class.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from analysis.stats import wilson_interval
from image_datasets.extractors.base import (
    BadDescriptions,
    CancelCheck,
    Cancelled,
    Description,
    Extractor,
    Progress,
    checked_labels,
    never,
    no_progress,
)
from image_datasets.extractors.registry import EXTRACTORS
from teaching.engine.arrays import FloatArray, IntArray
from teaching.engine.classes import likeliest, softmax
from teaching.engine.concept import losses_of, ridge_logistic
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
    """One fold of a cross-validation: training and held-out examples, and their features."""

    train: IntArray
    held_out: IntArray
    learned: FloatArray
    """(train, d)"""
    unseen: FloatArray
    """(held out, d)"""


@dataclass(frozen=True)
class Similarity:
    """How similar the images of a class are."""

    neighbours: Share
    """how often the nearest training image of a held-out image has the same class"""
    homophily: float
    """the share of edge weight between training and held-out images that connects images of one class"""

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> "Similarity":
        return cls(Share(**row["neighbours"]), row["homophily"])


@dataclass
class SimilarityCount:
    """Sums over the folds of a cross-validation.

    Extractors may choose features by the training labels, which moves training images closer to their own class. Only
    pairs of a held-out and a training image are counted: with random labels these agree at chance level.
    """

    labels: npt.NDArray[Any]
    right: int = 0
    within: float = 0.0
    weight: float = 0.0
    counted: int = field(default=0)

    def add(self, fold: Fold) -> None:
        held_out, train = self.labels[fold.held_out], self.labels[fold.train]
        nearest = nearest_training_row(fold.unseen, fold.learned)
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


def nearest_training_row(unseen: FloatArray, learned: FloatArray) -> IntArray:
    """The row of `learned` (m, d) that is nearest to each row of `unseen` (n, d); (n,)."""
    squares = np.einsum("ij,ij->i", learned, learned)
    return np.asarray(np.argmin(squares - 2 * (unseen @ learned.T), axis=1), dtype=np.intp)


def neighbour_accuracy(features: FloatArray, labels: npt.NDArray[Any], k: int = 1) -> Share:
    """How often most of the k nearest neighbours have an example's class; features (n, d) computed without labels."""
    nearest, _ = nearest_neighbours(features, min(k, len(labels) - 1))
    classes = np.unique(labels)
    votes = np.stack([(labels[nearest] == one).sum(axis=1) for one in classes], axis=1)
    mine = np.take_along_axis(votes, np.searchsorted(classes, labels)[:, None], axis=1)[:, 0]
    # A tie is not a majority.
    rivals = np.where(classes[None, :] == labels[:, None], -1, votes).max(axis=1)
    return share(int(np.count_nonzero(mine > rivals)), len(labels))


def homophily_by_chance(labels: npt.NDArray[Any]) -> float:
    """How often two images have the same class if labels are random."""
    _, counts = np.unique(labels, return_counts=True)
    return float(np.square(counts / len(labels)).sum())


def share(right: int, n: int) -> Share:
    """`right` of n with Wilson's 95 % interval."""
    interval = wilson_interval(right, n)
    if interval is None:
        raise BadDescriptions("There are no images to count; add images.")
    return Share(right / n, interval.low, interval.high, n)


FOLDS = 5
# λ per example. Features have a length of about one. The smallest penalty is a lower bound on purpose: for linearly
# separable classes the norm of the concept would grow without bound, all examples would look equally certain, and
# the teacher could not rank them.
PENALTIES = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1)


@dataclass(frozen=True)
class Accuracy:
    """Cross-validated: every number comes from images that were held out."""

    mean: float
    low: float
    high: float
    log_loss: float
    folds: tuple[float, ...]
    """the accuracy of each fold"""
    confusion: tuple[tuple[int, ...], ...]
    """rows are the true class, columns the predicted one, class 0 first"""
    probabilities: FloatArray
    """(n, k): out of fold, of every example"""
    penalty: float
    """λ per example with the smallest log loss over all folds; accuracy does not depend on the norm of w*, but the
    teacher's score does, through log 1/P*_y"""
    log_losses: tuple[float, ...]
    """one per entry of PENALTIES"""
    likeness: Similarity | None = None
    """whether similar images are of one class, if it was measured"""

    def right(self, labels: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Which examples are predicted correctly out of fold, (n,)."""
        numbers = checked_labels(labels, len(self.probabilities))
        return np.asarray(likeliest(self.probabilities) == numbers)

    def as_json(self) -> dict[str, Any]:
        """Plain numbers and lists."""
        return asdict(self) | {"probabilities": self.probabilities.round(6).tolist()}

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> "Accuracy":
        """The inverse of `as_json`."""
        return cls(
            **row
            | {
                "folds": tuple(row["folds"]),
                "confusion": tuple(tuple(counts) for counts in row["confusion"]),
                "probabilities": np.array(row["probabilities"]),
                "log_losses": tuple(row["log_losses"]),
                "likeness": Similarity.from_json(row["likeness"]) if row["likeness"] else None,
            }
        )


@dataclass(frozen=True)
class Candidate:
    """One extractor in the comparison; `accuracy` is None if something is not installed."""

    name: str
    title: str
    accuracy: Accuracy | None
    missing: str | None


@dataclass(frozen=True)
class Comparison:
    """All extractors, in the order of the registry."""

    candidates: tuple[Candidate, ...]

    @property
    def accuracies(self) -> dict[str, Accuracy]:
        """By name; only of installed extractors."""
        return {c.name: c.accuracy for c in self.candidates if c.accuracy}

    def best(self, among: Collection[str] | None = None) -> str:
        """The name of the most accurate extractor; ties are broken by log loss."""
        measured = [
            (accuracy.mean, -accuracy.log_loss, name)
            for name, accuracy in self.accuracies.items()
            if among is None or name in among
        ]
        if not measured:
            raise BadDescriptions("No extractor has descriptions; describe the images first.")
        return max(measured, key=lambda row: row[:2])[2]


# From training rows and held-out rows to the features of both.
FeaturesOfFold = Callable[[IntArray, IntArray], tuple[FloatArray, FloatArray]]


def with_bias(features: FloatArray) -> FloatArray:
    """Features (n, d) with a constant column of ones at the end."""
    return np.column_stack([features, np.ones(len(features))])


def fit_target(features: FloatArray, labels: npt.ArrayLike, penalty: float) -> FloatArray:
    """W* of the teaching pool, (k, d + 1) with the bias last: multinomial regression with a ridge penalty.

    `features` (n, d) are centred; `labels` (n,) are class numbers; the penalty, λ per example, comes from an
    `Accuracy`. The bias is not penalised: a penalty would pull the concept towards balanced classes.
    """
    n, d = features.shape
    ridge = np.append(np.full(d, penalty * n), 0.0)
    return ridge_logistic(with_bias(features), checked_labels(labels, n), ridge)


def cross_validated_accuracy(
    extractor: Extractor,
    descriptions: Description,
    labels: npt.ArrayLike,
    seed: int = 0,
    *,
    progress: Progress = no_progress,
    cancelled: CancelCheck = never,
) -> Accuracy:
    """The accuracy of a target concept on this extractor's features.

    `descriptions` (n, …) and `labels` (n,) are the teaching pool's. The interval is Wilson's on the pooled out-of-fold
    predictions: each example counts once, the interval stays within [0, 1] and is valid at 100 %. Repeating the folds
    would smooth the estimate but add no example, and an interval from repeats would be far too narrow. Because folds
    share most of their training data, the interval covers one half in four of five pools, not in 19 of 20, if there is
    nothing to learn.
    """
    y = checked_labels(labels, len(descriptions))

    def features_of(train: IntArray, held_out: IntArray) -> tuple[FloatArray, FloatArray]:
        if cancelled():
            raise Cancelled("The comparison was cancelled.")
        # All at once: indexing the held-out rows would copy large descriptions.
        features = extractor.fit(descriptions[train], y[train], seed).transform(descriptions)
        return features[train], features[held_out]

    return _cross_validated(y, seed, features_of, progress, SimilarityCount(y))


def accuracy_of_features(
    features: FloatArray, labels: npt.ArrayLike, seed: int = 0, *, with_similarity: bool = False
) -> Accuracy:
    """The same for features (n, d) that were computed without labels."""
    y = checked_labels(labels, len(features))
    similarity = SimilarityCount(y) if with_similarity else None
    return _cross_validated(y, seed, _fixed(features), similarity=similarity)


def compare(
    descriptions: Mapping[str, Description],
    labels: npt.ArrayLike,
    seed: int = 0,
    *,
    progress: Progress = no_progress,
    cancelled: CancelCheck = never,
) -> Comparison:
    """The accuracy of every extractor whose descriptions are given; others are listed if something is not installed.

    `descriptions` maps a kind to descriptions (n, …) of the teaching pool.
    """
    candidates = []
    count = sum(extractor.kind in descriptions for extractor in EXTRACTORS.values())
    compared = 0
    for name, extractor in EXTRACTORS.items():
        missing = extractor.missing()
        if extractor.kind in descriptions:

            def report(stage: str, done: float, name: str = name, before: int = compared) -> None:
                progress(f"{stage} {name}", (before + done) / count)

            accuracy = cross_validated_accuracy(
                extractor,
                descriptions[extractor.kind],
                labels,
                seed,
                progress=report,
                cancelled=cancelled,
            )
            candidates.append(Candidate(name, extractor.title, accuracy, missing))
            compared += 1
        elif missing is not None:
            candidates.append(Candidate(name, extractor.title, None, missing))
    return Comparison(tuple(candidates))


def stratified_folds(labels: IntArray, seed: int) -> IntArray:
    """The fold of each example, shape (n,): every fold has its share of each class."""
    classes, counts = np.unique(labels, return_counts=True)
    if counts.min() < 2:
        raise BadDescriptions("Cross-validation needs two examples of each class; add images.")
    rng = np.random.default_rng(seed)
    fold = np.empty(len(labels), dtype=np.intp)
    for label in classes:
        members = rng.permutation(np.flatnonzero(labels == label))
        fold[members] = np.arange(len(members)) % min(FOLDS, counts.min())
    return fold


def _fixed(features: FloatArray) -> FeaturesOfFold:
    return lambda train, held_out: (features[train], features[held_out])


def _cross_validated(
    labels: IntArray,
    seed: int,
    features_of: FeaturesOfFold,
    progress: Progress = no_progress,
    similarity: SimilarityCount | None = None,
) -> Accuracy:
    fold = stratified_folds(labels, seed)
    count = int(fold.max()) + 1
    k = int(labels.max()) + 1
    scores: FloatArray = np.empty((len(PENALTIES), len(labels), k))
    for number in range(count):
        train, held_out = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        learned, unseen = features_of(train, held_out)
        scores[:, held_out] = _scores(learned, labels[train], unseen)
        if similarity:
            similarity.add(Fold(train, held_out, learned, unseen))
        progress("cross-validate", (number + 1) / count)
    accuracy = _accuracy(scores, labels, fold)
    return replace(accuracy, likeness=similarity.total) if similarity else accuracy


def _scores(learned: FloatArray, labels: IntArray, unseen: FloatArray) -> FloatArray:
    """W*x of unseen examples by the concept of every penalty, (penalties, m, k)."""
    rows = with_bias(unseen)
    return np.stack([rows @ fit_target(learned, labels, penalty).T for penalty in PENALTIES])


def _accuracy(scores: FloatArray, labels: IntArray, fold: IntArray) -> Accuracy:
    """From the out-of-fold scores W*x of every penalty, (penalties, n, k).

    The penalty of a fold is chosen by the other folds, so no example influences how it is judged.
    """
    losses = np.stack([losses_of(logits.T, labels) for logits in scores])
    chosen = np.empty(scores.shape[1:])
    for number in range(int(fold.max()) + 1):
        mine = fold == number
        chosen[mine] = scores[int(losses[:, ~mine].mean(axis=1).argmin()), mine]
    predicted = likeliest(chosen)
    right = predicted == labels
    by_penalty = losses.mean(axis=1)
    correct = share(int(right.sum()), len(labels))
    return Accuracy(
        mean=correct.mean,
        low=correct.low,
        high=correct.high,
        log_loss=float(losses_of(chosen.T, labels).mean()),
        folds=tuple(float(right[fold == number].mean()) for number in range(int(fold.max()) + 1)),
        confusion=_confusion(labels, predicted, scores.shape[-1]),
        probabilities=softmax(chosen),
        penalty=PENALTIES[int(by_penalty.argmin())],
        log_losses=tuple(float(loss) for loss in by_penalty),
    )


def _confusion(labels: IntArray, predicted: IntArray, k: int) -> tuple[tuple[int, ...], ...]:
    counts = np.zeros((k, k), dtype=np.intp)
    np.add.at(counts, (labels, predicted), 1)
    return tuple(tuple(row) for row in counts.tolist())
