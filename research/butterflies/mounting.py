"""A specimen in its drawer: paper, shadows, the light of one lamp and a wooden frame."""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter

from .look import WOOD, Look

Pixels = NDArray[np.float32]

FRAME = 0.021  # breadth of the moulding, as a share of the picture
PAPER_SHEETS = 8


def mount(
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
