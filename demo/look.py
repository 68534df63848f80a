"""How a butterfly looks: its traits as lengths, angles, shares and colours."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from demo.colours import COOL_PAPER, WARM_PAPER, Colour, hue, mix

MOST_SPECKLES = 240


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
