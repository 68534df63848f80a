"""Do cues that have nothing to do with the concept give the class away?

Workers and models will use whatever works: a white background, the blur of one camera, the size of
the files of one collection. A small classifier that sees nothing but such cues tells how far they
carry, by cross-validation.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from PIL import Image

from image_datasets.extractors.base import Describer, Description, ImageLike, checked_labels
from image_datasets.pictures.encoding import Original
from teaching.engine.arrays import FloatArray

from .target import accuracy_of_features

# Cues this many deviations from the mean are as far as far can be.
FARTHEST = 3.0
# The width of the border and of the corners, as shares of the image.
BORDER, CORNER = 0.06, 0.15
# Added before a logarithm, in grey levels: below it there is nothing but rounding.
FLAT = 0.5


@dataclass(frozen=True)
class Cue:
    """A group of numbers and what it is called. What to do about it is in `studies.shortcuts`."""

    name: str
    title: str


ALL = Cue("together", "all cues together")
# Read from the pixels, with the columns of `image_cues`.
IMAGE_CUES: dict[Cue, slice] = {
    Cue("border", "the colour of the border"): slice(0, 12),
    Cue("corners", "the colour of the corners"): slice(12, 24),
    Cue("sharpness", "the sharpness"): slice(24, 26),
    Cue("brightness", "the brightness"): slice(26, 27),
    Cue("contrast", "the contrast"): slice(27, 28),
}
# Read from the original files.
FILE_CUES: tuple[Cue, ...] = (
    Cue("shape", "the shape of the image"),
    Cue("pixels", "the resolution of the original"),
    Cue("bytes", "the size of the original file"),
    Cue("compression", "the compression of the original"),
    Cue("format", "the format of the original"),
)
# The deviation of each column that somebody might see: a grey level, or one per cent of the sharpness.
JUST_VISIBLE = np.ones(28)
JUST_VISIBLE[24:26] = 0.01
BoolArray: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class CueAccuracy:
    """How well one cue, or all of them, tell the classes apart; cross-validated."""

    name: str
    title: str
    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class CueReport:
    """All cues together and each by itself, the most telling first; `studies.shortcuts` judges them."""

    together: CueAccuracy
    each: tuple[CueAccuracy, ...]
    chance: float
    """what guessing the more frequent class gives"""
    right: Mapping[str, BoolArray]
    """by a cue's name, which images it tells the class of, out of fold; (n,) each"""

    def as_json(self) -> dict[str, Any]:
        """Plain numbers and strings, without what is said of single images."""
        return {
            "together": asdict(self.together),
            "each": [asdict(cue) for cue in self.each],
            "chance": self.chance,
        }


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
        "shape": np.log([file.aspect for file in originals])[:, None],
        "pixels": np.log(width * height)[:, None],
        "bytes": np.log(size)[:, None],
        "compression": np.log(size / (width * height))[:, None],
        "format": np.array(one_hot),
    }


def measure_cues(
    cues: FloatArray, originals: Sequence[Original] | None, labels: npt.ArrayLike, seed: int = 0
) -> CueReport:
    """How well cues alone give the class away.

    `cues` (n, 28) come from `image_cues`, `originals` has one entry per image (or is None if the
    files are not known), `labels` (n,) are class numbers.
    """
    y = checked_labels(labels, len(cues))
    seen = visible(cues)
    columns = {cue: seen[:, place] for cue, place in IMAGE_CUES.items()}
    if originals is not None:
        read = file_cues(originals)
        columns |= {cue: read[cue.name] for cue in FILE_CUES}
    columns[ALL] = np.hstack(list(columns.values()))
    found = {cue: accuracy_of_features(curved(some), y, seed) for cue, some in columns.items()}
    rows = {
        cue: CueAccuracy(cue.name, cue.title, accuracy.mean, accuracy.low, accuracy.high)
        for cue, accuracy in found.items()
    }
    together = rows.pop(ALL)
    return CueReport(
        together,
        tuple(sorted(rows.values(), key=lambda row: -row.mean)),
        float(np.unique(y, return_counts=True)[1].max() / len(y)),
        {cue.name: accuracy.right(y) for cue, accuracy in found.items()},
    )


def visible(cues: FloatArray) -> FloatArray:
    """Cues (n, 28) without those that differ less between images than anybody can see."""
    return np.where(cues.std(axis=0) > JUST_VISIBLE, cues, 0.0)


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
