"""What models believe of every example, as chances but for a common factor.

Firmness raises chances to a power. All of its values are whole or half numbers, so that powers are products and square
roots of what is there already: for any firmness an example takes one exponential, or none where a model has votes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray


@dataclass(frozen=True)
class Beliefs:
    """Of m models about n examples.

    `odds` are those of class 0 against class 1, (m, n); of more than two classes the chances of all, (m, k, n), each
    example's largest being 1.
    """

    odds: FloatArray
    k: int

    @classmethod
    def of_logits(cls, logits: FloatArray) -> Beliefs:
        """From logits (m, k, n)."""
        k = logits.shape[1]
        if k == 2:
            return cls.of_differences(logits[:, 0] - logits[:, 1])
        return cls(np.exp(logits - logits.max(axis=1, keepdims=True)), k)

    @classmethod
    def of_differences(cls, apart: FloatArray) -> Beliefs:
        """Of two classes, from how much higher the logits of class 0 are, (m, n)."""
        # Beyond the largest number nothing speaks for class 1.
        with np.errstate(over="ignore"):
            return cls(np.exp(apart), 2)

    @classmethod
    def of_votes(cls, votes: FloatArray) -> Beliefs:
        """From positive votes (m, k, n), in proportion to which classes are said."""
        k = votes.shape[1]
        if k == 2:
            return cls(votes[:, 0] / votes[:, 1], k)
        return cls(votes / votes.max(axis=1, keepdims=True), k)

    def chances(self, firmness: float = 1.0) -> FloatArray:
        """P of all classes for answers so firm, (m, k, n); of two classes that of class 1, (m, n)."""
        powers = np.empty(self.odds.shape)
        with np.errstate(over="ignore"):
            to_power(self.odds, firmness, out=powers)
        if self.k > 2:
            powers /= powers.sum(axis=1, keepdims=True)
            return powers
        powers += 1
        return np.divide(1.0, powers, out=powers)


def to_power(values: FloatArray, power: float, out: FloatArray) -> None:
    """values ≥ 0 to a power; whole and half ones from 1, which take less time than others, by products and roots."""
    whole, rest = divmod(power, 1)
    if whole < 1 or rest not in (0, 0.5):
        np.power(values, power, out=out)
    elif rest:
        np.multiply(powered(values, int(whole)), np.sqrt(values, out=out), out=out)
    else:
        np.copyto(out, powered(values, int(whole)))


def powered(values: FloatArray, times: int) -> FloatArray:
    """values to a whole power from 1, by squaring."""
    if times == 1:
        return values
    half = powered(values, times // 2)
    squared = half * half
    return np.multiply(squared, values, out=squared) if times % 2 else squared
