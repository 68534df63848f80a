"""What a mixture expects of every example of the pool: the answers to it, and what showing it would change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray, IntArray
from .along import ByPlace, along_all
from .base import Now, Seen
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
        parts, k = _parts(mixture), mixture.seen.k
        mean, squares = _moments(mixture.seen, parts) / sum(part.weight for part in parts)
        spread = np.sqrt(np.maximum(squares - mean**2, 0.0))
        gains = np.zeros(mixture.seen.pool.n)
        for part in parts:
            if part.now.gains is not None:
                gains += part.counting @ part.now.gains
        gains /= sum(part.weight * part.assumed for part in parts)
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
    """The part of one family in an outlook: what its models expect, each in every style with `weights` (m, s)."""

    member: Member
    weights: FloatArray
    now: Now

    @classmethod
    def of(cls, mixture: Mixture, place: int, models: IntArray, along: ByPlace) -> _Part:
        """Some models stand for all of their family."""
        member, everyone = mixture.members[place], mixture.parts[place][:, :, -1]
        weights = everyone[models]
        weights = weights * (mixture.held[place] / weights.sum())
        return cls(member, weights, member.followed.now(models, along))

    @property
    def weight(self) -> float:
        return float(self.weights.sum())

    @property
    def assumed(self) -> float:
        return self.member.family.assumed

    @property
    def counting(self) -> FloatArray:
        """How much the gains of each model count, (m,)."""
        return np.asarray(self.assumed * (self.weights @ (1 - self.member.styles.guesses)))


def _parts(mixture: Mixture) -> list[_Part]:
    """Those of all families that are not ruled out."""
    leading = mixture.leading()
    followed = [mixture.members[place].followed for place, _ in leading]
    asked = [one.directions(models) for one, (_, models) in zip(followed, leading, strict=True)]
    alongs = along_all(mixture.seen.spaces, asked)
    return [_Part.of(mixture, *one, along) for one, along in zip(leading, alongs, strict=True)]


def _moments(seen: Seen, parts: Sequence[_Part]) -> FloatArray:
    """Σ π (g/k + (1−g)P) and Σ π (g/k + (1−g)P)² over models and styles, (2, k, n), of two classes (2, 1, n).

    Expanded in P, so that each is one sum over the models at every firmness, of all families that have the same.
    """
    found = np.zeros((2, (1 if seen.k == 2 else seen.k) * seen.pool.n))
    for firmness in dict.fromkeys(tuple(part.member.styles.firmness) for part in parts):
        own = [part for part in parts if tuple(part.member.styles.firmness) == firmness]
        once, crossed, twice = _shares(own)
        flat = _chances(seen, own).reshape(once.size, -1)
        found += np.stack([once, 2 / seen.k * crossed]) @ flat
        found[1] += twice @ np.square(flat, out=flat)
    guessed = sum(part.member.styles.guessed @ part.weights.sum(axis=0) for part in parts)
    found += (guessed / [seen.k, seen.k**2])[:, None]
    return found.reshape(2, -1, seen.pool.n)


def _shares(parts: Sequence[_Part]) -> FloatArray:
    """Σ π (1−g), Σ π g(1−g) and Σ π (1−g)² of every model at each firmness, the same for all parts; (3, f·m)."""
    each = [part.member.styles.heeding @ part.weights.T for part in parts]
    return np.concatenate(each, axis=2).reshape(3, -1)


def _chances(seen: Seen, parts: Sequence[_Part]) -> FloatArray:
    """P at each firmness without guesses, the same for all parts, (f, m, k, n); of two classes that of class 1."""
    models = [len(part.weights) for part in parts]
    leaning = np.repeat([part.member.family.leans for part in parts], models)
    odds = np.empty((leaning.size, *((seen.pool.n,) if seen.k == 2 else (seen.k, seen.pool.n))))
    for part, last in zip(parts, np.cumsum(models).tolist(), strict=True):
        odds[last - len(part.weights) : last] = part.now.beliefs.odds
    beliefs = Beliefs(odds, seen.k)
    return beliefs.answers(parts[0].member.styles.firmness, np.outer(leaning, seen.leaning[-1]))
