"""Paints one butterfly as a museum specimen: cream paper, a soft shadow and a pin.

Everything is drawn as polygons on a canvas three times too large and then reduced, which smooths
the edges; light, shadow and paper are added at the final size, where they are cheap.
"""

import math
from collections.abc import Callable, Mapping

import numpy as np
from PIL import Image, ImageDraw

from . import anatomy
from .anatomy import Curve, Wing
from .look import AMBER, DARK, MOST_SPECKLES, PALE, PUPIL, Colour, Look, look_from, mix
from .mounting import mount

SHADES = 18  # nested contours per wing; more would not be seen
SUPERSAMPLE = 3


class Sheet:
    """An oversized canvas on which a shape of the right half is drawn on both halves."""

    def __init__(self, look: Look, size: int) -> None:
        self._side = size * SUPERSAMPLE
        self._unit = look.scale * self._side
        self._centre = np.array([0.5, 0.487]) * self._side
        cos, sin = np.cos(look.tilt), np.sin(look.tilt)
        self._turn = np.array([[cos, -sin], [sin, cos]])
        # What the wings' edges blend with when the canvas is reduced.
        self._colours = Image.new("RGB", (self._side, self._side), DARK)
        self._coverage = Image.new("L", (self._side, self._side), 0)
        self._brush = ImageDraw.Draw(self._colours)
        # Blending costs several times as much as covering.
        self._glaze = ImageDraw.Draw(self._colours, "RGBA")
        self._stencil = ImageDraw.Draw(self._coverage)

    def fill(self, shape: Curve, colour: Colour, opacity: float = 1.0) -> None:
        """Fill the shape and its mirror image, on top of what is there."""
        brush, ink = self._tool(colour, opacity)
        for side in (1, -1):
            brush.polygon(self._placed(shape, side), fill=ink)

    def cut(self, shape: Curve) -> None:
        """Make the shape and its mirror image part of the specimen's silhouette."""
        for side in (1, -1):
            self._stencil.polygon(self._placed(shape, side), fill=255)

    def add(self, shape: Curve, colour: Colour) -> None:
        self.cut(shape)
        self.fill(shape, colour)

    def fill_once(self, shape: Curve, colour: Colour, opacity: float = 1.0) -> None:
        """Fill a shape that is its own mirror image, or has none."""
        brush, ink = self._tool(colour, opacity)
        brush.polygon(self._placed(shape, 1), fill=ink)

    def dot(self, centre: Curve, radius: float, colour: Colour, opacity: float = 1.0) -> None:
        self.dots(centre[None, :], np.array([radius]), colour, opacity)

    def dots(self, centres: Curve, radii: Curve, colour: Colour, opacity: float = 1.0) -> None:
        brush, ink = self._tool(colour, opacity)
        reach = (radii * self._unit)[:, None]
        for side in (1, -1):
            places = np.reshape(self._placed(centres, side), (-1, 2))
            for box in np.hstack([places - reach, places + reach]).tolist():
                brush.ellipse(box, fill=ink)

    def line(self, points: Curve, width: float, colour: Colour) -> None:
        for side in (1, -1):
            pixels = round(width * self._unit)
            self._brush.line(self._placed(points, side), fill=colour, width=pixels)

    def reduced(self) -> tuple[Image.Image, Image.Image]:
        return self._colours.reduce(SUPERSAMPLE), self._coverage.reduce(SUPERSAMPLE)

    def _tool(self, colour: Colour, opacity: float) -> tuple[ImageDraw.ImageDraw, tuple[int, ...]]:
        if opacity == 1:
            return self._brush, colour
        return self._glaze, (*colour, round(255 * opacity))

    def _placed(self, shape: Curve, side: int) -> list[float]:
        upright = shape * (side * self._unit, -self._unit)
        placed: list[float] = (upright @ self._turn.T + self._centre).ravel().tolist()
        return placed


def paint(traits: Mapping[str, float], grain: int, size: int) -> Image.Image:
    look = look_from(traits)
    rng = np.random.default_rng(grain)
    sheet = Sheet(look, size)
    fore = anatomy.fore_wing(look.tip, look.scallop_depth)
    hind = anatomy.hind_wing(look.scallop_depth)
    _paint_antennae(sheet, look)
    _paint_hind_wings(sheet, look, hind, rng)
    _paint_fore_wings(sheet, look, fore, rng)
    _paint_body(sheet, look, rng)
    specimen, coverage = sheet.reduced()
    return mount(specimen, coverage, look, rng)


