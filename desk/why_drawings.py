"""The drawings of “why this image”: the pool coloured by belief, and bars for beliefs and scores."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, Protocol

from analysis.charts.shapes import Circle, Drawing, Line, Rect, Shape, Text

Spot = tuple[float, float]
Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""

WIDTH, HEIGHT, MARGIN = 640.0, 420.0, 18.0
MARK = 4.2
# With more than two classes: the size of a mark, of the true class inside it, and the lowest opacity of a mark.
WIDE_MARK, TRUTH_MARK, MIN_OPACITY = 5.0, 2.4, 0.3
# Around the image that was shown.
RING = 11.0
# How far from ½ the outermost shades begin: the smallest reach that leaves few images beyond it. Beliefs are often
# close to ½, so a fixed scale would show a single colour.
SHADE_REACHES = (0.05, 0.1, 0.2, 0.35, 0.5)
MAX_SHARE_BEYOND = 0.1


@dataclass(frozen=True)
class Scale:
    """Seven shades around ½, from `belief-0` for the first of two classes to `belief-6` for the second."""

    reach: float

    @classmethod
    def for_beliefs(cls, p: Sequence[float]) -> Scale:
        def beyond(reach: float) -> int:
            return sum(abs(one - 0.5) > reach for one in p)

        fitting = (reach for reach in SHADE_REACHES if beyond(reach) <= MAX_SHARE_BEYOND * len(p))
        return cls(next(fitting, SHADE_REACHES[-1]))

    @property
    def bounds(self) -> list[float]:
        return [0.5 + self.reach * share / 7 for share in (-5, -3, -1, 1, 3, 5)]

    def shade(self, p: float) -> str:
        return f"belief-{bisect_right(self.bounds, p)}"

    def legend(self) -> list[tuple[str, str]]:
        """Every shade with its range of p."""
        edges = [f"{bound:.2f}" for bound in self.bounds]
        ranges = (f"{low} to {high}" for low, high in pairwise(edges))
        labels = [f"up to {edges[0]}", *ranges, f"{edges[-1]} or more"]
        return [(f"belief-{shade}", label) for shade, label in enumerate(labels)]


class Painter(Protocol):
    """How the marks of a map look."""

    def group(self, index: int) -> Any:
        """Marks are drawn in the order of their groups."""

    def marks(self, index: int, spot: Spot, *, is_shown: bool) -> Iterable[Shape]:
        """Draw one image."""


@dataclass(frozen=True)
class TwoClasses:
    """Shades from one class to the other: a circle for the first, a square for the second, outlined if shown before.

    `p` and `labels` are of the whole pool.
    """

    p: Sequence[float]
    labels: Sequence[int]
    scale: Scale

    def group(self, index: int) -> str:
        return self.scale.shade(self.p[index])

    def marks(self, index: int, spot: Spot, *, is_shown: bool) -> Iterator[Shape]:
        style = self.group(index) + (" seen" if is_shown else "")
        x, y = spot
        if self.labels[index]:
            size = 2 * MARK - 0.8
            yield Rect(x - MARK + 0.4, y - MARK + 0.4, size, size, style)
        else:
            yield Circle(x, y, MARK, style)


@dataclass(frozen=True)
class ManyClasses:
    """The colour of the most probable class, paler if less probable; inside it the true class if that differs.

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
        yield Circle(*spot, WIDE_MARK, style, opacity(self.beliefs[index]))
        if truth != expected:
            yield Circle(*spot, TRUTH_MARK, f"truth {self.colours[truth]}")


def opacity(beliefs: Sequence[float]) -> float:
    """From MIN_OPACITY for a uniform belief to 1 for certainty."""
    chance = 1 / len(beliefs)
    return MIN_OPACITY + (1 - MIN_OPACITY) * (max(beliefs) - chance) / (1 - chance)


def spots(layout: Mapping[str, Any]) -> dict[int, Spot]:
    """The position of every image on the map, y upwards."""
    return {
        index: (MARGIN + x * (WIDTH - 2 * MARGIN), MARGIN + (1 - y) * (HEIGHT - 2 * MARGIN))
        for index, x, y in zip(layout["pool_index"], layout["x"], layout["y"], strict=True)
    }


def belief_map(
    layout: Mapping[str, Any],
    painter: Painter,
    *,
    shown: frozenset[int],
    chosen: int,
    others: Mapping[int, str],
    title: str,
) -> Drawing:
    """The map of a pool. `shown` were shown before; `others` are labels with the names of teachers."""
    places = spots(layout)
    order = sorted(places, key=lambda index: (index in shown, painter.group(index)))
    shapes = [
        shape
        for index in order
        for shape in painter.marks(index, places[index], is_shown=index in shown)
    ]
    labels = place_labels(
        [(places[index], name) for index, name in others.items() if index in places],
        paper=(0.0, 0.0, WIDTH, HEIGHT),
        marks=list(places.values()),
        clear=[box_around(places[chosen], RING)] if chosen in places else [],
    )
    for label in labels:
        shapes.append(Line(*label.pointer, "pointer"))
        shapes += [
            Text(*label.foot, label.name, style, label.anchor)
            for style in ("pointed-halo", "pointed")
        ]
    if chosen in places:
        shapes += [Circle(*places[chosen], RING, style) for style in ("ring-halo", "ring")]
    return Drawing(WIDTH, HEIGHT, title, shapes)


