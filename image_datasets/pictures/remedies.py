"""The pixels of a remedy: crop, square, border, brightness. Every image is treated alike and by itself."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from PIL import Image, ImageFilter

from image_datasets.remedy import Remedy

# Left, top, right and bottom, in pixels.
Box: TypeAlias = tuple[int, int, int, int]

# What a masked border is painted with, and the brightness and contrast of an equalised image, in grey levels.
GREY = 128
CONTRAST = 50.0
# A flat image has no contrast to bring out, only noise.
MOST_GAIN = 5.0
# Clipping changes what was just set; after these rounds the rest is less than a grey level.
ROUNDS = 6
# The radius of the blur as a share of the longer side: no outline is left.
BLUR = 0.05


def cropped(image: Image.Image, remedy: Remedy) -> Image.Image:
    """The part of an image that stays."""
    box = _box(image.size, remedy)
    return image if box == (0, 0, *image.size) else image.crop(box)


def cropped_size(size: tuple[int, int], remedy: Remedy) -> tuple[int, int]:
    left, top, right, bottom = _box(size, remedy)
    return right - left, bottom - top


def treated(canvas: Image.Image, remedy: Remedy) -> Image.Image:
    """The image as workers will see it, of the same size."""
    inside = _inside(canvas.size, remedy)
    if remedy.equalises_brightness:
        # What a mask hides has no say in how bright the rest is.
        canvas = _equalised(canvas, inside if remedy.border == "mask" else (0, 0, *canvas.size))
    return _bordered(canvas, inside, remedy.border) if remedy.border else canvas


def _box(size: tuple[int, int], remedy: Remedy) -> Box:
    width, height = size
    left, right = round(width * remedy.crop_left / 100), round(width * remedy.crop_right / 100)
    top, bottom = round(height * remedy.crop_top / 100), round(height * remedy.crop_bottom / 100)
    right, bottom = width - right, height - bottom
    if remedy.crops_to_square:
        side = min(right - left, bottom - top)
        left, top = (left + right - side) // 2, (top + bottom - side) // 2
        right, bottom = left + side, top + side
    return left, top, right, bottom


def _inside(size: tuple[int, int], remedy: Remedy) -> Box:
    """What lies within the border."""
    width, height = size
    across, down = (round(side * remedy.border_width / 100) for side in size)
    return across, down, width - across, height - down


def _bordered(canvas: Image.Image, inside: Box, border: str) -> Image.Image:
    if border == "mask":
        framed = Image.new("RGB", canvas.size, (GREY, GREY, GREY))
    else:
        framed = canvas.filter(ImageFilter.GaussianBlur(BLUR * max(canvas.size)))
    framed.paste(canvas.crop(inside), inside[:2])
    return framed


def _equalised(canvas: Image.Image, counted: Box) -> Image.Image:
    """The same mean and deviation of grey for every image, within the box; colours are stretched with it."""
    pixels = np.asarray(canvas, dtype=np.float64)
    left, top, right, bottom = counted
    for _ in range(ROUNDS):
        grey = pixels[top:bottom, left:right] @ np.array([0.299, 0.587, 0.114])
        gain = min(CONTRAST / max(float(grey.std()), 1e-9), MOST_GAIN)
        pixels = np.clip(GREY + gain * (pixels - grey.mean()), 0, 255)
    return Image.fromarray(np.rint(pixels).astype(np.uint8))
