"""What a mixture expects to be said to examples, over every model in every style."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import expit

from ..arrays import FloatArray, Places
from .base import softmax
from .mixture import Mixture

# A Gaussian lies within this many standard deviations nine times out of ten.
NINE_IN_TEN = 1.6449
# So many examples are looked at at a time: what all models believe of them takes some tens of megabytes.
AT_A_TIME = 4_000


@dataclass(frozen=True)
class Expected:
    """Of e examples, from what each of r rows of the mixture's layout would say if it did not guess, (k, r, e).

    Of two classes `chances` has class 1 alone, (1, r, e).
    """

    mixture: Mixture
    chances: FloatArray

    @classmethod
    def of(cls, mixture: Mixture, at: Places) -> Expected:
        """For the answer that comes next, if it is to one of these examples."""
        layout, leaning = mixture.layout, mixture.seen.leaning[-1][:, None, None]
        each = [member.followed.logits_now(at).transpose(2, 0, 1) for member in mixture.members]
        now = np.concatenate(each, axis=1)
        if mixture.seen.k == 2:
            now, leaning = now[1:] - now[:1], leaning[1:] - leaning[:1]
        # No model is outside; to look at that takes longer than to take what is there.
        logits = np.take(now, layout.models, axis=1, mode="clip")
        logits *= layout.firmness[:, None]
        logits += leaning * layout.leans[:, None]
        found = expit(logits, out=logits) if mixture.seen.k == 2 else softmax(logits, axis=0)
        return cls(mixture, found)

    @cached_property
    def probabilities(self) -> FloatArray:
        """P = Σ π (g/k + (1−g)c) over all members, (e, k)."""
        guesses, k = self.mixture.layout.guesses, self.mixture.seen.k
        mean = self._summed(self.chances, 1 - guesses) + self._weights @ guesses / k
        return _by_example(1 - mean, mean) if k == 2 else _by_example(mean)

    @property
    def spread(self) -> FloatArray:
        """The spread of P between the members, (e, k)."""
        guesses, k = self.mixture.layout.guesses, self.mixture.seen.k
        squares = self._summed(self.chances**2, (1 - guesses) ** 2)
        squares += self._summed(self.chances, 2 / k * guesses * (1 - guesses))
        squares += self._weights @ guesses**2 / k**2
        beyond = squares - self.probabilities.T[-len(squares) :] ** 2
        spread = np.sqrt(np.maximum(beyond, 0.0))
        return _by_example(spread, spread) if k == 2 else _by_example(spread)

    @property
    def interval(self) -> tuple[FloatArray, FloatArray]:
        """Between which limits P lies nine times out of ten, as far as the members differ; (e, k) each."""
        reach = NINE_IN_TEN * self.spread
        return np.maximum(self.probabilities - reach, 0.0), np.minimum(
            self.probabilities + reach, 1.0
        )

    def _summed(self, values: FloatArray, factors: FloatArray) -> FloatArray:
        """Σ π·factor·value over members with factors (M,), of the values (k, r, e) of their rows; (k, e)."""
        weights = np.bincount(self.mixture.layout.rows, self._weights * factors)
        return np.asarray(weights @ values)

    @property
    def _weights(self) -> FloatArray:
        """π of every member, (M,)."""
        return self.mixture.weights[:, -1]


def expected_answers(mixture: Mixture, at: Places) -> FloatArray:
    """P of some examples, or of a whole piece of the pool, (e, k)."""
    if not isinstance(at, slice):
        return Expected.of(mixture, at).probabilities
    first, last, _ = at.indices(mixture.seen.pool.n)
    starts = range(first, last, AT_A_TIME)
    pieces = [slice(start, min(start + AT_A_TIME, last)) for start in starts]
    return np.concatenate([Expected.of(mixture, some).probabilities for some in pieces])


def _by_example(*classes: FloatArray) -> FloatArray:
    """The values of some classes after the other, (c, e) each, as (e, k)."""
    return np.ascontiguousarray(np.concatenate(classes).T)
