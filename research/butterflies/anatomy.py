"""The shapes of a butterfly's right half, as curves in units of about one fore-wing.

The origin is the middle of the thorax, x points to the right wing's tip and y to the head. Every
outline is star-shaped seen from its wing's root, so an inner contour is the outline shrunk
towards the root.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Curve = NDArray[np.float64]

SAMPLES = 12  # points between two control points
CELLS = 6  # fields between the veins that reach the margin


@dataclass(frozen=True)
class Wing:
    """A wing's smooth outline (n, 2), its free outer margin in it, and the scallops' bites.

    `bites` holds a factor for every point of the outline; markings follow the smooth outline, so
    that scallops change the edge and nothing else.
    """

    smooth: Curve
    bites: Curve
    margin_start: int
    margin_end: int
    heart: Curve

    @property
    def root(self) -> Curve:
        root: Curve = self.smooth[0]
        return root

    @property
    def outline(self) -> Curve:
        return self.root + self.bites[:, None] * (self.smooth - self.root)

    def contour(self, fraction: float) -> Curve:
        """The outline shrunk towards the wing's heart; coarse, since only shading needs it."""
        contour: Curve = self.heart + fraction * (self.smooth[::3] - self.heart)
        return contour

    def margin(self, overhang: int = 0) -> slice:
        """The outer margin's place in the outline, longer by `overhang` samples at both ends."""
        return slice(self.margin_start - overhang, self.margin_end + overhang + 1)

    def band(self, inner: float, outer: float, overhang: int) -> Curve:
        """The region between two fractions of the way from the root to the smooth margin."""
        rays = self.smooth[self.margin(overhang)] - self.root
        return np.concatenate([self.root + outer * rays, (self.root + inner * rays)[::-1]])

    def edge(self, breadth: Curve | float, overhang: int) -> Curve:
        """The region within `breadth` (a fraction of the way to the root) of the outer margin."""
        outer = self.outline[self.margin(overhang)]
        inner = outer - np.reshape(breadth, (-1, 1)) * (outer - self.root)
        return np.concatenate([outer, inner[::-1]])

    def at(self, along: float | Curve, fraction: float | Curve) -> Curve:
        """The points at shares `along` of the smooth margin and fractions of the way to it."""
        rays = self.smooth[self._index(along)] - self.root
        points: Curve = self.root + np.asarray(fraction)[..., None] * rays
        return points

    def inside_edge(self, along: Curve, fraction: float) -> Curve:
        """The points at shares `along` of the scalloped margin and a fraction of the way to it."""
        return self.at(along, fraction * self.bites[self._index(along)])

    def _index(self, along: float | Curve) -> NDArray[np.int64]:
        span = self.margin_end - self.margin_start
        index: NDArray[np.int64] = np.rint(self.margin_start + np.asarray(along) * span).astype(int)
        return index


def fore_wing(tip: float, scallop: float) -> Wing:
    """Tip 0 is broad and rounded, tip 1 is drawn out into a hook above a hollow margin."""
    rounded = [(0.70, 0.745), (0.83, 0.73), (0.91, 0.63), (0.935, 0.46), (0.90, 0.27)]
    hooked = [(0.70, 0.755), (0.93, 0.89), (1.02, 0.85), (0.80, 0.52), (0.79, 0.28)]
    tip_points = (1 - tip) * np.array(rounded) + tip * np.array(hooked)
    leading = [(0.02, 0.06), (0.14, 0.27), (0.34, 0.50), (0.53, 0.66)]
    trailing = [(0.80, 0.09), (0.70, -0.02), (0.50, -0.05), (0.24, -0.04), (0.06, -0.02)]
    control = np.concatenate([leading, tip_points, trailing])
    return _wing(control, first=6, last=10, depth=0.55 * scallop, heart=(0.03, 0.15))


def hind_wing(scallop: float) -> Wing:
    control = np.array(
        [
            (0.02, 0.02),
            (0.24, 0.10),
            (0.50, 0.10),
            (0.68, 0.00),
            (0.745, -0.18),
            (0.70, -0.37),
            (0.59, -0.54),
            (0.44, -0.67),
            (0.28, -0.72),
            (0.15, -0.62),
            (0.08, -0.40),
            (0.03, -0.15),
        ]
    )
    return _wing(control, first=3, last=9, depth=scallop, heart=(0.04, -0.03))


