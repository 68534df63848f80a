"""Paints one butterfly as a museum specimen: cream paper, a soft shadow and a pin.

Everything is drawn as polygons on a canvas three times too large and then reduced, which smooths
the edges; light, shadow and paper are added at the final size, where they are cheap.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter

from demo import anatomy
from demo.anatomy import Curve, Wing

Colour = tuple[int, int, int]
Pixels = NDArray[np.float32]

SUPERSAMPLE = 3
SHADES = 18  # nested contours per wing; more would not be seen
FRAME = 0.021  # breadth of the moulding, as a share of the picture
PAPER_SHEETS = 8
MOST_SPECKLES = 240

# Hues of similar lightness, so that the dark markings stand out equally on all of them.
HUES = np.array(
    [
        (196, 84, 48),
        (214, 134, 56),
        (206, 170, 74),
        (146, 166, 92),
        (84, 156, 140),
        (76, 136, 178),
        (104, 116, 188),
    ],
    dtype=float,
)
DARK = (43, 32, 28)
PALE = (247, 236, 208)
AMBER = (222, 166, 78)
PUPIL = (26, 21, 28)
COOL_PAPER = (219, 225, 226)
WARM_PAPER = (238, 212, 163)
WOOD = (112, 76, 48)


@dataclass(frozen=True)
class Look:
    """Traits as lengths (in fore-wings), angles (in radians), shares and colours."""

    tip: float
    pupil_share: float
    band_width: float
    scale: float
    tilt: float
    dot_radius: float
    vein_strength: float
    scallop_depth: float
    paper: Colour
    light: float
    antenna_length: float
    body_width: float
    tail_length: float
    speckles: int
    wing: Colour


def look_from(traits: Mapping[str, float]) -> Look:
    """Map every trait monotonically into the range in which the drawing stays sound."""
    share = {name: _share(z) for name, z in traits.items()}

    def between(low: float, high: float, name: str) -> float:
        return low + (high - low) * share[name]

    return Look(
        tip=share["tip"],
        pupil_share=between(0.16, 0.88, "pupil"),
        band_width=between(0.035, 0.33, "band"),
        scale=between(0.325, 0.435, "size"),
        tilt=between(-0.18, 0.18, "tilt"),
        dot_radius=between(0.003, 0.041, "dots"),
        vein_strength=share["veins"],
        scallop_depth=between(0.0, 0.15, "scallops"),
        paper=_mix(COOL_PAPER, WARM_PAPER, share["paper"]),
        light=between(-1.25, 1.25, "light"),
        antenna_length=share["antennae"],
        body_width=between(0.030, 0.095, "body"),
        tail_length=between(0.0, 0.44, "tails"),
        speckles=round(between(0, MOST_SPECKLES, "speckle")),
        wing=_hue(traits["hue"]),
    )


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
    return _mount(specimen, coverage, look, rng)


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


def _paint_hind_wings(sheet: Sheet, look: Look, wing: Wing, rng: np.random.Generator) -> None:
    dark = _mix(DARK, look.wing, 0.12)
    _paint_ground(sheet, wing, _mix(look.wing, PALE, 0.16))
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
        shade = _mix(_mix(colour, DARK, dusk), PALE, glow)
        sheet.fill(wing.contour(fraction), shade)


def _paint_fore_edge(sheet: Sheet, look: Look, wing: Wing) -> None:
    """A dark margin, broadest below the tip, and a dark leading edge."""
    dark = _mix(DARK, look.wing, 0.10)
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
    sheet.dots(places[on_band], radii[on_band], _mix(DARK, look.wing, 0.6))


def _paint_dots(sheet: Sheet, look: Look, wing: Wing) -> None:
    middles = (np.arange(anatomy.CELLS) + 0.5) / anatomy.CELLS
    places = wing.inside_edge(middles, 0.915)
    sheet.dots(places, np.full(anatomy.CELLS, look.dot_radius), PALE)


def _paint_eyespot(sheet: Sheet, look: Look) -> None:
    centre, radius = np.array([0.550, 0.335]), 0.150
    sheet.dot(centre, radius * 1.13, PALE, 0.45)
    sheet.dot(centre, radius, DARK)
    for share in np.linspace(1, 0, 6).tolist():
        sheet.dot(centre, radius * (0.50 + 0.38 * share), _mix(PALE, AMBER, share**2))
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
    return _mix(DARK, look.wing, 0.16)


def _paint_abdomen(sheet: Sheet, look: Look) -> None:
    outline = anatomy.abdomen(look.body_width)
    sheet.add(outline, _mix(_fur(look), (0, 0, 0), 0.25))
    for share in np.linspace(0.92, 0.15, 7).tolist():
        sheet.fill_once(outline * (share, 0.985), _mix(_fur(look), PALE, 0.38 * (1 - share)))
    for ring in np.linspace(-0.10, -0.48, 8).tolist():
        half = look.body_width * 1.05 * math.sqrt(1 - (ring / 0.54) ** 4)
        fold = np.array([(-half, ring + 0.008), (0, ring - 0.006), (half, ring + 0.008)])
        sheet.fill_once(anatomy.stroke(fold, 0.0055), DARK, 0.55)


def _paint_round(
    sheet: Sheet, look: Look, middle: tuple[float, float], breadth: float, height: float
) -> None:
    """Paint a head or thorax, lighter towards its middle."""
    centre = np.array(middle)
    sheet.add(anatomy.ellipse(centre, breadth, height), _mix(_fur(look), (0, 0, 0), 0.25))
    for share in np.linspace(0.9, 0.2, 7).tolist():
        shade = _mix(_fur(look), PALE, 0.30 * (1 - share))
        sheet.fill_once(anatomy.ellipse(centre, breadth * share, height * share), shade)


def _paint_fur(sheet: Sheet, look: Look, rng: np.random.Generator) -> None:
    breadth = _thorax_breadth(look)
    for angle, out, tone in rng.random((60, 3)).tolist():
        direction = np.array([math.sin(math.pi * angle), math.cos(math.pi * angle)])
        start = np.array([0, 0.075]) + out * direction * (breadth * 0.78, 0.125)
        colour = _mix(DARK, _mix(PALE, look.wing, 0.5), 0.15 + 0.45 * tone)
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


def _mount(
    specimen: Image.Image, coverage: Image.Image, look: Look, rng: np.random.Generator
) -> Image.Image:
    """Lay the specimen on its paper, with the shadows and the light of one lamp, and frame it."""
    size = coverage.width
    cover = np.asarray(coverage, dtype=np.float32) / np.float32(255)
    paper = _paper_grain(size, int(rng.integers(PAPER_SHEETS))) * _shadow(coverage, look.light)
    bare = (np.float32(1) - cover) * paper
    lamp = _lamp(size, look.light) * _wall_shadow(size, look.light)
    channels = [
        _bytes(lamp * (np.float32(tone) * bare + cover * np.asarray(paint, dtype=np.float32)))
        for tone, paint in zip(look.paper, specimen.split(), strict=True)
    ]
    mounted = Image.merge("RGB", channels)
    moulding, place = _frame(size)
    mounted.paste(moulding, mask=place)
    return mounted


def _bytes(channel: Pixels) -> Image.Image:
    return Image.fromarray(np.clip(channel + 0.5, 0, 255).astype(np.uint8))


def _shadow(coverage: Image.Image, light: float) -> Pixels:
    """The brightness left where the specimen's shadow falls: a core and a wide penumbra."""
    size = coverage.width
    # Blur hides that this is done on a smaller copy.
    small = coverage.reduce(2)
    bright = np.ones((small.height, small.width), dtype=np.float32)
    for reach, blur, depth in ((0.026, 0.011, 0.34), (0.055, 0.026, 0.22)):
        right, down = math.sin(light) * reach * size / 2, math.cos(light) * reach * size / 2
        moved = small.transform(small.size, Image.Transform.AFFINE, (1, 0, -right, 0, 1, -down))
        soft = moved.filter(ImageFilter.GaussianBlur(blur * size / 2))
        bright *= 1 - np.asarray(soft, dtype=np.float32) * np.float32(depth / 255)
    full = Image.fromarray(bright).resize(coverage.size, Image.Resampling.BILINEAR)
    return np.asarray(full, dtype=np.float32)


