"""What teaching is for: that a learner's logits agree with the labels of the pool.

An evaluation asks on which side an example lies, not how far. With z̃_j the logits of example j less their mean over the
classes and t_j = (e_y − 1/k)/√(1 − 1/k), the agreement is

    mean_j t_jᵀz̃_j / √(mean_j ‖z̃_j‖² + o²),

the cosine between logits and labels, whatever their scale: 1 − its square is what least squares leave of the
labels at the scale that suits best. o is for what a learner thought before the first lesson, which nobody knows: it
adds to the length of the logits and points nowhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray, IntArray

# The root mean square of the differences between two logits that come from first opinions.
OPINIONS = 0.1


@dataclass(frozen=True)
class Agreement:
    """Of m models: the means `products` of t_jᵀz̃_j and `squares` of ‖z̃_j‖², (m,) each, of k classes."""

    products: FloatArray
    squares: FloatArray
    k: int

    @classmethod
    def of(cls, logits: FloatArray, truth: FloatArray) -> Agreement:
        """From logits (m, k, n) and the labels as t (k, n)."""
        return cls.of_centred(logits - logits.mean(axis=1, keepdims=True), truth)

    @classmethod
    def of_centred(cls, centred: FloatArray, truth: FloatArray) -> Agreement:
        """The same from logits less their mean over the classes."""
        k, n = truth.shape
        flat = centred.reshape(len(centred), k * n)
        return cls(np.asarray(flat @ truth.ravel() / n), np.asarray(np.vecdot(flat, flat) / n), k)

    @classmethod
    def of_differences(cls, apart: FloatArray, truth: FloatArray) -> Agreement:
        """Of two classes, from how much higher the logits of class 1 are, (m, n); of these half speaks for it."""
        n = truth.shape[1]
        return cls(
            np.asarray(apart @ truth[1] / n), np.asarray(np.vecdot(apart, apart) / (2 * n)), 2
        )

    def of_models(self, which: IntArray) -> Agreement:
        """That of some of the models, also of one more than once."""
        return Agreement(self.products[which], self.squares[which], self.k)

    def scaled(self, by: FloatArray) -> Agreement:
        """That of logits so many times as long, for models (m,)."""
        return Agreement(by * self.products, by**2 * self.squares, self.k)

    @property
    def now(self) -> FloatArray:
        """The agreement of each model, (m,)."""
        return self._cosine(self.products, self.squares)

    def rises(self, products: FloatArray, squares: FloatArray) -> FloatArray:
        """How much higher it is if so much is added to products and squares, (m, n) each, which are used up."""
        products += self.products[:, None]
        squares += self.squares[:, None]
        after = self._cosine(products, np.maximum(squares, 0.0, out=squares))
        after -= self.now[:, None]
        return after

    def _cosine(self, products: FloatArray, squares: FloatArray) -> FloatArray:
        return np.asarray(products / np.sqrt(squares + OPINIONS**2 * (self.k - 1) / 2))
