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

from ..arrays import FloatArray, IntArray, Places, pieces
from .agreement import Agreement
from .along import ByPlace, asked_for
from .base import (
    GIVEN,
    RELEVANT,
    Family,
    Followed,
    Seen,
    by_place,
    combined,
    described,
    looks,
    runs,
)
from .beliefs import powered
from .fading import left_before

# ℓ in units of the mean squared distance, each a whole number of times as wide as those before; δ; and b.
WIDTHS = (0.02, 0.1, 0.4)
DECAYS = (0.9, 1.0)
BACKGROUNDS = (0.03, 0.3)
# So few columns take less time one after the other than side by side in a product with a sparse matrix.
FEW = 6
GRID = combined([GIVEN, RELEVANT], WIDTHS, DECAYS, BACKGROUNDS)
# Of some examples after the other: which, and minus their distances to what was shown, (t, …).
Nearness = Iterable[tuple[slice, FloatArray]]


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

    def logits_now(self, at: Places) -> FloatArray:
        seen = self.seen
        apart = [space.distances(seen.examples, at) / space.spread for space in seen.spaces.both]
        fading = left_before(len(seen), *DECAYS)[:, -1:] * seen.taught
        return with_background(votes_now(np.stack(apart), fading), seen.k)

    def directions(self, models: IntArray) -> ByPlace:
        """Minus the distances to what was shown, in units of the widest similarity of each place, (t, q + 2)."""
        asked = {}
        for place, own in by_place(self.places[models]):
            space, width = self.seen.spaces.both[place], self.widths[models[own]].max()
            shown = self.seen.shown_points[place] / (space.spread * width)
            halves = space.half_squares[self.seen.examples]
            asked[place] = asked_for(shown, halves / -width, -1 / width)
        return asked

    def gains(self, models: IntArray, along: ByPlace) -> FloatArray:
        decays, widths = self.decays[models], self.widths[models]
        weights = left_before(len(self.seen), *decays.tolist())[:, -1:] * self.seen.taught
        votes = np.empty((models.size, self.seen.k, self.seen.pool.n))
        for place, own in by_place(self.places[models]):
            near = along[place]
            nearness = ((some, near[:, some]) for some in pieces(near.shape[1], len(near)))
            add_up(nearness, widths[own], weights[own], out=votes[own])
        return neighbour_gains(self.seen, votes, decays, self.backgrounds[models])


class Exemplar(Family):
    """Learners who compare with everything they remember."""

    name: ClassVar[str] = "exemplar"
    title: ClassVar[str] = "compares with remembered images"
    weight: ClassVar[float] = 2.0

    def follow(self, seen: Seen) -> FollowedExemplars:
        places, widths, decays, backgrounds = GRID
        similar = np.stack(all_similarities(seen.among.distances), axis=1)
        votes = (similar[:, :, None] * left_before(len(seen), *DECAYS)[:, :-1]) @ seen.truth
        logits = with_background(votes, seen.k)
        return FollowedExemplars(seen, places, widths, decays, backgrounds, logits)


def all_similarities(distances: FloatArray) -> list[FloatArray]:
    """exp(−distance/ℓ) for every width, in their order: powers of that of the widest, which take less time."""
    widest = max(WIDTHS)
    first = np.exp(distances * (-1 / widest))
    return [powered(first, round(widest / width)) for width in WIDTHS]


def votes_now(distances: FloatArray, fading: FloatArray) -> FloatArray:
    """The votes of memories by every width and decay, (p, w, d, e, k), from distances (p, t, e).

    `fading` (d, k, t) is what is left of each memory, for its class.
    """
    (d, k, t), (p, _, e) = fading.shape, distances.shape
    rows, votes = fading.reshape(d * k, t), np.empty((p, len(WIDTHS), d * k, e))
    for some in pieces(e, p * t):
        for place, similar in enumerate(all_similarities(distances[:, :, some])):
            votes[:, place, :, some] = rows @ similar
    return votes.reshape(p, len(WIDTHS), d, k, e).swapaxes(-1, -2)


def add_up(nearness: Nearness, widths: FloatArray, weights: FloatArray, out: FloatArray) -> None:
    """The votes (m, k, n) of memories with weights (m, k, t), near in units of the widest of ascending widths (m,).

    Narrower similarities are powers of wider ones, which take less time than exponentials.
    """
    m, k, t = weights.shape
    rows, votes = weights.reshape(m * k, t), out.reshape(m * k, -1)
    falling = [(width, slice(k * own.start, k * own.stop)) for width, own in runs(widths)[::-1]]
    for some, near in nearness:
        # Where rounding makes a distance negative, it is none.
        similar, reached = np.minimum(near, 0.0), widths[-1]
        np.exp(similar, out=similar)
        for width, own in falling:
            similar, reached = powered(similar, round(reached / width)), width
            np.matmul(rows[own], similar, out=votes[own, some])


def with_background(votes: FloatArray, k: int) -> FloatArray:
    """log(votes + b/k) for each background, (m, t, k), from votes (…, t, k)."""
    backgrounds = np.array(BACKGROUNDS)[:, None, None] / k
    logits = np.log(votes[..., None, :, :] + backgrounds)
    return logits.reshape(math.prod(logits.shape[:-2]), *votes.shape[-2:])


def neighbour_gains(
    seen: Seen, votes: FloatArray, decays: FloatArray | float, backgrounds: FloatArray
) -> FloatArray:
    """By how much a new memory raises the agreement with the labels of the pool, (m, n).

    The votes (m, k, n) of memories fade by a step, and are used up. At j a memory of class c and similarity s turns the
    logit log v_c into log(v_c + s). The rise is taken along its chord from s = 0 to 1, so that it is s times that of a
    memory of j itself; the similarities are those of the pool's graph, and 1 to itself.
    """
    left = votes
    left *= np.reshape(decays, (-1, 1, 1))
    left += backgrounds[:, None, None] / seen.k
    logits = np.log(left)
    left += 1
    rises = np.log(left, out=left)
    rises -= logits
    logits -= logits.sum(axis=1, keepdims=True) / seen.k
    now = Agreement.of_centred(logits, seen.spaces.truth)
    return now.rises(*_reached(seen, logits, rises))


def _reached(seen: Seen, logits: FloatArray, rises: FloatArray) -> tuple[FloatArray, FloatArray]:
    """What new memories add to the products and squares of the agreements, (m, n) each.

    From logits less their mean and the rises of a memory of the example itself, (m, k, n) each.
    """
    m, k, n = rises.shape
    values = np.empty((m, 3, k, n))
    np.multiply(seen.spaces.truth, rises, out=values[:, 0])
    np.multiply(logits, rises, out=values[:, 1])
    np.multiply(rises, rises, out=values[:, 2])
    flat, links = values.reshape(m, -1), seen.pool.memory_links
    added = np.empty((m, 2 * n))
    if m < FEW:
        for own, one in zip(added, flat, strict=True):
            own[:] = links @ one
    else:
        added[:] = (links @ np.ascontiguousarray(flat.T)).T
    return added[:, :n], added[:, n:]
