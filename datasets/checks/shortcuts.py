"""Do cues that have nothing to do with the concept give the class away?

Workers and models will use whatever works: a white background, the blur of one camera, the size of
the files of one collection. A small classifier that sees nothing but such cues tells how far they
carry, by cross-validation.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PIL import Image

from datasets.extractors.base import Describer, Description, ImageLike, checked_labels
from datasets.pictures.encoding import Original
from teaching.engine.arrays import FloatArray

from .target import accuracy_of_features

# A cue gives the class away if even the lower end of its interval is this far above guessing. Of a
# dozen cues one is always a little above it by luck.
MARGIN = 0.1
# Cues this many deviations from the mean are as far as far can be.
FARTHEST = 3.0
# The width of the border and of the corners, as shares of the image.
BORDER, CORNER = 0.06, 0.15
# Added before a logarithm, in grey levels: below it there is nothing but rounding.
FLAT = 0.5


@dataclass(frozen=True)
class Cue:
    """A group of numbers, what it is called and what to do if it gives the class away."""

    name: str
    title: str
    remedy: str


BACKGROUND = "photograph both classes against the same backgrounds, or crop the images"
COLLECTION = "take both classes from the same source, or save all originals in the same way first"

# Read from the pixels, with the columns of `image_cues`.
IMAGE_CUES: dict[Cue, slice] = {
    Cue("border", "the colour of the border", BACKGROUND): slice(0, 12),
    Cue("corners", "the colour of the corners", BACKGROUND): slice(12, 24),
    Cue("sharpness", "the sharpness", "take both classes with the same kind of camera"): slice(
        24, 26
    ),
    Cue("brightness", "the brightness", "take both classes in the same light"): slice(26, 27),
    Cue("contrast", "the contrast", "take both classes in the same light"): slice(27, 28),
}
# Read from the original files.
FILE_CUES: tuple[Cue, ...] = (
    Cue("shape", "the shape of the image", "crop all images to one shape"),
    Cue("pixels", "the resolution of the original", COLLECTION),
    Cue("bytes", "the size of the original file", COLLECTION),
    Cue("compression", "the compression of the original", COLLECTION),
    Cue("format", "the format of the original", COLLECTION),
)


@dataclass(frozen=True)
class Shortcut:
    """How well one cue, or all of them, tell the classes apart; cross-validated."""

    name: str
    title: str
    mean: float
    low: float
    high: float
    gives_away: bool


@dataclass(frozen=True)
class Concern:
    """What is the matter, and what to do about it."""

    code: str
    message: str
    remedy: str


@dataclass(frozen=True)
class ShortcutReport:
    """All cues together and each by itself, the most telling first."""

    together: Shortcut
    each: tuple[Shortcut, ...]
    chance: float
    """what guessing the more frequent class gives"""
    warnings: tuple[Concern, ...]


class ImageCues(Describer):
    """Reads the cues of an image's pixels, in place of an extractor where many images are described."""

    def describe(self, image: ImageLike) -> Description:
        """Cues (28,) as `image_cues` orders them."""
        return image_cues(image)


def image_cues(image: ImageLike) -> FloatArray:
    """Colours of four borders and four corners, two of sharpness, brightness, contrast; (28,)."""
    opened = image if isinstance(image, Image.Image) else Image.fromarray(image)
    pixels = np.asarray(opened.convert("RGB"), dtype=np.float64)
    grey = pixels @ np.array([0.299, 0.587, 0.114])
    contrast = float(grey.std())
    edges = _edge_strength(grey)
    sharpness = [math.log(edges + FLAT), math.log((edges + FLAT) / (contrast + FLAT))]
    frame = [_mean_colour(part) for part in (*_borders(pixels), *_corners(pixels))]
    return np.array([*np.concatenate(frame), *sharpness, grey.mean(), contrast])


def _edge_strength(grey: FloatArray) -> float:
    """The mean size of the Laplacian: blur and enlarging make it small."""
    if min(grey.shape) < 3:
        return 0.0
    around = grey[:-2, 1:-1] + grey[2:, 1:-1] + grey[1:-1, :-2] + grey[1:-1, 2:]
    return float(np.abs(around - 4 * grey[1:-1, 1:-1]).mean())


def _borders(pixels: FloatArray) -> list[FloatArray]:
    rows, columns = _extents(pixels, BORDER)
    return [pixels[:rows], pixels[-rows:], pixels[:, :columns], pixels[:, -columns:]]


