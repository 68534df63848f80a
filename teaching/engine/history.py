"""What happened so far: the steps as the caller stores them, and as arrays."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from .arrays import BoolArray, FloatArray, IntArray
from .classes import SUM_TOLERANCE, unfolded
from .errors import BadHistory
from .pool import Pool


@dataclass(frozen=True, slots=True)
class Shown:
    """One step of a history.

    `example` is an index into the pool, `answer` the class 0 … k−1 that the learner gave, `p` the
    estimate that the `Choice` of this step carried, made before the answer: the probabilities of
    all k classes. With two classes an answer may be −1 or +1 as well, and `p` the P(class 1) alone.
    """

    example: int
    answer: int
    p: float | Sequence[float]


@dataclass(frozen=True, slots=True)
class Past:
    """A checked history as arrays.

    `examples`, `answers` (class numbers) and `probabilities` (t−1, k) have one row per step. `taught`
    lists the distinct examples in ascending order, shape (l,), and `newest` the last answer to
    each.
    """

    examples: IntArray
    answers: IntArray
    probabilities: FloatArray
    taught: IntArray
    newest: IntArray

    @classmethod
    def read(cls, history: Sequence[Shown], pool: Pool) -> Self:
        """Check a history against the pool from which it was taught."""
        k = pool.class_count
        try:
            examples = _integers([step.example for step in history])
            answers = _integers([step.answer for step in history])
            p = np.array([step.p for step in history], dtype=np.float64)
            probabilities = unfolded(p, k) if history else np.empty((0, k))
        except (AttributeError, TypeError, ValueError) as error:
            raise BadHistory(
                "A history is a sequence of Shown(example, answer, p): two whole numbers, and a "
                f"probability or one for each class ({error})."
            ) from error
        if k == 2:
            answers[answers == -1] = 0
        _refuse(_is_outside(examples, pool.n), f"shows an example outside 0 … {pool.n - 1}")
        _refuse(_is_outside(answers, k), f"has an answer that is no class 0 … {k - 1}")
        within = (probabilities >= 0) & (probabilities <= 1)
        if not within.all():
            _refuse(np.asarray(~within.all(axis=1)), "has a p outside [0, 1]")
        off = np.abs(probabilities @ np.ones(k) - 1)
        _refuse(off > SUM_TOLERANCE, "has probabilities that do not add up to 1")
        # A later answer to the same example takes the place of an earlier one.
        newest = dict(zip(examples.tolist(), answers.tolist(), strict=True))
        taught, last = np.array(sorted(newest.items()), dtype=np.intp).reshape(-1, 2).T
        return cls(examples, answers, probabilities, taught, last)

    def __len__(self) -> int:
        return self.examples.size


def _integers(values: list[int]) -> IntArray:
    array = np.array(values) if values else np.empty(0, dtype=np.intp)
    if array.dtype.kind not in "iu":
        raise TypeError(f"found {array.dtype} for a whole number")
    return array.astype(np.intp, copy=False)


def _is_outside(numbers: IntArray, count: int) -> BoolArray:
    """Which are not in 0 … count − 1: read without a sign, negative ones are larger than any other."""
    return np.asarray(numbers.view(np.uintp) >= count)


def _refuse(wrong: BoolArray, complaint: str) -> None:
    if wrong.any():
        raise BadHistory(f"Step {int(np.argmax(wrong)) + 1} of the history {complaint}.")