def _paint_hind_wings(sheet: Sheet, look: Look, wing: Wing, rng: np.random.Generator) -> None:
    dark = mix(DARK, look.wing, 0.12)
    _paint_ground(sheet, wing, mix(look.wing, PALE, 0.16))
    _feathered(sheet, lambda soft: wing.edge(0.075 + soft, overhang=8), dark)
    sheet.add(anatomy.stroke(*anatomy.tail(wing, look.tail_length)), dark)
    _paint_veins(sheet, look, wing)
    inner, outer = 0.59 - look.band_width / 2, 0.59 + look.band_width / 2
    _feathered(sheet, lambda soft: wing.band(inner - soft, outer + soft, overhang=26), dark)
    _paint_speckles(sheet, look, wing, rng, band=(inner, outer))


def _paint_fore_wings(sheet: Sheet, look: Look, wing: Wing, rng: np.random.Generator) -> None:
    trailing = wing.smooth[wing.margin_end - 4 :]
    for drop in (0.036, 0.026, 0.017, 0.008):
        sheet.fill(np.concatenate([trailing, trailing[::-1] - (0.0, drop)]), DARK, 0.15)
    _paint_ground(sheet, wing, look.wing)
    _paint_veins(sheet, look, wing)
    _paint_fore_edge(sheet, look, wing)
    _paint_speckles(sheet, look, wing, rng)
    _paint_dots(sheet, look, wing)
    _paint_eyespot(sheet, look)


def _paint_ground(sheet: Sheet, wing: Wing, colour: Colour) -> None:
    """Shade from a dusky root over a bright field to a deeper margin."""
    sheet.cut(wing.outline)
    for fraction in np.linspace(1, 0.10, SHADES).tolist():
        dusk = 0.60 * (1 - fraction) ** 2 + 0.20 * fraction**4
        glow = 0.20 * math.exp(-(((fraction - 0.62) / 0.22) ** 2))
        shade = mix(mix(colour, DARK, dusk), PALE, glow)
        sheet.fill(wing.contour(fraction), shade)


def _paint_fore_edge(sheet: Sheet, look: Look, wing: Wing) -> None:
    """A dark margin, broadest below the tip, and a dark leading edge."""
    dark = mix(DARK, look.wing, 0.10)
    overhang = 14
    along = np.linspace(0, 1, len(wing.smooth[wing.margin(overhang)]))
    breadth = 0.095 + 0.085 * np.exp(-(((along - 0.30) / 0.28) ** 2))
    _feathered(sheet, lambda soft: wing.edge(breadth + soft, overhang), dark)
    leading = wing.smooth[3 : wing.margin_start - 4]
    inner = wing.root + 0.945 * (leading - wing.root)
    sheet.fill(np.concatenate([leading, inner[::-1]]), dark)


def _feathered(sheet: Sheet, shape: Callable[[float], Curve], colour: Colour) -> None:
    """Fill a shape that can be drawn a little larger, with a soft edge like that of scales."""
    sheet.fill(shape(0.020), colour, 0.30)
    sheet.fill(shape(0.010), colour, 0.45)
    sheet.fill(shape(0.0), colour)


def _paint_veins(sheet: Sheet, look: Look, wing: Wing) -> None:
    width = 0.0022 + 0.0090 * look.vein_strength
    opacity = 0.10 + 0.80 * look.vein_strength
    for along in np.linspace(0, 1, anatomy.CELLS + 1).tolist():
        midline = anatomy.vein(wing, along, bow=0.05 * (0.5 - along))
        taper = width * np.linspace(1.25, 0.7, len(midline))
        sheet.fill(anatomy.stroke(midline, taper), DARK, opacity)


def _paint_speckles(
    sheet: Sheet,
    look: Look,
    wing: Wing,
    rng: np.random.Generator,
    band: tuple[float, float] = (0, 0),
) -> None:
    """Dark scales strewn over the wing; the first ones stay where they are as more are added.

    Within a dark band they are lighter: a broad band must not hide what another trait shows, nor
    make the file smaller.
    """
    along, out, weight = rng.random((MOST_SPECKLES, 3))[: look.speckles].T
    fraction = 0.16 + 0.76 * out**0.6
    places, radii = wing.at(along, fraction), 0.004 + 0.006 * weight
    on_band = (band[0] < fraction) & (fraction < band[1])
    sheet.dots(places[~on_band], radii[~on_band], DARK, 0.75)
    sheet.dots(places[on_band], radii[on_band], mix(DARK, look.wing, 0.6))


def _paint_dots(sheet: Sheet, look: Look, wing: Wing) -> None:
    middles = (np.arange(anatomy.CELLS) + 0.5) / anatomy.CELLS
    places = wing.inside_edge(middles, 0.915)
    sheet.dots(places, np.full(anatomy.CELLS, look.dot_radius), PALE)


