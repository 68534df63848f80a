"""The target concept w*, how far to trust it, and which extractor serves it best.

Everything that looks at labels — the choice of features, of the penalty, the concept itself — is
repeated inside each fold, on the other folds only. The accuracy is thus that of images which
nothing had seen.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from image_datasets.extractors import base
from image_datasets.extractors.registry import EXTRACTORS
from teaching.engine.arrays import FloatArray, IntArray
from teaching.engine.classes import likeliest, softmax
from teaching.engine.concept import losses_of, ridge_logistic

from .similarity import Fold, Similarity, SimilarityCount, share

FOLDS = 5
# λ per example. Features have a length of about one. The weakest penalty is a floor on purpose:
# classes that a plane separates would take ever longer concepts, under which all examples look
# equally certain and the teacher has nothing left to choose by.
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
    """λ per example that all folds together prefer, by log loss: accuracy does not see the length of w*,
    but the teacher's score does, through log 1/P*_y"""
    log_losses: tuple[float, ...]
    """one per entry of PENALTIES"""
    likeness: Similarity | None = None
    """what the same folds say about similar images, if it was asked for"""

    def right(self, labels: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Which examples the concept gets right out of fold, (n,)."""
        numbers = base.checked_labels(labels, len(self.probabilities))
        return np.asarray(likeliest(self.probabilities) == numbers)

    def as_json(self) -> dict[str, Any]:
        """Plain numbers and lists."""
        return asdict(self) | {"probabilities": self.probabilities.round(6).tolist()}

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> "Accuracy":
        """What `as_json` gave, also after its way through a file."""
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
    """One extractor in the comparison; `accuracy` is there unless something is missing."""

    name: str
    title: str
    accuracy: Accuracy | None
    missing: str | None

    def as_json(self) -> dict[str, Any]:
        """Plain numbers, lists and strings."""
        return asdict(self) | {"accuracy": self.accuracy.as_json() if self.accuracy else None}

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> "Candidate":
        accuracy = Accuracy.from_json(row["accuracy"]) if row["accuracy"] else None
        return cls(row["name"], row["title"], accuracy, row["missing"])


@dataclass(frozen=True)
class Comparison:
    """All extractors, in the order of the registry."""

    candidates: tuple[Candidate, ...]

    @property
    def accuracies(self) -> dict[str, Accuracy]:
        """By name, of those that are installed."""
        return {c.name: c.accuracy for c in self.candidates if c.accuracy}

    def best(self, among: Collection[str] | None = None) -> str:
        """The name of the most accurate one; the lowest log loss among equals."""
        measured = [
            (accuracy.mean, -accuracy.log_loss, name)
            for name, accuracy in self.accuracies.items()
            if among is None or name in among
        ]
        if not measured:
            raise base.BadDescriptions("No extractor has descriptions; describe the images first.")
        return max(measured, key=lambda row: row[:2])[2]


# From the rows to learn from and the rows held out to the features of both.
FeaturesOfFold = Callable[[IntArray, IntArray], tuple[FloatArray, FloatArray]]


def with_bias(features: FloatArray) -> FloatArray:
    """Features (n, d) with a constant column of ones at the end."""
    return np.column_stack([features, np.ones(len(features))])


def fit_target(features: FloatArray, labels: npt.ArrayLike, penalty: float) -> FloatArray:
    """W* of the teaching pool, (k, d + 1) with the bias last: multinomial regression with a ridge penalty.

    `features` (n, d) are centred; `labels` (n,) are class numbers. The penalty, λ per example, is the
    one that an `Accuracy` found best. The bias goes free: a penalty on it would pull the concept
    towards balanced classes.
    """
    n, d = features.shape
    ridge = np.append(np.full(d, penalty * n), 0.0)
    return ridge_logistic(with_bias(features), base.checked_labels(labels, n), ridge)


def cross_validated_accuracy(
    extractor: base.Extractor,
    descriptions: base.Description,
    labels: npt.ArrayLike,
    seed: int = 0,
    *,
    progress: base.Progress = base.no_progress,
    cancelled: base.CancelCheck = base.never,
) -> Accuracy:
    """How well a target concept on this extractor's features tells the classes apart.

    `descriptions` (n, …) and `labels` (n,) are the teaching pool's. The interval is Wilson's on
    the pooled out-of-fold predictions: each example counts once, it stays within [0, 1] and it
    makes sense at 100 %. Repeating the folds would smooth the estimate but add no example, and an
    interval from repeats would be far too narrow. Folds share most of what they learn from, so
    where there is nothing to learn the interval covers one half in four of five pools, not in 19
    of 20.
    """
    y = base.checked_labels(labels, len(descriptions))

    def features_of(train: IntArray, held_out: IntArray) -> tuple[FloatArray, FloatArray]:
        if cancelled():
            raise base.Cancelled("The comparison was cancelled.")
        # All at once, not part by part: the parts of large descriptions would be copies.
        features = extractor.fit(descriptions[train], y[train], seed).transform(descriptions)
        return features[train], features[held_out]

    return _cross_validated(y, seed, features_of, progress, SimilarityCount(y))


def accuracy_of_features(
    features: FloatArray, labels: npt.ArrayLike, seed: int = 0, *, with_similarity: bool = False
) -> Accuracy:
    """The same for features (n, d) that no label had a part in."""
    y = base.checked_labels(labels, len(features))
    similarity = SimilarityCount(y) if with_similarity else None
    return _cross_validated(y, seed, _fixed(features), similarity=similarity)


def compare(
    descriptions: Mapping[str, base.Description],
    labels: npt.ArrayLike,
    seed: int = 0,
    *,
    progress: base.Progress = base.no_progress,
    cancelled: base.CancelCheck = base.never,
) -> Comparison:
    """Every extractor whose kind of descriptions is there, or the remedy if an extra is missing.

    `descriptions` maps a kind to descriptions (n, …) of the teaching pool.
    """
    y = np.asarray(labels)
    candidates = []
    for name, extractor in EXTRACTORS.items():
        if extractor.kind in descriptions:
            described = descriptions[extractor.kind]
            candidates.append(_measured(extractor, described, y, seed, progress, cancelled))
        elif (missing := extractor.missing()) is not None:
            candidates.append(Candidate(name, extractor.title, None, missing))
    return Comparison(tuple(candidates))


def stratified_folds(labels: IntArray, seed: int) -> IntArray:
    """The fold of each example, shape (n,): every fold has its share of each class."""
    classes, counts = np.unique(labels, return_counts=True)
    if counts.min() < 2:
        raise base.BadDescriptions("Cross-validation needs two examples of each class; add images.")
    rng = np.random.default_rng(seed)
    fold = np.empty(len(labels), dtype=np.intp)
    for label in classes:
        members = rng.permutation(np.flatnonzero(labels == label))
        fold[members] = np.arange(len(members)) % min(FOLDS, counts.min())
    return fold


def _fixed(features: FloatArray) -> FeaturesOfFold:
    return lambda train, held_out: (features[train], features[held_out])


def _measured(
    extractor: base.Extractor,
    descriptions: base.Description,
    labels: npt.NDArray[Any],
    seed: int,
    progress: base.Progress,
    cancelled: base.CancelCheck,
) -> Candidate:
    def named(stage: str, done: float) -> None:
        progress(f"{stage} {extractor.name}", done)

    accuracy = cross_validated_accuracy(
        extractor, descriptions, labels, seed, progress=named, cancelled=cancelled
    )
    return Candidate(extractor.name, extractor.title, accuracy, extractor.missing())


def _cross_validated(
    labels: IntArray,
    seed: int,
    features_of: FeaturesOfFold,
    progress: base.Progress = base.no_progress,
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

    The penalty of a fold is the one that the other folds prefer, so that no example has a say in
    how it is judged itself.
    """
    losses = np.stack([losses_of(logits.T, labels) for logits in scores])
    chosen = np.empty(scores.shape[1:])
    for number in range(int(fold.max()) + 1):
        mine = fold == number
        chosen[mine] = scores[int(losses[:, ~mine].mean(axis=1).argmin()), mine]
    said = likeliest(chosen)
    right = said == labels
    by_penalty = losses.mean(axis=1)
    correct = share(int(right.sum()), len(labels))
    return Accuracy(
        mean=correct.mean,
        low=correct.low,
        high=correct.high,
        log_loss=float(losses_of(chosen.T, labels).mean()),
        folds=tuple(float(right[fold == number].mean()) for number in range(int(fold.max()) + 1)),
        confusion=_confusion(labels, said, scores.shape[-1]),
        probabilities=softmax(chosen),
        penalty=PENALTIES[int(by_penalty.argmin())],
        log_losses=tuple(float(loss) for loss in by_penalty),
    )


def _confusion(labels: IntArray, said: IntArray, k: int) -> tuple[tuple[int, ...], ...]:
    counts = np.zeros((k, k), dtype=np.intp)
    np.add.at(counts, (labels, said), 1)
    return tuple(tuple(row) for row in counts.tolist())
