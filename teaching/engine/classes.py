"""The classes of a pool: numbers 0 … k−1 inside the engine, whichever spelling they come in.

Two classes may be spelled −1 and +1, with a target w of shape (d,) and one p = P(class 1) for each
example. Here, at the border, −1 becomes class 0, +1 class 1, w the matrix W = (−w/2, +w/2) and p
the vector (1−p, p); everything behind it knows k classes only.
"""

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from .arrays import FloatArray, IntArray
from .errors import BadPool, BadSetting

MAX_CLASSES = 20
# Tolerance for the sum of probabilities that were stored in a file.
SUM_TOLERANCE = 1e-6


def class_numbers(
    labels: npt.ArrayLike, n: int, classes: int | None = None
) -> tuple[IntArray, int]:
    """The labels of n examples as class numbers (n,), and how many classes there are."""
    numbers = _whole_numbers(labels, n)
    if (numbers == -1).any():
        _refuse(numbers, (numbers != 1) & (numbers != -1), "beside −1 every label is −1 or +1")
        numbers = (numbers > 0).astype(np.intp)
    k = _class_count(numbers, classes)
    _refuse(numbers, (numbers < 0) | (numbers >= k), f"{k} classes have the labels 0 … {k - 1}")
    counts = np.bincount(numbers, minlength=k)
    if not counts.all():
        raise BadPool(
            f"Class {int(np.argmin(counts))} of {k} has no example; add one or number the classes "
            "that are there from 0."
        )
    return numbers, k


def concept_matrix(concept: FloatArray) -> FloatArray:
    """A concept as a matrix (k, d): as it is, or (−w/2, +w/2) for a vector w of shape (d,)."""
    return concept if concept.ndim == 2 else np.stack([-concept / 2, concept / 2])


def concept_vector(concept: FloatArray) -> FloatArray:
    """w of shape (d,), by which two classes (2, d) are told apart: wᵀx ≥ 0 says class 1."""
    return np.asarray(concept[1] - concept[0])


def contrasts(k: int) -> FloatArray:
    """B, shape (k, k−1): what W = BΘ says about k−1 differences between classes, none preferred.

    The rows of such a W add up to 0, and BᵀB = ½I, so that Θ is w where there are two classes.
    """
    basis = np.zeros((k, k - 1))
    for column in range(k - 1):
        basis[: column + 1, column] = -1.0
        basis[column + 1, column] = column + 1
    return np.asarray(basis / np.sqrt(2 * (basis**2).sum(axis=0)))


def one_hot(numbers: IntArray, k: int) -> FloatArray:
    """1 in the column of each number, shape (…, k)."""
    return np.asarray(numbers[..., None] == np.arange(k), dtype=np.float64)


def of_class(values: FloatArray, numbers: IntArray) -> FloatArray:
    """From values (n, k) those of each row's class, shape (n,)."""
    return np.asarray(values[np.arange(len(values)), numbers])


def completed(others: FloatArray) -> FloatArray:
    """Probabilities (n, k) from those of the classes 1 … k−1, which rounding may have left [0, 1]."""
    probabilities = np.empty((len(others), others.shape[1] + 1))
    first, rest = probabilities[:, 0], probabilities[:, 1:]
    np.maximum(others, 0.0, out=rest)
    np.minimum(rest, 1.0, out=rest)
    # A product with ones takes less time than a sum over so few columns.
    np.subtract(1.0, rest @ np.ones(others.shape[1]), out=first)
    np.maximum(first, 0.0, out=first)
    return probabilities


def softmax(logits: FloatArray, axis: int = -1) -> FloatArray:
    """Probabilities from logits; the classes are the last axis unless another one is named."""
    if logits.shape[axis] == 2:
        # Much faster than reductions over so short an axis.
        difference = np.diff(logits, axis=axis)
        return np.asarray(expit(np.concatenate([-difference, difference], axis=axis)))
    powers = np.exp(logits - logits.max(axis=axis, keepdims=True))
    return np.asarray(powers / powers.sum(axis=axis, keepdims=True))


def less_truth(probabilities: FloatArray, numbers: IntArray) -> FloatArray:
    """δ = P − e_y, shape (…, k), from P (…, k) and class numbers (…).

    The entry of the true class is minus the sum of the others, which keeps its digits where P_y is
    next to 1.
    """
    is_true = numbers[..., None] == np.arange(probabilities.shape[-1])
    others = np.where(is_true, 0.0, probabilities)
    return np.where(is_true, -others.sum(axis=-1, keepdims=True), others)


def likeliest(values: FloatArray) -> IntArray:
    """The class of the largest of values (…, k); of equals the last, as a tie of two answers +1."""
    last = values.shape[-1] - 1
    return np.asarray(last - np.argmax(values[..., ::-1], axis=-1))


def folded(probabilities: FloatArray) -> FloatArray:
    """As callers read them: P(class 1), shape (…), of two classes, and (…, k) of more."""
    return probabilities[..., 1] if probabilities.shape[-1] == 2 else probabilities


def unfolded(p: FloatArray, k: int) -> FloatArray:
    """The probabilities of all classes, (t, k), of t steps; of two, P(class 1) alone (t,) will do."""
    if k == 2 and p.ndim == 1:
        both = np.empty((len(p), 2))
        np.subtract(1.0, p, out=both[:, 0])
        both[:, 1] = p
        return both
    if p.shape != (len(p), k):
        raise ValueError(f"{k} classes need {k} probabilities")
    return p


def checked_class_count(k: int) -> int:
    """Refuse a number of classes that the engine does not serve."""
    if not 2 <= k <= MAX_CLASSES:
        raise BadSetting(f"There are 2 to {MAX_CLASSES} classes, not {k}.")
    return k


def _whole_numbers(labels: npt.ArrayLike, n: int) -> IntArray:
    try:
        given = np.array(labels, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise BadPool("Labels are numbers; turn class names into 0 … k−1 first.") from error
    if given.shape != (n,):
        raise BadPool(f"Labels have shape {given.shape}; {n} examples need ({n},).")
    whole = np.isfinite(given) & (np.round(given) == given)
    _refuse(given, ~whole | (given < -1), "labels are the class numbers 0 … k−1")
    return given.astype(np.intp)


def _class_count(numbers: IntArray, classes: int | None) -> int:
    k = int(numbers.max()) + 1 if classes is None else classes
    if k > MAX_CLASSES or (classes is not None and k < 2):
        raise BadPool(f"A pool has 2 to {MAX_CLASSES} classes, not {k}.")
    return max(k, 2)


def _refuse(labels: npt.NDArray[np.generic], wrong: npt.NDArray[np.bool_], rule: str) -> None:
    if wrong.any():
        at = int(np.argmax(wrong))
        raise BadPool(f"Example {at} has the label {labels[at]:g}; {rule}.")