BAR_WIDTH, BAR_HEIGHT, BAR = 150.0, 22.0, 8.0


def belief_bar(beliefs: Sequence[float], colours: Sequence[str], title: str) -> Drawing:
    """The probabilities of the classes as a stacked bar."""
    ends = [0.0, *accumulate(beliefs)]
    shapes = [
        Rect(BAR_WIDTH * low, 4, BAR_WIDTH * (high - low), BAR_HEIGHT - 8, colour)
        for (low, high), colour in zip(pairwise(ends), colours, strict=True)
    ]
    return Drawing(BAR_WIDTH, BAR_HEIGHT, title, shapes)


def part_bars(candidates: Sequence[tuple[float, float]], titles: Sequence[str]) -> list[Drawing]:
    """One drawing for each (diversity, usefulness), all on one scale."""
    values = [value for pair in candidates for value in pair]
    low, high = min([0.0, *values]), max([0.0, *values])
    span = (high - low) or 1.0
    zero = -BAR_WIDTH * low / span
    drawings = []
    for pair, title in zip(candidates, titles, strict=True):
        shapes: list[Shape] = []
        for row, (value, style) in enumerate(zip(pair, ("diversity", "usefulness"), strict=True)):
            width = BAR_WIDTH * value / span
            left = zero + min(width, 0.0)
            shapes.append(Rect(left, 2 + row * (BAR + 2), abs(width), BAR, style))
        shapes.append(Line(zero, 0, zero, BAR_HEIGHT, "zero"))
        drawings.append(Drawing(BAR_WIDTH, BAR_HEIGHT, title, shapes))
    return drawings


# Labels on the map: inside the paper, not over each other, and over as few marks as possible

# The width of a bold letter of 13 pixels, rounded up, and the height of a line.
LETTER_WIDTH, LABEL_HEIGHT = 8.2, 14.0
# The distances of a label from its spot, the nearest first. Ten lines are enough for a fourth label in a corner, where
# only one direction is left, to find room beyond the others.
LABEL_REACHES = tuple(13.0 + 15.0 * lines for lines in range(10))


@dataclass(frozen=True)
class Label:
    """A name next to a spot: right or left of it (`side` 1 or −1), below or above it (`rise` 1 or −1)."""

    spot: Spot
    name: str
    side: int = 1
    rise: int = -1
    reach: float = LABEL_REACHES[0]

    @property
    def pointer(self) -> tuple[float, float, float, float]:
        (x, y), near, far = self.spot, 5.0, self.reach
        return (
            x + near * self.side,
            y + near * self.rise,
            x + far * self.side,
            y + far * self.rise,
        )

    @property
    def anchor(self) -> str:
        return "start" if self.side > 0 else "end"

    @property
    def foot(self) -> Spot:
        """The start or end of the text on its baseline."""
        x, y = self.spot
        drop = 8.0 if self.rise > 0 else 0.0
        return x + (self.reach + 2) * self.side, y + self.reach * self.rise + drop

    @property
    def box(self) -> Box:
        (x, y), width = self.foot, LETTER_WIDTH * len(self.name)
        left = x if self.side > 0 else x - width
        return left, y - LABEL_HEIGHT + 3, left + width, y + 3


def place_labels(
    names: Sequence[tuple[Spot, str]], *, paper: Box, marks: Sequence[Spot], clear: Sequence[Box]
) -> list[Label]:
    """One label for each name, in their order. `clear` must stay uncovered; `marks` should."""
    taken, labels = list(clear), []

    def cost(label: Label) -> tuple[int, int, int]:
        """The worst problem first."""
        box = label.box
        return (
            int(not is_within(box, paper)),
            sum(overlap(box, other) for other in taken),
            sum(is_within((x, y, x, y), box) for x, y in marks),
        )

    for spot, name in names:
        candidates = (
            Label(spot, name, side, rise, reach)
            for reach in LABEL_REACHES
            for rise in (-1, 1)
            for side in (1, -1)
        )
        label = min(candidates, key=cost)
        taken.append(label.box)
        labels.append(label)
    return labels


def is_within(box: Box, frame: Box) -> bool:
    return frame[0] <= box[0] and frame[1] <= box[1] and box[2] <= frame[2] and box[3] <= frame[3]


def overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def box_around(spot: Spot, radius: float) -> Box:
    x, y = spot
    return x - radius, y - radius, x + radius, y + radius
