"""What a mixture expects of every example of the pool: the answers to it, and what showing it would change."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray, IntArray
from .base import softmax
from .mixture import Mixture

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
        mean = np.asarray(sum(part.mean for part in parts) / total)
        squares = np.asarray(sum(part.squares for part in parts) / total)
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
        lean = seen.leaning[-1] if member.family.leans else 0.0
        mean = np.zeros(beliefs.shape[1:])
        squares = np.zeros_like(mean)
        for at, firmness in enumerate(styles.firmness):
            chances = softmax(firmness * beliefs + lean)
            own = styles.which == at
            even, kept = styles.guesses[own] / seen.k, 1 - styles.guesses[own]
            # Σ π (g/k + (1−g)P) and Σ π (g/k + (1−g)P)², expanded so that each is one sum over the models.
            once, twice = weights[:, own] @ kept, weights[:, own] @ kept**2
            mean += np.tensordot(once, chances, axes=1) + (weights[:, own] @ even).sum()
            squares += np.tensordot(twice, chances**2, axes=1)
            squares += np.tensordot(weights[:, own] @ (2 * even * kept), chances, axes=1)
            squares += (weights[:, own] @ even**2).sum()
        heeding = weights @ (1 - styles.guesses)
        gains = heeding @ member.followed.gains(models, beliefs)
        weight, assumed = float(weights.sum()), member.family.assumed
        return cls(weight, assumed * weight, mean, squares, assumed * gains)
