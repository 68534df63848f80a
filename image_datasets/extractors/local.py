"""Local descriptions of an image: gradient histograms and colours on dense grids.

Both are bytes on a small square canvas: ten thousand images take 400 MB.
"""

import numpy as np
import numpy.typing as npt

from .base import ByteArray, Description, Extractor, Float32Array, ImageLike, square_canvas

# The canvas is 20 × 20 cells of 8 × 8 pixels. A patch is 4 × 4 cells and starts at every cell.
CELL = 8
CELLS = 20
CANVAS = CELL * CELLS
PATCH = 4
PATCHES = CELLS - PATCH + 1
ORIENTATIONS = 8
GRADIENT_WIDTH = PATCH**2 * ORIENTATIONS
# The mean and the spread of brightness and of two opponent colours.
COLOUR_WIDTH = 6

# One strong edge must not drown the rest of a patch, nor noise be blown up to an edge: entries are
# capped at a fifth of the patch's length, and patches with less contrast than this stay short.
CAP = 0.2
FAINT = 60.0
# An entry of a patch of length one, as a byte.
BYTE_SCALE = 512

_GRADIENT_BYTES = PATCHES**2 * GRADIENT_WIDTH


class LocalExtractor(Extractor):
    """An extractor that starts from local descriptions; all of them share these."""

    kind = "local"

    def describe(self, image: ImageLike) -> Description:
        """Gradient histograms and colours."""
        return describe(image)


def describe(image: ImageLike) -> Description:
    """Gradient histograms of all patches, then colours of all cells, as bytes in one row."""
    canvas = square_canvas(image, CANVAS).astype(np.float32)
    brightness = canvas @ np.array([0.299, 0.587, 0.114], dtype=np.float32)
    gradients = patch_histograms(cell_histograms(brightness))
    return np.concatenate([gradients.ravel(), cell_colours(canvas).ravel()])


def gradients_of(descriptions: Description) -> ByteArray:
    """(n, PATCHES², GRADIENT_WIDTH), patches row by row; no copy."""
    return descriptions[:, :_GRADIENT_BYTES].reshape(-1, PATCHES**2, GRADIENT_WIDTH)


def colours_of(descriptions: Description) -> ByteArray:
    """(n, CELLS², COLOUR_WIDTH), cells row by row; no copy."""
    return descriptions[:, _GRADIENT_BYTES:].reshape(-1, CELLS**2, COLOUR_WIDTH)


def cell_histograms(brightness: Float32Array, cell: int = CELL) -> Float32Array:
    """How much gradient points where in each cell; (rows, columns, ORIENTATIONS).

    `brightness` (h, w) is a whole number of cells. A gradient is shared by the two nearest of the
    orientations, in proportion.
    """
    down, right = _differences(brightness.T).T, _differences(brightness)
    turn = np.arctan2(down, right) * (ORIENTATIONS / (2 * np.pi))
    length = np.hypot(down, right)
    below = np.floor(turn)
    upper_part = length * (turn - below)
    orientation = below.astype(np.intp) % ORIENTATIONS
    rows, columns = (extent // cell for extent in brightness.shape)
    place = np.repeat(np.arange(rows), cell)[:, None] * columns
    slot = (place + np.repeat(np.arange(columns), cell)) * ORIENTATIONS
    size = rows * columns * ORIENTATIONS
    lower = np.bincount((slot + orientation).ravel(), (length - upper_part).ravel(), size)
    next_orientation = (orientation + 1) % ORIENTATIONS
    upper = np.bincount((slot + next_orientation).ravel(), upper_part.ravel(), size)
    return (lower + upper).astype(np.float32).reshape(rows, columns, ORIENTATIONS)


def _differences(rows: Float32Array) -> Float32Array:
    """Right less left neighbour along each row; 0 at both ends, where there is no such pair."""
    differences = np.zeros_like(rows)
    differences[:, 1:-1] = rows[:, 2:] - rows[:, :-2]
    return differences


def patch_histograms(cells: Float32Array) -> ByteArray:
    """The cells (rows, columns, o) of every patch side by side; (patches, PATCH² · o) as bytes."""
    windows = np.lib.stride_tricks.sliding_window_view(cells, (PATCH, PATCH), axis=(0, 1))
    patches = windows.transpose(0, 1, 3, 4, 2).reshape(-1, PATCH**2 * cells.shape[2])
    capped = np.minimum(patches / np.maximum(_lengths(patches), FAINT), CAP)
    capped /= np.maximum(_lengths(capped), CAP)
    return as_bytes(capped * BYTE_SCALE)


def _lengths(rows: Float32Array) -> Float32Array:
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None], dtype=np.float32)


def cell_colours(canvas: Float32Array, cell: int = CELL) -> ByteArray:
    """Mean and spread of the colours of each cell of (h, w, 3), (cells, COLOUR_WIDTH) as bytes.

    Opponent colours (red against green, yellow against blue) hardly change with the light.
    """
    red, green, blue = np.moveaxis(canvas, 2, 0)
    opponents = np.stack(
        [(red + green + blue) / 3, (red - green) / 2, (red + green) / 4 - blue / 2]
    )
    rows, columns = canvas.shape[0] // cell, canvas.shape[1] // cell
    pixels = opponents.reshape(3, rows, cell, columns, cell)
    means = pixels.mean(axis=(2, 4)) + np.array([0, 127.5, 127.5])[:, None, None]
    spreads = 2 * pixels.std(axis=(2, 4))
    return as_bytes(np.concatenate([means, spreads]).reshape(COLOUR_WIDTH, -1).T)


def as_bytes(numbers: npt.NDArray[np.floating]) -> ByteArray:
    """The nearest whole numbers from 0 to 255."""
    return np.asarray(np.clip(np.rint(numbers), 0, 255), dtype=np.uint8)