def _lamp(size: int, light: float) -> Pixels:
    """Brightness falling off away from the lamp."""
    axis = np.linspace(-1, 1, size, dtype=np.float32)
    across, down = np.float32(0.07 * math.sin(light)), np.float32(0.05 * math.cos(light))
    glow: Pixels = 1 - across * axis[None, :] - down * axis[:, None]
    return glow


def _wall_shadow(size: int, light: float) -> Pixels:
    """The shadow that the drawer's walls throw on its floor, deepest below the lamp."""
    inside = np.arange(size, dtype=np.float32) / size - FRAME
    near, far = np.exp(-inside / 0.030), np.exp(-inside[::-1] / 0.030)
    left, right = 0.08 + 0.30 * max(math.sin(light), 0), 0.08 + 0.30 * max(-math.sin(light), 0)
    top = 0.08 + 0.26 * math.cos(light)
    across = 1 - np.float32(left) * near - np.float32(right) * far
    down = 1 - np.float32(top) * near - np.float32(0.06) * far
    shade: Pixels = np.clip(down[:, None] * across[None, :], 0, 1).astype(np.float32)
    return shade


@lru_cache(maxsize=2)
def _frame(size: int) -> tuple[Image.Image, Image.Image]:
    """A wooden moulding round the picture, and the mask of where it is."""
    rng = np.random.default_rng(size)
    width = round(FRAME * size)
    streaks = rng.normal(0, 1, (width, 9))
    strip = Image.fromarray(streaks.astype(np.float32)).resize((size, width))
    across = np.linspace(0, 1, width)[:, None]
    relief = 0.80 + 0.30 * np.sin(np.pi * across) + 0.045 * np.asarray(strip)
    plank = (relief[:, :, None] * np.array(WOOD)).clip(0, 255).astype(np.uint8)
    side = Image.fromarray(plank)
    mitre = Image.new("L", (size, width))
    ImageDraw.Draw(mitre).polygon((0, 0, size, 0, size - width, width, width, width), fill=255)
    moulding, place = Image.new("RGB", (size, size)), Image.new("L", (size, size), 255)
    place.paste(0, (width, width, size - width, size - width))
    for _ in range(4):
        moulding.paste(side, mask=mitre)
        moulding = moulding.rotate(90)
    return moulding, place


