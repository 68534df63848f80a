"""Paints one butterfly as a museum specimen: cream paper, a soft shadow and a pin.

Everything is drawn as polygons on a canvas three times too large and then reduced, which smooths
the edges; light, shadow and paper are added at the final size, where they are cheap.
"""

from collections.abc import Mapping
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
SHADES = 22  # nested contours per wing; more would not be seen

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
COOL_PAPER = (226, 229, 226)
WARM_PAPER = (240, 216, 170)
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
        scale=between(0.345, 0.475, "size"),
        tilt=between(-0.30, 0.30, "tilt"),
        dot_radius=between(0.004, 0.047, "dots"),
        vein_strength=share["veins"],
        scallop_depth=between(0.0, 0.17, "scallops"),
        paper=_mix(COOL_PAPER, WARM_PAPER, share["paper"]),
        light=between(-1.25, 1.25, "light"),
        antenna_length=share["antennae"],
        body_width=between(0.030, 0.095, "body"),
        tail_length=between(0.0, 0.46, "tails"),
        speckles=round(between(0, 230, "speckle")),
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
        self._centre = np.array([0.5, 0.512]) * self._side
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
        brush, ink = self._tool(colour, opacity)
        reach = radius * self._unit
        for side in (1, -1):
            x, y = self._placed(centre[None, :], side)
            brush.ellipse((x - reach, y - reach, x + reach, y + reach), fill=ink)

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
    midline, widths = anatomy.tail(wing, look.tail_length)
    tail = anatomy.stroke(midline, widths)
    sheet.add(tail, _mix(DARK, look.wing, 0.12))
    ground = _mix(look.wing, PALE, 0.16)
    _paint_ground(sheet, wing, ground)
    edge = wing.ribbon(0.925, 1.0, overhang=8)
    sheet.fill(edge, _mix(DARK, look.wing, 0.12), 0.92)
    middle, half = 0.60, look.band_width / 2
    for feather in (0.016, 0.008, 0.0):
        band = wing.ribbon(middle - half - feather, middle + half + feather, overhang=26)
        sheet.fill(band, _mix(DARK, look.wing, 0.10), 0.95 if feather == 0 else 0.35)
    _paint_veins(sheet, look, wing, count=7)
    _paint_speckles(sheet, look, wing, rng)


def _paint_fore_wings(sheet: Sheet, look: Look, wing: Wing, rng: np.random.Generator) -> None:
    for drop in (0.030, 0.022, 0.014, 0.007):
        sheet.fill(wing.outline - (0.0, drop), DARK, 0.13)
    _paint_ground(sheet, wing, look.wing)
    _paint_fore_edge(sheet, look, wing)
    _paint_veins(sheet, look, wing, count=7)
    _paint_speckles(sheet, look, wing, rng)
    _paint_dots(sheet, look, wing)
    _paint_eyespot(sheet, look)


def _paint_ground(sheet: Sheet, wing: Wing, colour: Colour) -> None:
    """Shade from a dusky root over a bright field to a deeper margin."""
    sheet.cut(wing.outline)
    for fraction in np.linspace(1, 0.08, SHADES):
        dusk = 0.55 * (1 - fraction) ** 2 + 0.22 * fraction**3
        glow = 0.20 * np.exp(-(((fraction - 0.62) / 0.22) ** 2))
        shade = _mix(_mix(colour, DARK, float(dusk)), PALE, float(glow))
        sheet.fill(wing.contour(float(fraction)), shade)


def _paint_fore_edge(sheet: Sheet, look: Look, wing: Wing) -> None:
    """A dark margin, broadest below the tip, and a dark leading edge."""
    dark = _mix(DARK, look.wing, 0.10)
    overhang = 14
    rays = wing.margin(overhang)
    along = np.linspace(0, 1, len(rays))
    breadth = 0.095 + 0.085 * np.exp(-(((along - 0.30) / 0.28) ** 2))
    for feather in (0.02, 0.01, 0.0):
        edge = wing.ribbon(1 - breadth - feather, np.ones(len(rays)), overhang)
        sheet.fill(edge, dark, 0.95 if feather == 0 else 0.35)
    leading = wing.outline[3 : wing.margin_start - 4]
    inner = wing.root + 0.945 * (leading - wing.root)
    sheet.fill(np.concatenate([leading, inner[::-1]]), dark, 0.85)


def _paint_veins(sheet: Sheet, look: Look, wing: Wing, count: int) -> None:
    width = 0.0022 + 0.0085 * look.vein_strength
    opacity = 0.10 + 0.75 * look.vein_strength
    for along in np.linspace(0, 1, count):
        midline = anatomy.vein(wing, float(along), bow=0.05 * (0.5 - float(along)))
        taper = width * np.linspace(1.25, 0.7, len(midline))
        sheet.fill(anatomy.stroke(midline, taper), DARK, opacity)


def _paint_speckles(sheet: Sheet, look: Look, wing: Wing, rng: np.random.Generator) -> None:
    """Dark scales strewn over the wing; the first ones stay where they are as more are added."""
    places = rng.random((230, 3))
    for along, out, weight in places[: look.speckles].tolist():
        place = wing.at(along, 0.14 + 0.76 * out**0.7)
        sheet.dot(place, 0.0035 + 0.0055 * weight, DARK, 0.75)


def _paint_dots(sheet: Sheet, look: Look, wing: Wing) -> None:
    for cell in range(6):
        sheet.dot(wing.at((cell + 0.5) / 6, 0.905), look.dot_radius, PALE)


