"""The colours of the butterflies, their paper and their frame."""

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


def hue(z: float) -> Colour:
    """The colour at a place on the open arc of hues; z is uniform between -√3 and √3."""
    place = np.clip(0.5 + z / (2 * np.sqrt(3)), 0, 1) * (len(HUES) - 1)
    red, green, blue = (np.interp(place, range(len(HUES)), channel) for channel in HUES.T)
    return round(float(red)), round(float(green)), round(float(blue))


def mix(first: Colour, second: Colour, share: float) -> Colour:
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(first, second, strict=True))
    return red, green, blue
