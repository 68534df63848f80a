"""Cues that have nothing to do with the concept: how well they predict the class, and which features use them.

People and models use whatever works: a white background, the blur of one camera, the file sizes of one collection. A
small classifier that sees only such cues shows, by cross-validation, how well they work.

Features read a shortcut if their concept is right less often where the shortcut misleads. Images of one class are
compared with each other: to features that see only the concept it makes no difference whether, say, the brightness of
an image points to its class or away from it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
from PIL import Image

from image_datasets.extractors.base import Describer, Description, ImageLike, checked_labels
from image_datasets.pictures.encoding import Original
from teaching.engine.arrays import FloatArray

from .target import Accuracy, accuracy_of_features

if TYPE_CHECKING:
    # Processes that compute cues import this module without Django.
    from studies.shortcuts import Shortcuts

# Cues are clipped at this many standard deviations from the mean.
MAX_DEVIATIONS = 3.0
# The width of the border and of the corners, as shares of the image.
BORDER, CORNER = 0.06, 0.15
# The threshold of the Mantel-Haenszel test: about a 95 % interval.
STANDARD_ERRORS = 2
# If a shortcut misleads about fewer images, the test cannot tell whether features read it.
MIN_MISLED = 5
# Added before a logarithm, in grey levels: smaller values are rounding errors.
FLAT = 0.5


@dataclass(frozen=True)
class Cue:
    """A group of columns. The remedies are in `studies.shortcuts`."""

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
# The smallest visible standard deviation of each column: a grey level, or one per cent of the sharpness.
JUST_VISIBLE = np.ones(28)
JUST_VISIBLE[24:26] = 0.01
BoolArray: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class CueAccuracy:
    """How well one cue, or all of them together, predict the class; cross-validated."""

    name: str
    title: str
    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class CueReport:
    """All cues together and each alone, the most predictive first; `studies.shortcuts` judges them."""

    together: CueAccuracy
    each: tuple[CueAccuracy, ...]
    chance: float
    """the share of the most frequent class"""
    right: Mapping[str, BoolArray]
    """by the name of a cue: for which images it predicts the class, out of fold; (n,) each"""

    def as_json(self) -> dict[str, Any]:
        """Plain numbers and strings, without the predictions for single images."""
        return {
            "together": asdict(self.together),
            "each": [asdict(cue) for cue in self.each],
            "chance": self.chance,
        }


class ImageCues(Describer):
    """Makes `describe_all` compute the cues of images."""

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
    """The mean absolute Laplacian: blurring and enlarging make it small."""
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
    """How well cues alone predict the class.

    `cues` (n, 28) are from `image_cues`, `originals` has one entry per image (or is None if the files are unknown),
    `labels` (n,) are class numbers.
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
    """Cues (n, 28); columns whose differences between images are invisible become 0."""
    return np.where(cues.std(axis=0) > JUST_VISIBLE, cues, 0.0)


def curved(numbers: FloatArray) -> FloatArray:
    """Standardised columns (n, c) and their squares; (n, 2c).

    With squares, a linear classifier can separate a class in the middle of a cue from one on both sides of it.
    """
    deviation = numbers.std(axis=0)
    scaled = (numbers - numbers.mean(axis=0)) / np.where(deviation > 1e-9, deviation, np.inf)
    capped = np.clip(scaled, -MAX_DEVIATIONS, MAX_DEVIATIONS)
    squares = capped**2
    both = np.hstack([capped, squares - squares.mean(axis=0)])
    return np.asarray(both / math.sqrt(both.shape[1]))


@dataclass(frozen=True)
class Reading:
    """Whether a concept on some features uses one shortcut."""

    cue: str
    title: str
    where_right: float | None
    """the concept's accuracy where the cue is right; None without such images"""
    where_misleading: float | None
    misled: int
    """the number of images for which the cue predicts the wrong class"""
    is_read: bool

    @property
    def is_known(self) -> bool:
        return self.misled >= MIN_MISLED


def readings_of(
    accuracy: Accuracy, cues: CueReport, shortcuts: Shortcuts, labels: npt.ArrayLike
) -> list[Reading]:
    """One for each shortcut; labels (n,)."""
    y = np.asarray(labels)
    right = accuracy.right(y)
    return [
        Reading(
            cue.name,
            cue.title,
            _share(right[cues.right[cue.name]]),
            _share(right[~cues.right[cue.name]]),
            int(np.count_nonzero(~cues.right[cue.name])),
            is_read(right, cues.right[cue.name], y),
        )
        for cue in shortcuts.found
    ]


def is_read(right: BoolArray, cue_right: BoolArray, labels: npt.NDArray[np.generic]) -> bool:
    """Whether the concept tends to be right where the cue is right, within classes: the Mantel-Haenszel test."""
    if np.count_nonzero(~cue_right) < MIN_MISLED:
        return True
    return bool(mantel_haenszel(right, cue_right, labels) >= STANDARD_ERRORS)


def mantel_haenszel(
    right: BoolArray, cue_right: BoolArray, labels: npt.NDArray[np.generic]
) -> float:
    """The Mantel-Haenszel statistic as a z-score: both are right more often than independence predicts."""
    surplus = variance = 0.0
    for label in np.unique(labels):
        mine = labels == label
        n, first, second = (
            float(np.count_nonzero(some)) for some in (mine, right & mine, cue_right & mine)
        )
        surplus += np.count_nonzero(right & cue_right & mine) - first * second / n
        if n > 1:
            variance += first * second * (n - first) * (n - second) / (n * n * (n - 1))
    return surplus / math.sqrt(variance) if variance > 0 else 0.0


def _share(right: BoolArray) -> float | None:
    return float(right.mean()) if len(right) else None