def tail(wing: Wing, length: float) -> tuple[Curve, Curve]:
    """The midline and half widths of the tail, which continues the hind-wing's fifth vein."""
    steps = np.linspace(0, 1, 30)
    start = wing.at(4 / CELLS, 0.90)
    reach = 0.07 + length
    x = reach * (0.34 * steps - 0.10 * steps**2)
    y = -reach * (0.84 * steps + 0.16 * steps**2)
    waist = 0.028 + 0.042 * (1 - steps) ** 3
    spoon = 0.014 * np.exp(-(((steps - 0.85) / 0.14) ** 2))
    return start + np.column_stack([x, y]), (waist + spoon) * _rounded_end(steps, 0.1)


def vein(wing: Wing, along: float, bow: float) -> Curve:
    """A vein from the root to the margin, slightly bowed."""
    end = wing.at(along, 0.985)
    ray = end - wing.root
    sideways = np.array([-ray[1], ray[0]])
    steps = np.linspace(0.10, 1, 12)[:, None]
    curve: Curve = wing.root + steps * ray + bow * np.sin(np.pi * steps) * sideways
    return curve


def antenna(length: float) -> tuple[Curve, Curve]:
    """The midline and half widths of an antenna that ends in a club."""
    steps = np.linspace(0, 1, 40)
    reach = 0.24 + 0.42 * length
    x = 0.018 + reach * (0.40 * steps + 0.22 * steps**2.2)
    y = 0.262 + reach * (0.98 * steps - 0.12 * steps**2.5)
    club = 0.015 * np.exp(-(((steps - 0.93) / 0.08) ** 2))
    return np.column_stack([x, y]), (0.0065 + club) * _rounded_end(steps, 0.05)


def abdomen(thickness: float) -> Curve:
    """The closed outline of the abdomen, both sides."""
    steps = np.linspace(0, 1, 24)
    half = thickness * (0.75 + 0.45 * np.sin(np.pi * steps**0.8)) * np.sqrt(1 - steps**3.2)
    y = 0.0 - 0.53 * steps
    return np.concatenate([np.column_stack([half, y]), np.column_stack([-half, y])[::-1]])


def stroke(midline: Curve, half_widths: Curve | float) -> Curve:
    """The closed outline of a brush stroke of varying width."""
    tangent = np.gradient(midline, axis=0)
    tangent /= np.hypot(tangent[:, 0], tangent[:, 1])[:, None]
    normal = np.column_stack([-tangent[:, 1], tangent[:, 0]])
    offset = normal * np.reshape(half_widths, (-1, 1))
    return np.concatenate([midline + offset, (midline - offset)[::-1]])


def ellipse(centre: Curve, radius_x: float, radius_y: float) -> Curve:
    angles = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    offsets = np.column_stack([radius_x * np.cos(angles), radius_y * np.sin(angles)])
    ring: Curve = centre + offsets
    return ring


def _rounded_end(steps: Curve, share: float) -> Curve:
    """Factors that end a stroke of varying width in a half round over its last `share`."""
    beyond = np.clip((steps - (1 - share)) / share, 0, 1)
    return np.sqrt(1 - beyond**2)


def _wing(control: Curve, first: int, last: int, depth: float, heart: tuple[float, float]) -> Wing:
    """Bite one hollow between every two vein ends out of the margin from `first` to `last`."""
    smooth = _closed_spline(control)
    start, end = first * SAMPLES, last * SAMPLES
    along = np.linspace(0, 1, end - start + 1)
    bites = np.ones(len(smooth))
    bites[start : end + 1] -= depth * np.abs(np.sin(np.pi * CELLS * along)) ** 0.8
    return Wing(smooth, bites, start, end, np.array(heart))


def _closed_spline(control: Curve) -> Curve:
    """A smooth closed curve through the control points (uniform Catmull-Rom)."""
    before, here = np.roll(control, 1, axis=0), control
    after, beyond = np.roll(control, -1, axis=0), np.roll(control, -2, axis=0)
    t = np.arange(SAMPLES)[None, :, None] / SAMPLES
    p0, p1, p2, p3 = (points[:, None, :] for points in (before, here, after, beyond))
    curve = 0.5 * (
        2 * p1
        + (p2 - p0) * t
        + (2 * p0 - 5 * p1 + 4 * p2 - p3) * t**2
        + (3 * p1 - p0 - 3 * p2 + p3) * t**3
    )
    return curve.reshape(-1, 2)
