"""What happened so far: the steps as the caller stores them, and as arrays."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from .arrays import BoolArray, FloatArray, IntArray
from .errors import BadHistory


@dataclass(frozen=True, slots=True)
class Shown:
    """One step of a history.

    `example` is an index into the pool, `answer` the label in {−1, +1} that the learner
    gave, `p` the estimate that the `Choice` of this step carried, made before the answer.
    """

    example: int
    answer: int
    p: float


@dataclass(frozen=True, slots=True)
class Past:
    """A checked history as arrays.

    `examples`, `answers` in {−1, +1} and `p` have one entry per step, shape (t−1,). `taught`
    lists the distinct examples in ascending order, shape (l,), and `newest` the last answer to
    each.
    """

    examples: IntArray
    answers: IntArray
    p: FloatArray
    taught: IntArray
    newest: IntArray

    @classmethod
    def read(cls, history: Sequence[Shown], n: int) -> Self:
        """Check a history against a pool of n examples."""
        try:
            examples = [step.example for step in history]
            answers = [step.answer for step in history]
            steps = _integers(examples), _integers(answers)
            p = np.array([step.p for step in history], dtype=np.float64)
        except (AttributeError, TypeError, ValueError) as error:
            raise BadHistory(
                "A history is a sequence of Shown(example, answer, p): two whole numbers and a "
                f"probability ({error})."
            ) from error
        _refuse((steps[0] < 0) | (steps[0] >= n), f"shows an example outside 0 … {n - 1}")
        _refuse(np.abs(steps[1]) != 1, "has an answer other than −1 and +1")
        _refuse(~((p >= 0) & (p <= 1)), "has a p outside [0, 1]")
        # A later answer to the same example takes the place of an earlier one.
        newest = dict(zip(examples, answers, strict=True))
        taught = sorted(newest)
        return cls(*steps, p, _integers(taught), _integers([newest[i] for i in taught]))

    def __len__(self) -> int:
        return self.examples.size


def _integers(values: list[int]) -> IntArray:
    array = np.array(values) if values else np.empty(0, dtype=np.intp)
    if array.dtype.kind not in "iu":
        raise TypeError(f"found {array.dtype} for a whole number")
    return array.astype(np.intp, copy=False)


def _refuse(wrong: BoolArray, complaint: str) -> None:
    if wrong.any():
        raise BadHistory(f"Step {int(np.argmax(wrong)) + 1} of the history {complaint}.")
