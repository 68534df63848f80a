"""How a butterfly looks: its traits as lengths, angles, shares and colours, and the colours of paper and frame."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

Colour: TypeAlias = tuple[int, int, int]

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
MOST_SPECKLES = 240


def hue(z: float) -> Colour:
    """The colour at a place on the open arc of hues; z is uniform between -√3 and √3."""
    place = np.clip(0.5 + z / (2 * np.sqrt(3)), 0, 1) * (len(HUES) - 1)
    red, green, blue = (np.interp(place, range(len(HUES)), channel) for channel in HUES.T)
    return round(float(red)), round(float(green)), round(float(blue))


def mix(first: Colour, second: Colour, share: float) -> Colour:
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(first, second, strict=True))
    return red, green, blue


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
        paper=mix(COOL_PAPER, WARM_PAPER, share["paper"]),
        light=between(-1.25, 1.25, "light"),
        antenna_length=share["antennae"],
        body_width=between(0.030, 0.095, "body"),
        tail_length=between(0.0, 0.44, "tails"),
        speckles=round(between(0, MOST_SPECKLES, "speckle")),
        wing=hue(traits["hue"]),
    )


def _share(z: float) -> float:
    """Squeeze a z-score into 0 to 1, nearly straight over the common range."""
    return 0.5 + 0.5 * float(np.tanh(z / 2))