@lru_cache(maxsize=2 * PAPER_SHEETS)
def _paper_grain(size: int, sheet: int) -> Pixels:
    """The mottle and grain of one sheet of paper, as factors near one."""
    rng = np.random.default_rng([size, sheet])
    fine = rng.normal(0, 0.006, (size, size)).astype(np.float32)
    cloud = Image.fromarray(rng.normal(0, 1, (12, 12)).astype(np.float32))
    mottle = np.asarray(cloud.resize((size, size), Image.Resampling.BICUBIC))
    return (1 + fine + 0.010 * mottle).astype(np.float32)


def _share(z: float) -> float:
    """Squeeze a z-score into 0 to 1, nearly straight over the common range."""
    return 0.5 + 0.5 * float(np.tanh(z / 2))


def _hue(z: float) -> Colour:
    """The colour at a place on the open arc of hues; z is uniform between -√3 and √3."""
    place = np.clip(0.5 + z / (2 * np.sqrt(3)), 0, 1) * (len(HUES) - 1)
    red, green, blue = (np.interp(place, range(len(HUES)), channel) for channel in HUES.T)
    return round(float(red)), round(float(green)), round(float(blue))


def _mix(first: Colour, second: Colour, share: float) -> Colour:
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(first, second, strict=True))
    return red, green, blue
