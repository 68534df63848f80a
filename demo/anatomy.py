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


@dataclass(frozen=True)
class Wing:
    """An outline (n, 2) and where its free outer margin starts and ends in it."""

    outline: Curve
    root: Curve
    margin_start: int
    margin_end: int

    def contour(self, fraction: float) -> Curve:
        """The whole outline, shrunk towards the root."""
        return self.root + fraction * (self.outline - self.root)

    def margin(self, overhang: int = 0) -> Curve:
        """The outer margin, longer by `overhang` samples at both ends."""
        return self.outline[self.margin_start - overhang : self.margin_end + overhang + 1]

    def ribbon(self, inner: Curve | float, outer: Curve | float, overhang: int = 0) -> Curve:
        """The region between two fractions of the way from the root to the outer margin."""
        rays = self.margin(overhang) - self.root
        inner_edge = self.root + np.reshape(inner, (-1, 1)) * rays
        outer_edge = self.root + np.reshape(outer, (-1, 1)) * rays
        return np.concatenate([outer_edge, inner_edge[::-1]])

    def at(self, along: float, fraction: float) -> Curve:
        """The point at a share `along` of the margin and a fraction of the way to it."""
        index = round(self.margin_start + along * (self.margin_end - self.margin_start))
        point: Curve = self.root + fraction * (self.outline[index] - self.root)
        return point


def fore_wing(tip: float, scallop: float) -> Wing:
    """Tip 0 is broad and rounded, tip 1 is drawn out into a hook above a hollow margin."""
    rounded = [(0.70, 0.745), (0.83, 0.73), (0.91, 0.63), (0.935, 0.46), (0.90, 0.27)]
    hooked = [(0.70, 0.755), (0.93, 0.89), (1.02, 0.85), (0.80, 0.52), (0.79, 0.28)]
    tip_points = (1 - tip) * np.array(rounded) + tip * np.array(hooked)
    leading = [(0.02, 0.06), (0.14, 0.27), (0.34, 0.50), (0.53, 0.66)]
    trailing = [(0.80, 0.09), (0.70, -0.02), (0.50, -0.05), (0.24, -0.04), (0.06, -0.02)]
    control = np.concatenate([leading, tip_points, trailing])
    return _scalloped(control, first=6, last=10, lobes=6, depth=0.5 * scallop)


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
    return _scalloped(control, first=3, last=9, lobes=6, depth=scallop)


def tail(wing: Wing, length: float) -> tuple[Curve, Curve]:
    """The midline and half widths of the tail that continues the hind-wing's fifth vein."""
    start = wing.at(4 / 6, 0.93)
    direction = np.array([0.16, -1.0]) / np.hypot(0.16, 1.0)
    outward = np.array([1.0, 0.16])
    steps = np.linspace(0, 1, 14)
    sway = 0.10 * length * np.sin(np.pi * steps * 0.9)
    midline = start + (0.05 + length) * steps[:, None] * direction + sway[:, None] * outward
    widths = 0.062 * (1 - steps) ** 1.6 + 0.024 + 0.016 * np.exp(-(((steps - 0.86) / 0.12) ** 2))
    return midline, widths


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
    steps = np.linspace(0, 1, 22)
    reach = 0.24 + 0.42 * length
    x = 0.018 + reach * (0.40 * steps + 0.22 * steps**2.2)
    y = 0.262 + reach * (0.98 * steps - 0.12 * steps**2.5)
    widths = 0.0065 + 0.017 * np.exp(-(((steps - 0.95) / 0.075) ** 2))
    return np.column_stack([x, y]), widths


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


def _scalloped(control: Curve, first: int, last: int, lobes: int, depth: float) -> Wing:
    """Bite `lobes` hollows between the vein ends out of the margin from `first` to `last`."""
    outline = _closed_spline(control)
    root = control[0]
    start, end = first * SAMPLES, last * SAMPLES
    along = np.linspace(0, 1, end - start + 1)
    bites = 1 - depth * np.abs(np.sin(np.pi * lobes * along)) ** 0.8
    rays = outline[start : end + 1] - root
    outline[start : end + 1] = root + bites[:, None] * rays
    return Wing(outline, root, start, end)


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