def _paint_eyespot(sheet: Sheet, look: Look) -> None:
    centre, radius = np.array([0.555, 0.335]), 0.142
    sheet.dot(centre, radius * 1.14, look.wing, 0.55)
    sheet.dot(centre, radius, DARK)
    sheet.dot(centre, radius * 0.90, PALE)
    pupil = radius * 0.90 * look.pupil_share
    sheet.dot(centre, pupil, (24, 20, 26))
    sheet.dot(centre + pupil * np.array([-0.30, 0.34]), pupil * 0.24, (250, 250, 250), 0.95)


def _paint_antennae(sheet: Sheet, look: Look) -> None:
    midline, widths = anatomy.antenna(look.antenna_length)
    sheet.add(anatomy.stroke(midline, widths), DARK)


def _paint_body(sheet: Sheet, look: Look, rng: np.random.Generator) -> None:
    fur, width = _mix(DARK, look.wing, 0.16), look.body_width
    origin = np.array([0.0, 0.0])
    abdomen = anatomy.abdomen(width)
    sheet.add(abdomen, _mix(fur, (0, 0, 0), 0.25))
    for share in np.linspace(0.92, 0.15, 7):
        light = _mix(fur, PALE, 0.38 * (1 - float(share)))
        sheet.fill_once(abdomen * (share, 0.985), light)
    for ring in np.linspace(-0.10, -0.48, 8):
        half = width * 1.05 * np.sqrt(1 - (ring / 0.54) ** 4)
        line = np.array([(-half, ring + 0.008), (0, ring - 0.006), (half, ring + 0.008)])
        sheet.fill_once(anatomy.stroke(line, 0.0055), DARK, 0.55)
    thorax = anatomy.ellipse(origin + (0, 0.075), 0.028 + 0.95 * width, 0.155)
    head = anatomy.ellipse(origin + (0, 0.245), 0.022 + 0.42 * width, 0.052)
    for shape, middle in ((head, 0.245), (thorax, 0.075)):
        sheet.add(shape, _mix(fur, (0, 0, 0), 0.25))
        for share in np.linspace(0.9, 0.2, 7):
            light = _mix(fur, PALE, 0.30 * (1 - float(share)))
            sheet.fill_once((shape - (0, middle)) * share + (0, middle), light)
    _paint_fur(sheet, look, rng)
    eye = np.array([0.016 + 0.40 * width, 0.262])
    sheet.dot(eye, 0.019, (22, 17, 16))
    _paint_pin(sheet, look)


def _paint_fur(sheet: Sheet, look: Look, rng: np.random.Generator) -> None:
    width = 0.028 + 0.95 * look.body_width
    for angle, out, tone in rng.random((70, 3)).tolist():
        direction = np.array([np.sin(np.pi * angle), np.cos(np.pi * angle)])
        start = np.array([0, 0.075]) + out * direction * (width * 0.75, 0.125)
        hair = np.array([start, start + direction * (0.036, 0.036)])
        colour = _mix(DARK, _mix(PALE, look.wing, 0.5), 0.15 + 0.45 * tone)
        sheet.fill(anatomy.stroke(hair, 0.0032), colour, 0.6)


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
    """Lay the specimen on its paper, with the shadows and the light of one lamp."""
    size = coverage.width
    paper = np.asarray(look.paper, dtype=np.float32) * _paper_grain(size, int(rng.integers(8)))
    paper *= 1 - _shadow(coverage, look, 0.026, 0.012, 0.34)
    paper *= 1 - _shadow(coverage, look, 0.052, 0.026, 0.20)
    cover = np.asarray(coverage, dtype=np.float32)[:, :, None] / 255
    picture = paper + cover * (np.asarray(specimen, dtype=np.float32) - paper)
    picture *= _lamp(size, look.light)
    picture = _framed(picture, look.light)
    return Image.fromarray(np.clip(picture + 0.5, 0, 255).astype(np.uint8), "RGB")


def _shadow(coverage: Image.Image, look: Look, reach: float, blur: float, depth: float) -> Pixels:
    size = coverage.width
    dx, dy = np.sin(look.light) * reach * size, np.cos(look.light) * reach * size
    # Blurring a small copy looks the same and costs a quarter.
    small = coverage.reduce(2).filter(ImageFilter.GaussianBlur(blur * size / 2))
    moved = small.transform(
        (size, size),
        Image.Transform.AFFINE,
        (0.5, 0, -dx / 2, 0, 0.5, -dy / 2),
        Image.Resampling.BILINEAR,
    )
    shade: Pixels = np.asarray(moved, dtype=np.float32)[:, :, None] * np.float32(depth / 255)
    return shade


def _lamp(size: int, light: float) -> Pixels:
    """Brightness falling off away from the lamp."""
    axis = np.linspace(-1, 1, size, dtype=np.float32)
    across = -np.sin(light) * axis[None, :]
    down = -np.cos(light) * axis[:, None]
    glow: Pixels = (1.0 + 0.10 * (across + down))[:, :, None].astype(np.float32)
    return glow


def _framed(picture: Pixels, light: float) -> Pixels:
    return picture


@lru_cache(maxsize=16)
def _paper_grain(size: int, sheet: int) -> Pixels:
    """The mottle and fibres of one sheet of paper, as factors near one."""
    rng = np.random.default_rng([size, sheet])
    fine = rng.normal(0, 0.010, (size, size))
    cloud = Image.fromarray(rng.normal(0.5, 0.25, (12, 12)).astype(np.float32), "F")
    mottle = np.asarray(cloud.resize((size, size), Image.Resampling.BICUBIC)) - 0.5
    grain: Pixels = (1 + fine + 0.03 * mottle)[:, :, None].astype(np.float32)
    return grain


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
