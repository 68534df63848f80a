"""Learners who remember what they were shown, and answer by what is most like it.

After t steps the votes for class c at x are Σ_r [y_r = c] δ^age k(x, x_r) with k = exp(−‖x − x_r‖²/ℓ), and the
logits are log(votes + b/k): the background b is what speaks where nothing similar is remembered.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..arrays import FloatArray, IntArray, SparseArray
from .agreement import Agreement
from .base import GIVEN, RELEVANT, Family, Followed, Seen, combined, described, looks
from .fading import left_before

# ℓ in units of the mean squared distance, each a whole number of times as wide as those before; δ; and b.
WIDTHS = (0.02, 0.1, 0.4)
DECAYS = (0.9, 1.0)
BACKGROUNDS = (0.03, 0.3)
GRID = combined([GIVEN, RELEVANT], WIDTHS, DECAYS, BACKGROUNDS)


@dataclass(frozen=True)
class FollowedExemplars(Followed):
    """Where each of m models looks, its ℓ, δ and b, (m,) each, and what it believed."""

    seen: Seen
    places: IntArray
    widths: FloatArray
    decays: FloatArray
    backgrounds: FloatArray
    logits: FloatArray

    @property
    def names(self) -> list[str]:
        return described(
            by=looks(self.places),
            width=self.widths,
            decay=self.decays,
            background=self.backgrounds,
        )

    def beliefs(self, models: IntArray) -> FloatArray:
        left = left_before(len(self.seen), *self.decays[models].tolist())[:, -1]
        votes = np.empty((models.size, self.seen.k, self.seen.pool.n))
        for place in np.unique(self.places[models]):
            own = np.flatnonzero(self.places[models] == place)
            distances = self.seen.spaces.both[place].distances(self.seen.examples, slice(None))
            votes[own] = votes_of(self.seen, distances, self.widths[models[own]], left[own])
        return logits_of(votes, self.backgrounds[models])

    def gains(self, models: IntArray, beliefs: FloatArray) -> FloatArray:
        return neighbour_gains(self.seen, beliefs, self.decays[models], self.backgrounds[models])


class Exemplar(Family):
    """Learners who compare with everything they remember."""

    name: ClassVar[str] = "exemplar"
    title: ClassVar[str] = "compares with remembered images"
    weight: ClassVar[float] = 2.0

    def follow(self, seen: Seen) -> FollowedExemplars:
        places, widths, decays, backgrounds = GRID
        distances = np.stack([one.distances for one in seen.among])
        similar = np.stack(all_similarities(distances), axis=1)
        votes = (similar[:, :, None] * left_before(len(seen), *DECAYS)[:, :-1]) @ seen.truth
        logits = with_background(votes, seen.k)
        return FollowedExemplars(seen, places, widths, decays, backgrounds, logits)


def similarities(distances: FloatArray, widths: Iterable[float]) -> dict[float, FloatArray]:
    """exp(−distance/ℓ) for some widths: powers of that of the widest, which take less time than exponentials."""
    widest, *narrower = sorted(set(widths), reverse=True)
    first = np.exp(distances * (-1 / widest))
    return {widest: first} | {one: powered(first, round(widest / one)) for one in narrower}


def all_similarities(distances: FloatArray) -> list[FloatArray]:
    """The same for every width, in their order."""
    similar = similarities(distances, WIDTHS)
    return [similar[width] for width in WIDTHS]


def powered(values: FloatArray, times: int) -> FloatArray:
    """values to a whole power from 1, by squaring."""
    if times == 1:
        return values
    half = powered(values, times // 2)
    return half * half * values if times % 2 else half * half


def votes_of(seen: Seen, distances: FloatArray, widths: FloatArray, left: FloatArray) -> FloatArray:
    """The votes of memories at distances (t, n), of which (m, t) is left, for learners of widths (m,); (m, k, n)."""
    similar = similarities(distances, widths.tolist())
    weights = left[:, None] * seen.truth.T
    return np.stack([one @ similar[width] for one, width in zip(weights, widths, strict=True)])


def logits_of(votes: FloatArray, backgrounds: FloatArray) -> FloatArray:
    """log(votes + b/k) of votes (m, k, n) and backgrounds (m,)."""
    return np.asarray(np.log(votes + backgrounds[:, None, None] / votes.shape[1]))


def with_background(votes: FloatArray, k: int) -> FloatArray:
    """log(votes + b/k) for each background, (m, t, k), from votes (…, t, k)."""
    backgrounds = np.array(BACKGROUNDS)[:, None, None] / k
    logits = np.log(votes[..., None, :, :] + backgrounds)
    return logits.reshape(math.prod(logits.shape[:-2]), *votes.shape[-2:])


def neighbour_gains(
    seen: Seen, beliefs: FloatArray, decays: FloatArray, backgrounds: FloatArray
) -> FloatArray:
    """By how much a new memory raises the agreement with the labels of the pool, (m, n).

    At j a memory of class c and similarity s turns the logit log v_c into log(v_c + s). The rise is taken along its
    chord from s = 0 to 1, so that it is s times that of a memory of j itself; the similarities are those of the
    pool's graph, and 1 to itself.
    """
    kept = decays[:, None, None]
    left = np.exp(beliefs) * kept + (1 - kept) * backgrounds[:, None, None] / seen.k
    logits, rises = np.log(left), np.log1p(1 / left)
    centred = logits - logits.mean(axis=1, keepdims=True)
    truth = seen.spaces.truth
    links, squared_links = seen.pool.links_by_class
    reached = _reached(links, np.concatenate([truth * rises, centred * rises]))
    products, crossed = np.split(reached, 2)
    squares = _reached(squared_links, rises**2)
    now = Agreement.of(logits, truth)
    return now.rises(products, 2 * crossed + (1 - 1 / seen.k) * squares)


def _reached(links: SparseArray, values: FloatArray) -> FloatArray:
    """What a memory of each example reaches of values (m, k, n) of its class, by similarity, as a mean (m, n)."""
    flat = np.ascontiguousarray(values.reshape(len(values), -1).T)
    return np.asarray((links @ flat).T / values.shape[-1])
