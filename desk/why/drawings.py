"""Drawings for a step of teaching: the pool coloured by what was believed, and the two parts of a score."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, Protocol

from analysis.charts.shapes import Circle, Drawing, Line, Rect, Shape, Text

from .map_labels import Label, Spot, around, placed

WIDTH, HEIGHT, MARGIN = 640.0, 420.0, 18.0
MARK = 4.2
# With more than two classes: the mark, the true class inside it, and how faint a mark may be.
WIDE_MARK, TRUTH, PALEST = 5.0, 2.4, 0.3
# How far from ½ the outermost shades begin: the smallest of these that leaves few images beyond it. What teachers
# believe is often close to ½, and a fixed scale would show a single colour.
REACHES = (0.05, 0.1, 0.2, 0.35, 0.5)
FEW = 0.1
# Around the image that was shown.
RING = 11.0


@dataclass(frozen=True)
class Scale:
    """Seven shades about ½, from `belief-0` for the first of two classes to `belief-6` for the second."""

    reach: float

    @classmethod
    def for_beliefs(cls, p: Sequence[float]) -> Scale:
        def beyond(reach: float) -> int:
            return sum(abs(one - 0.5) > reach for one in p)

        fitting = (reach for reach in REACHES if beyond(reach) <= FEW * len(p))
        return cls(next(fitting, REACHES[-1]))

    @property
    def bounds(self) -> list[float]:
        return [0.5 + self.reach * share / 7 for share in (-5, -3, -1, 1, 3, 5)]

    def shade(self, p: float) -> str:
        return f"belief-{bisect_right(self.bounds, p)}"

    def legend(self) -> list[tuple[str, str]]:
        """Every shade with the range of p that it stands for."""
        edges = [f"{bound:.2f}" for bound in self.bounds]
        ranges = (f"{low} to {high}" for low, high in pairwise(edges))
        words = [f"up to {edges[0]}", *ranges, f"{edges[-1]} or more"]
        return [(f"belief-{place}", words[place]) for place in range(7)]


def spots(layout: Mapping[str, Any]) -> dict[int, Spot]:
    """Where the images of the map lie on the paper, y upwards."""
    return {
        index: (MARGIN + x * (WIDTH - 2 * MARGIN), MARGIN + (1 - y) * (HEIGHT - 2 * MARGIN))
        for index, x, y in zip(layout["pool_index"], layout["x"], layout["y"], strict=True)
    }


class Painter(Protocol):
    """How the marks of a map look: `group` brings alike ones together, `marks` draws one image."""

    def group(self, index: int) -> Any: ...

    def marks(self, index: int, spot: Spot, *, is_shown: bool) -> Iterable[Shape]: ...


@dataclass(frozen=True)
class TwoClasses:
    """Shades from one class to the other. `p` and `labels` are of the whole pool."""

    p: Sequence[float]
    labels: Sequence[int]
    scale: Scale

    def group(self, index: int) -> str:
        return self.scale.shade(self.p[index])

    def marks(self, index: int, spot: Spot, *, is_shown: bool) -> Iterator[Shape]:
        yield mark(spot, self.labels[index], self.group(index), is_shown=is_shown)


@dataclass(frozen=True)
class ManyClasses:
    """The colour of the class that is expected, the paler the less sure; inside it the true class, if it is another.

    `beliefs` (n, k) and `labels` (n,) are of the whole pool, `colours` those of the classes.
    """

    beliefs: Sequence[Sequence[float]]
    labels: Sequence[int]
    colours: Sequence[str]

    def group(self, index: int) -> int:
        beliefs = self.beliefs[index]
        return max(range(len(beliefs)), key=beliefs.__getitem__)

    def marks(self, index: int, spot: Spot, *, is_shown: bool) -> Iterator[Shape]:
        expected, truth = self.group(index), self.labels[index]
        style = f"seen {self.colours[expected]}" if is_shown else self.colours[expected]
        yield Circle(*spot, WIDE_MARK, style, strength(self.beliefs[index]))
        if truth != expected:
            yield Circle(*spot, TRUTH, f"truth {self.colours[truth]}")


def strength(beliefs: Sequence[float]) -> float:
    """How sure the likeliest class is: PALEST if all are equally likely, 1 if there is no other."""
    chance = 1 / len(beliefs)
    return PALEST + (1 - PALEST) * (max(beliefs) - chance) / (1 - chance)


def belief_map(
    layout: Mapping[str, Any],
    painter: Painter,
    *,
    shown: frozenset[int],
    chosen: int,
    others: Mapping[int, str],
    title: str,
) -> Drawing:
    """`shown` were shown before; `others` names who would have shown what."""
    places = spots(layout)
    rows = sorted(places, key=lambda index: (index in shown, painter.group(index)))
    marks = [
        shape
        for index in rows
        for shape in painter.marks(index, places[index], is_shown=index in shown)
    ]
    labels_of_others = placed(
        [(places[index], name) for index, name in others.items() if index in places],
        paper=(0.0, 0.0, WIDTH, HEIGHT),
        marks=list(places.values()),
        clear=[around(places[chosen], RING)] if chosen in places else [],
    )
    named = [shape for label in labels_of_others for shape in named_by(label)]
    ring = rings(places[chosen]) if chosen in places else ()
    return Drawing(WIDTH, HEIGHT, title, [*marks, *named, *ring])


def mark(spot: Spot, label: int, style: str, *, is_shown: bool) -> Shape:
    """A circle for the first class, a square for the second, outlined if it was shown."""
    style = f"{style} seen" if is_shown else style
    x, y = spot
    if label:
        return Rect(x - MARK + 0.4, y - MARK + 0.4, 2 * MARK - 0.8, 2 * MARK - 0.8, style)
    return Circle(x, y, MARK, style)


def rings(spot: Spot) -> Iterator[Shape]:
    yield Circle(*spot, RING, "ring-halo")
    yield Circle(*spot, RING, "ring")


def named_by(label: Label) -> Iterator[Shape]:
    """A short line from an image to the names of the teachers that would have shown it."""
    yield Line(*label.pointer, "pointer")
    for style in ("pointed-halo", "pointed"):
        yield Text(*label.foot, label.name, style, label.anchor)


BAR_WIDTH, BAR_HEIGHT, BAR = 150.0, 22.0, 8.0


def belief_bar(beliefs: Sequence[float], colours: Sequence[str], title: str) -> Drawing:
    """The probabilities of the classes, one after the other."""
    ends = [0.0, *accumulate(beliefs)]
    parts = zip(pairwise(ends), colours, strict=True)
    shapes = [
        Rect(BAR_WIDTH * low, 4, BAR_WIDTH * (high - low), BAR_HEIGHT - 8, colour)
        for (low, high), colour in parts
    ]
    return Drawing(BAR_WIDTH, BAR_HEIGHT, title, shapes)


def part_bars(candidates: Sequence[tuple[float, float]], titles: Sequence[str]) -> list[Drawing]:
    """One drawing for each (diversity, usefulness), all on one scale."""
    values = [value for pair in candidates for value in pair]
    low, high = min([0.0, *values]), max([0.0, *values])
    span = (high - low) or 1.0
    return [
        Drawing(
            BAR_WIDTH, BAR_HEIGHT, title, list(_bars([value / span for value in pair], low / span))
        )
        for pair, title in zip(candidates, titles, strict=True)
    ]


def _bars(shares: Sequence[float], lowest: float) -> Iterator[Shape]:
    """`shares` of the whole width, which begins at the share `lowest` below nought."""
    for row, (share, style) in enumerate(zip(shares, ("diversity", "usefulness"), strict=True)):
        start = min(share, 0.0) - lowest
        yield Rect(BAR_WIDTH * start, 2 + row * (BAR + 2), BAR_WIDTH * abs(share), BAR, style)
    yield Line(-BAR_WIDTH * lowest, 0, -BAR_WIDTH * lowest, BAR_HEIGHT, "zero")
