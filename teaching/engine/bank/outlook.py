"""What a mixture expects of every example of the pool: the answers to it, and what showing it would change."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from ..arrays import FloatArray, IntArray
from .base import Seen, softmax
from .mixture import Member, Mixture

# A Gaussian lies within this many standard deviations nine times out of ten.
NINE_IN_TEN = 1.6449


@dataclass(frozen=True)
class Outlook:
    """Beliefs about n examples: P (n, k), its spread between the models (n, k), and what each would gain (n,).

    gains: by how much the agreement with the labels of the pool is expected to rise if the example is shown next,
    where what the study assumes counts for more than it is probable.
    """

    probabilities: FloatArray
    spread: FloatArray
    gains: FloatArray

    @classmethod
    def of(cls, mixture: Mixture) -> Outlook:
        parts = [_Part.of(mixture, place, models) for place, models in mixture.leading()]
        total = sum(part.weight for part in parts)
        mean = np.ascontiguousarray(np.transpose(sum(part.mean for part in parts)) / total)
        squares = np.ascontiguousarray(np.transpose(sum(part.squares for part in parts)) / total)
        spread = np.sqrt(np.maximum(squares - mean**2, 0.0))
        counted = sum(part.counted for part in parts)
        return cls(mean, spread, np.asarray(sum(part.gains for part in parts) / counted))

    def interval(self) -> tuple[FloatArray, FloatArray]:
        """Between which limits P lies nine times out of ten, as far as the models differ; (n, k) each."""
        reach = NINE_IN_TEN * self.spread
        return np.maximum(self.probabilities - reach, 0.0), np.minimum(
            self.probabilities + reach, 1.0
        )


@dataclass(frozen=True)
class _Part:
    """The part of one family in an outlook: sums over its models by weight, of gains by how much they count."""

    weight: float
    counted: float
    mean: FloatArray
    squares: FloatArray
    gains: FloatArray

    @classmethod
    def of(cls, mixture: Mixture, place: int, models: IntArray) -> _Part:
        member, seen = mixture.members[place], mixture.seen
        styles = member.styles
        everyone = mixture.parts[place][:, :, -1]
        weights = everyone[models] * (everyone.sum() / everyone[models].sum())
        beliefs = member.followed.beliefs(models)
        mean, squares = _moments(seen, member, weights, beliefs)
        heeding = weights @ (1 - styles.guesses)
        gains = heeding @ member.followed.gains(models, beliefs)
        weight, assumed = float(weights.sum()), member.family.assumed
        return cls(weight, assumed * weight, mean, squares, assumed * gains)


def _moments(
    seen: Seen, member: Member, weights: FloatArray, beliefs: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Σ π (g/k + (1−g)P) and Σ π (g/k + (1−g)P)² over models and styles, (k, n), for beliefs (m, k, n).

    Expanded in P, so that each is one sum over the models at every firmness.
    """
    styles, k = member.styles, seen.k
    chances = _chances(seen, member, beliefs)
    once, twice, crossed = (styles.heeding @ weights.T).reshape(3, -1)
    by_style, even = weights.sum(axis=0), styles.guesses / k
    flat = chances.reshape(once.size, -1)
    mean, squares = np.stack([once, 2 / k * crossed]) @ flat
    mean += by_style @ even
    squares += by_style @ even**2
    squares += twice @ np.square(flat, out=flat)
    if k == 2:
        # The other class has all that is left.
        total = by_style.sum()
        return np.stack([total - mean, mean]), np.stack([total - 2 * mean + squares, squares])
    return mean.reshape(k, -1), squares.reshape(k, -1)


def _chances(seen: Seen, member: Member, beliefs: FloatArray) -> FloatArray:
    """P at each firmness without guesses, (f, m, k, n); of two classes that of class 1 alone, (f, m, n)."""
    lean = seen.leaning[-1] if member.family.leans else np.zeros(seen.k)
    if seen.k == 2:
        apart = (beliefs[:, 1] - beliefs[:, 0]) * member.styles.firmness[:, None, None]
        apart += lean[1] - lean[0]
        return np.asarray(expit(apart, out=apart))
    firm = member.styles.firmness[:, None, None, None] * beliefs
    return softmax(firm + lean[:, None], axis=2)
