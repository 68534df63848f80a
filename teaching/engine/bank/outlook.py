"""What a mixture expects of every example of the pool: the answers to it, and what showing it would change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

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
    """Beliefs about n examples: P (n, k), and what each would gain (n,), from the `parts` of the families.

    gains: by how much the agreement with the labels of the pool is expected to rise if the example is shown next,
    where what the study assumes counts for more than it is probable.
    """

    seen: Seen
    parts: Sequence[_Part] = field(repr=False)
    probabilities: FloatArray
    gains: FloatArray

    @classmethod
    def of(cls, mixture: Mixture) -> Outlook:
        parts, k = _parts(mixture), mixture.seen.k
        mean = _mean(mixture.seen, parts) / _weight(parts)
        gains = np.zeros(mixture.seen.pool.n)
        for part in parts:
            if part.now.gains is not None:
                gains += part.counting @ part.now.gains
        gains /= sum(part.weight * part.assumed for part in parts)
        return cls(mixture.seen, parts, _by_example(mean, k, 1 - mean), gains)

    # Only who asks why wants to know this, so that a choice does without.
    @cached_property
    def spread(self) -> FloatArray:
        """The spread of P between the models, (n, k)."""
        squares = _mean_square(self.seen, self.parts) / _weight(self.parts)
        mean = self.probabilities.T[-len(squares) :]
        spread = np.sqrt(np.maximum(squares - mean**2, 0.0))
        return _by_example(spread, self.seen.k, spread)

    @cached_property
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
    """The part of one family in an outlook: what its models expect, each in every style with `weights` (m, s).

    `weight` is what they add up to.
    """

    member: Member
    weight: float
    weights: FloatArray
    now: Now

    @classmethod
    def of(cls, mixture: Mixture, place: int, models: IntArray, along: ByPlace) -> _Part:
        """Some models stand for all of their family."""
        member, weights = mixture.members[place], mixture.now(place)[models]
        held = float(mixture.held[place])
        weights *= held / weights.sum()
        return cls(member, held, weights, member.followed.now(models, along))

    @property
    def assumed(self) -> float:
        return self.member.family.assumed

    @property
    def counting(self) -> FloatArray:
        """How much the gains of each model count, (m,)."""
        return np.asarray(self.weights @ (self.assumed * (1 - self.member.styles.guesses)))


def _parts(mixture: Mixture) -> list[_Part]:
    """Those of all families that are not ruled out."""
    leading = mixture.leading()
    followed = [mixture.members[place].followed for place, _ in leading]
    asked = [one.directions(models) for one, (_, models) in zip(followed, leading, strict=True)]
    alongs = along_all(mixture.seen.spaces, asked)
    return [_Part.of(mixture, *one, along) for one, along in zip(leading, alongs, strict=True)]


def _weight(parts: Sequence[_Part]) -> float:
    return sum(part.weight for part in parts)


def _mean(seen: Seen, parts: Sequence[_Part]) -> FloatArray:
    """Σ π (g/k + (1−g)P) over models and styles, (k, n), of two classes (1, n).

    One sum over the models at every firmness, of all families that have the same.
    """
    total = sum(once @ chances for (once, _, _), chances in _by_firmness(seen, parts))
    return np.asarray(total + _guessed(parts)[0] / seen.k).reshape(-1, seen.pool.n)


def _mean_square(seen: Seen, parts: Sequence[_Part]) -> FloatArray:
    """Σ π (g/k + (1−g)P)² likewise, expanded in P."""
    total = _guessed(parts)[1] / seen.k**2
    for (_, crossed, twice), chances in _by_firmness(seen, parts):
        total = total + 2 / seen.k * crossed @ chances
        total += twice @ np.square(chances, out=chances)
    return np.asarray(total).reshape(-1, seen.pool.n)


def _guessed(parts: Sequence[_Part]) -> FloatArray:
    """Σ π g and Σ π g² over all models and styles, (2,)."""
    return np.asarray(sum(part.member.styles.guessed @ part.weights.sum(axis=0) for part in parts))


def _by_firmness(seen: Seen, parts: Sequence[_Part]) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Shares (3, f·m) and chances (f·m, …) of the models of all families with the same firmness, for each such."""
    for levels in dict.fromkeys(part.member.styles.levels for part in parts):
        own = [part for part in parts if part.member.styles.levels == levels]
        shares = _shares(own)
        yield shares, _chances(seen, own).reshape(shares.shape[1], -1)


def _shares(parts: Sequence[_Part]) -> FloatArray:
    """Σ π (1−g), Σ π g(1−g) and Σ π (1−g)² of every model at each firmness, the same for all parts; (3, f·m)."""
    each = [part.member.styles.heeding @ part.weights.T for part in parts]
    return np.concatenate(each, axis=2).reshape(3, -1)


def _chances(seen: Seen, parts: Sequence[_Part]) -> FloatArray:
    """P at each firmness without guesses, the same for all parts, (f, m, k, n); of two classes that of class 1."""
    models = sum(len(part.weights) for part in parts)
    odds = np.empty((models, *((seen.pool.n,) if seen.k == 2 else (seen.k, seen.pool.n))))
    leaning = np.zeros((models, seen.k))
    first = 0
    for part in parts:
        own = slice(first, first + len(part.weights))
        odds[own] = part.now.beliefs.odds
        if part.member.family.leans:
            leaning[own] = seen.leaning[-1]
        first = own.stop
    return Beliefs(odds, seen.k).answers(parts[0].member.styles.firmness, leaning)