def _corners(pixels: FloatArray) -> list[FloatArray]:
    rows, columns = _extents(pixels, CORNER)
    halves = (pixels[:rows], pixels[-rows:])
    return [part for half in halves for part in (half[:, :columns], half[:, -columns:])]


def _extents(pixels: FloatArray, share: float) -> tuple[int, int]:
    return max(1, round(pixels.shape[0] * share)), max(1, round(pixels.shape[1] * share))


def _mean_colour(part: FloatArray) -> FloatArray:
    return np.asarray(part.reshape(-1, 3).mean(axis=0))


def file_cues(originals: Sequence[Original]) -> dict[str, FloatArray]:
    """The columns (n, c) of each cue of the original files, by name."""
    width, height, size = (
        np.array([max(1, getattr(file, name)) for file in originals], dtype=np.float64)
        for name in ("width", "height", "byte_count")
    )
    formats = sorted({file.format for file in originals})
    one_hot = [[float(file.format == name) for name in formats] for file in originals]
    return {
        "shape": np.log(width / height)[:, None],
        "pixels": np.log(width * height)[:, None],
        "bytes": np.log(size)[:, None],
        "compression": np.log(size / (width * height))[:, None],
        "format": np.array(one_hot),
    }


def check_shortcuts(
    cues: FloatArray, originals: Sequence[Original] | None, labels: npt.ArrayLike, seed: int = 0
) -> ShortcutReport:
    """How well cues alone give the class away.

    `cues` (n, 28) come from `image_cues`, `originals` has one entry per image (or is None if the
    files are not known), `labels` (n,) are in {−1, +1}.
    """
    y = checked_labels(labels, len(cues))
    columns = {cue: cues[:, place] for cue, place in IMAGE_CUES.items()}
    if originals is not None:
        read = file_cues(originals)
        columns |= {cue: read[cue.name] for cue in FILE_CUES}
    chance = max(float(np.mean(y > 0)), float(np.mean(y < 0)))

    def measured(cue: Cue, numbers: FloatArray) -> Shortcut:
        found = accuracy_of_features(curved(numbers), y, seed)
        gives_away = found.low > chance + MARGIN
        return Shortcut(cue.name, cue.title, found.mean, found.low, found.high, gives_away)

    together = measured(Cue("together", "all cues together", ""), np.hstack(list(columns.values())))
    each = sorted((measured(*row) for row in columns.items()), key=lambda found: -found.mean)
    remedies = {cue.name: cue.remedy for cue in columns}
    return ShortcutReport(together, tuple(each), chance, _warnings(together, each, remedies))


def curved(numbers: FloatArray) -> FloatArray:
    """Columns (n, c) in units of their deviation, and their squares; (n, 2c).

    A class may be the middle of a cue with the other class on both sides of it.
    """
    deviation = numbers.std(axis=0)
    scaled = (numbers - numbers.mean(axis=0)) / np.where(deviation > 1e-9, deviation, np.inf)
    capped = np.clip(scaled, -FARTHEST, FARTHEST)
    squares = capped**2
    both = np.hstack([capped, squares - squares.mean(axis=0)])
    return np.asarray(both / math.sqrt(both.shape[1]))


def percent(share: float) -> str:
    """A share for people: 100 % and 0 % only if it is exact."""
    whole = round(100 * share)
    if 0 < share < 1:
        whole = min(max(whole, 1), 99)
    return f"{whole} %"


def _warnings(
    together: Shortcut, each: Sequence[Shortcut], remedies: Mapping[str, str]
) -> tuple[Concern, ...]:
    telling = [found for found in each if found.gives_away]
    concerns = [
        Concern(
            "shortcut",
            f"{cue.title.capitalize()} alone gives the class away in {_interval(cue)}.",
            f"People and models will use it: {remedies[cue.name]}.",
        )
        for cue in telling
    ]
    if together.gives_away and not telling:
        concerns.append(
            Concern(
                "shortcut",
                "Border, light, sharpness and file together give the class away in "
                f"{_interval(together)}, though no single one does.",
                f"People and models will use them: {COLLECTION}.",
            )
        )
    return tuple(concerns)


def _interval(found: Shortcut) -> str:
    return f"{percent(found.mean)} of the images ({percent(found.low)} to {percent(found.high)})"
