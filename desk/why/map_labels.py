"""Names on a map, put where they can be read: on the paper, not over each other, over as few marks as possible."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

# Of bold letters of 13 pixels, generously.
LETTER, HEIGHT = 8.2, 14.0
# How far a name may stand from its spot, the nearest first: a line apart, and so many that even in a corner, where one
# direction is left, a fourth name finds room beyond three others and what must stay clear.
REACHES = tuple(13.0 + 15.0 * lines for lines in range(10))

Spot = tuple[float, float]
Box = tuple[float, float, float, float]
"""left, top, right, bottom"""


@dataclass(frozen=True)
class Label:
    """A name beside a spot: to the right or left of it (`side` 1 or −1), below or above it (`rise` 1 or −1)."""

    spot: Spot
    name: str
    side: int = 1
    rise: int = -1
    reach: float = REACHES[0]

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
        """Where the text begins or ends, on its base line."""
        x, y = self.spot
        drop = 8.0 if self.rise > 0 else 0.0
        return x + (self.reach + 2) * self.side, y + self.reach * self.rise + drop

    @property
    def box(self) -> Box:
        (x, y), width = self.foot, LETTER * len(self.name)
        left = x if self.side > 0 else x - width
        return left, y - HEIGHT + 3, left + width, y + 3


def placed(
    names: Sequence[tuple[Spot, str]], *, paper: Box, marks: Sequence[Spot], clear: Sequence[Box]
) -> Iterator[Label]:
    """One label for each name, in their order. `clear` must stay uncovered; `marks` should."""
    taken = list(clear)
    for spot, name in names:
        label = min(offers(spot, name), key=lambda offer: cost(offer.box, paper, taken, marks))
        taken.append(label.box)
        yield label


def offers(spot: Spot, name: str) -> Iterator[Label]:
    for reach in REACHES:
        for rise in (-1, 1):
            for side in (1, -1):
                yield Label(spot, name, side, rise, reach)


def cost(box: Box, paper: Box, taken: Sequence[Box], marks: Sequence[Spot]) -> tuple[int, int, int]:
    """What is wrong with a place, the worst first."""
    return (
        int(not is_within(box, paper)),
        sum(overlap(box, other) for other in taken),
        sum(is_within((x, y, x, y), box) for x, y in marks),
    )


def is_within(box: Box, frame: Box) -> bool:
    return frame[0] <= box[0] and frame[1] <= box[1] and box[2] <= frame[2] and box[3] <= frame[3]


def overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def around(spot: Spot, radius: float) -> Box:
    x, y = spot
    return x - radius, y - radius, x + radius, y + radius