def _paint_eyespot(sheet: Sheet, look: Look) -> None:
    centre, radius = np.array([0.550, 0.335]), 0.150
    sheet.dot(centre, radius * 1.13, PALE, 0.45)
    sheet.dot(centre, radius, DARK)
    for share in np.linspace(1, 0, 6).tolist():
        sheet.dot(centre, radius * (0.50 + 0.38 * share), mix(PALE, AMBER, share**2))
    pupil = radius * 0.88 * look.pupil_share
    sheet.dot(centre, pupil, PUPIL)
    # A crescent of blue scales, as moths and browns have; it grows with the pupil.
    sheet.dot(centre + pupil * np.array([-0.10, 0.12]), pupil * 0.66, (128, 152, 192))
    sheet.dot(centre + pupil * np.array([0.02, -0.03]), pupil * 0.62, PUPIL)


def _paint_antennae(sheet: Sheet, look: Look) -> None:
    midline, widths = anatomy.antenna(look.antenna_length)
    sheet.add(anatomy.stroke(midline, widths), DARK)


def _paint_body(sheet: Sheet, look: Look, rng: np.random.Generator) -> None:
    width = look.body_width
    _paint_abdomen(sheet, look)
    _paint_round(sheet, look, (0, 0.245), 0.022 + 0.42 * width, 0.052)
    _paint_round(sheet, look, (0, 0.075), _thorax_breadth(look), 0.155)
    _paint_fur(sheet, look, rng)
    sheet.dot(np.array([0.016 + 0.40 * width, 0.262]), 0.019, (22, 17, 16))
    _paint_pin(sheet, look)


def _thorax_breadth(look: Look) -> float:
    return 0.028 + 0.95 * look.body_width


def _fur(look: Look) -> Colour:
    return mix(DARK, look.wing, 0.16)


def _paint_abdomen(sheet: Sheet, look: Look) -> None:
    outline = anatomy.abdomen(look.body_width)
    sheet.add(outline, mix(_fur(look), (0, 0, 0), 0.25))
    for share in np.linspace(0.92, 0.15, 7).tolist():
        sheet.fill_once(outline * (share, 0.985), mix(_fur(look), PALE, 0.38 * (1 - share)))
    for ring in np.linspace(-0.10, -0.48, 8).tolist():
        half = look.body_width * 1.05 * math.sqrt(1 - (ring / 0.54) ** 4)
        fold = np.array([(-half, ring + 0.008), (0, ring - 0.006), (half, ring + 0.008)])
        sheet.fill_once(anatomy.stroke(fold, 0.0055), DARK, 0.55)


def _paint_round(
    sheet: Sheet, look: Look, middle: tuple[float, float], breadth: float, height: float
) -> None:
    """Paint a head or thorax, lighter towards its middle."""
    centre = np.array(middle)
    sheet.add(anatomy.ellipse(centre, breadth, height), mix(_fur(look), (0, 0, 0), 0.25))
    for share in np.linspace(0.9, 0.2, 7).tolist():
        shade = mix(_fur(look), PALE, 0.30 * (1 - share))
        sheet.fill_once(anatomy.ellipse(centre, breadth * share, height * share), shade)


def _paint_fur(sheet: Sheet, look: Look, rng: np.random.Generator) -> None:
    breadth = _thorax_breadth(look)
    for angle, out, tone in rng.random((60, 3)).tolist():
        direction = np.array([math.sin(math.pi * angle), math.cos(math.pi * angle)])
        start = np.array([0, 0.075]) + out * direction * (breadth * 0.78, 0.125)
        colour = mix(DARK, mix(PALE, look.wing, 0.5), 0.15 + 0.45 * tone)
        sheet.line(np.array([start, start + 0.034 * direction]), 0.006, colour)


def _paint_pin(sheet: Sheet, look: Look) -> None:
    head = np.array([0.0, 0.085])
    # The shadow lies in the picture's frame, the sheet is turned: turn it back.
    angle = look.light - look.tilt
    away = np.array([np.sin(angle), -np.cos(angle)])
    shade = np.array([head, head + 0.10 * away])
    sheet.fill_once(anatomy.stroke(shade, 0.008), (0, 0, 0), 0.30)
    sheet.fill_once(anatomy.ellipse(head + 0.10 * away, 0.024, 0.024), (0, 0, 0), 0.30)
    for share, colour in ((1.0, (92, 88, 84)), (0.84, (168, 164, 158)), (0.5, (206, 203, 197))):
        radius = 0.027 * share
        glint = head - (1 - share) * 0.016 * away
        sheet.fill_once(anatomy.ellipse(glint, radius, radius), colour)
    sheet.fill_once(anatomy.ellipse(head - 0.010 * away, 0.006, 0.006), (255, 255, 255))
