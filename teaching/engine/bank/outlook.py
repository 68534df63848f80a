"""What a mixture expects of every example of the pool: the answers to it, and what showing it would change."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray, IntArray
from .along import ByPlace, along_all
from .base import Seen
from .beliefs import Beliefs
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
        parts, n, k = _parts(mixture), mixture.seen.pool.n, mixture.seen.k
        moments, gains = np.zeros((2, 1 if k == 2 else k, n)), np.zeros(n)
        for part in parts:
            moments += part.moments
            if part.gains is not None:
                gains += part.gains
        gains /= sum(part.counted for part in parts)
        moments /= sum(part.weight for part in parts)
        mean, squares = moments
        spread = np.sqrt(np.maximum(squares - mean**2, 0.0))
        return cls(_by_example(mean, k, 1 - mean), _by_example(spread, k, spread), gains)

    def interval(self) -> tuple[FloatArray, FloatArray]:
        """Between which limits P lies nine times out of ten, as far as the models differ; (n, k) each."""
        reach = NINE_IN_TEN * self.spread
        return np.maximum(self.probabilities - reach, 0.0), np.minimum(
            self.probabilities + reach, 1.0
        )


def _by_example(values: FloatArray, k: int, others: FloatArray) -> FloatArray:
    """Values (k, n) as (n, k); of two classes from those of class 1 and of the other, (1, n) each."""
    return np.ascontiguousarray((np.concatenate([others, values]) if k == 2 else values).T)


@dataclass(frozen=True)
class _Part:
    """The part of one family in an outlook: sums over its models by weight, of gains by how much they count.

    moments: Σ π P and Σ π P², (2, k, n), of two classes (2, 1, n) of class 1, and n is 1 for the same answers to all.
    """

    weight: float
    counted: float
    moments: FloatArray
    gains: FloatArray | None

    @classmethod
    def of(cls, mixture: Mixture, place: int, models: IntArray, along: ByPlace) -> _Part:
        member = mixture.members[place]
        everyone = mixture.parts[place][:, :, -1]
        weights = everyone[models] * (everyone.sum() / everyone[models].sum())
        now = member.followed.now(models, along)
        moments = _moments(mixture.seen, member, weights, now.beliefs)
        weight, assumed = float(weights.sum()), member.family.assumed
        heeding = assumed * (weights @ (1 - member.styles.guesses))
        gains = None if now.gains is None else heeding @ now.gains
        return cls(weight, assumed * weight, moments, gains)


def _parts(mixture: Mixture) -> list[_Part]:
    """Those of all families that are not ruled out."""
    leading = mixture.leading()
    followed = [mixture.members[place].followed for place, _ in leading]
    asked = [one.directions(models) for one, (_, models) in zip(followed, leading, strict=True)]
    alongs = along_all(mixture.seen.spaces, asked)
    return [_Part.of(mixture, *one, along) for one, along in zip(leading, alongs, strict=True)]


def _moments(seen: Seen, member: Member, weights: FloatArray, beliefs: Beliefs) -> FloatArray:
    """Σ π (g/k + (1−g)P) and Σ π (g/k + (1−g)P)² over models and styles, (2, k, n), of two classes (2, 1, n).

    Expanded in P, so that each is one sum over the models at every firmness.
    """
    styles, lean = member.styles, seen.leaning[-1] if member.family.leans else np.zeros(seen.k)
    once, twice, crossed = (styles.heeding @ weights.T).reshape(3, -1)
    flat = beliefs.answers(styles.firmness, lean).reshape(once.size, -1)
    found = np.stack([once, 2 / seen.k * crossed]) @ flat
    found[1] += twice @ np.square(flat, out=flat)
    even = styles.guesses / seen.k
    found += np.stack([even, even**2]) @ weights.sum(axis=0)[:, None]
    return found.reshape(2, 1 if seen.k == 2 else seen.k, -1)
