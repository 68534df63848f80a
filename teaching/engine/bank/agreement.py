"""The objective of Tracked: the agreement of a learner's logits with the labels of the pool.

An evaluation asks which class an example belongs to, not how far it lies from the boundary. With z̃_j the logits of
example j minus their mean over the classes and t_j = (e_y − 1/k)/√(1 − 1/k), the agreement is

    mean_j t_jᵀz̃_j / √(mean_j ‖z̃_j‖² + o²),

the cosine between logits and labels, which does not depend on their scale. o allows for the unknown logits before the
first lesson: it adds to the length and points nowhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray

# Root mean square difference between two logits before the first lesson.
INITIAL_SPREAD = 0.1


@dataclass(frozen=True)
class Agreement:
    """The means of t_jᵀz̃_j (`products`) and of ‖z̃_j‖² (`squares`) of some models, of the same shape, for k classes."""

    products: FloatArray
    squares: FloatArray
    k: int

    @classmethod
    def of(cls, logits: FloatArray, truth: FloatArray) -> Agreement:
        """For logits (m, k, n) and the labels as t (k, n)."""
        k, n = truth.shape
        flat = (logits - logits.mean(axis=1, keepdims=True)).reshape(len(logits), k * n)
        return cls(np.asarray(flat @ truth.ravel() / n), np.asarray(np.vecdot(flat, flat) / n), k)

    def scaled(self, factor: FloatArray) -> Agreement:
        """After the logits are multiplied by a factor."""
        return Agreement(factor * self.products, factor**2 * self.squares, self.k)

    @property
    def value(self) -> FloatArray:
        floor = INITIAL_SPREAD**2 * (self.k - 1) / 2
        return np.asarray(self.products / np.sqrt(np.maximum(self.squares, 0.0) + floor))

    def rises(self, products: FloatArray, squares: FloatArray) -> FloatArray:
        """The change of the value of models (m,) when so much is added for each example, (m, n)."""
        after = Agreement(
            self.products[:, None] + products, self.squares[:, None] + squares, self.k
        )
        return after.value - self.value[:, None]
