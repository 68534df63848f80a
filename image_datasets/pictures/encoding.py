"""Decode an uploaded image and re-encode it as the picture that browsers get.

All pictures leave with the same longest side, format and quality, drawn on a fresh canvas, so that only their content
is left: no metadata, no comment, no trace of the original encoder. Small originals are enlarged too: if they stayed
small, the size alone would tell apart two classes that were collected from different places. Features are computed from
the smallest side. Larger sides are for high-resolution screens and are made as far as the original has more detail.
"""

from __future__ import annotations

import hashlib
import io
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from PIL import Image, ImageCms, ImageFilter, UnidentifiedImageError

from image_datasets.errors import BadImage, too_long
from image_datasets.remedy import NO_REMEDY, Remedy
from studies.images import LARGER, SMALLEST

from .duplicates import perceptual_hash

FORMATS = ("JPEG", "PNG", "WEBP", "GIF")
MIN_SIDE = 64
MAX_PIXELS = 25_000_000
MAX_BYTES = 100 * (1 << 20)
QUALITY = 85
# On the screens that get these, a pixel is too small for artefacts to be visible.
LARGER_QUALITY = 80
# Encoders write about ten scans. Each costs a pass over all pixels, so thousands would stop a server.
MAX_SCANS = 100
MAX_PROFILE_BYTES = 4 * (1 << 20)

SAVE_AGAIN = "Open it in an image program and save it as JPEG or PNG, or remove it."
ORIENTATION_TAG = 0x0112
UPRIGHT = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
# The first bytes of files that people take for images.
OTHER_KINDS = {
    b"PK\x03\x04": "a zip archive",
    b"\x1f\x8b": "a gzip archive",
    b"7z\xbc\xaf": "a 7z archive",
    b"Rar!": "a RAR archive",
    b"%PDF": "a PDF",
    b"BM": "a BMP image",
    b"II*\0": "a TIFF image",
    b"MM\0*": "a TIFF image",
    b"<svg": "an SVG drawing",
    b"<?xml": "an XML file",
    b"<!DO": "a web page",
    b"<htm": "a web page",
}
BOMBS = (Image.DecompressionBombError, Image.DecompressionBombWarning)
# Pillow's own limit, for decoders that allocate while they read the header.
Image.MAX_IMAGE_PIXELS = MAX_PIXELS

# The colour of a masked border, and the brightness and contrast of an equalised image, in grey levels.
GREY = 128
CONTRAST = 50.0
# A flat image has no contrast to amplify, only noise.
MAX_GAIN = 5.0
# Clipping changes the mean and the contrast again; after this many rounds the error is below a grey level.
ROUNDS = 6
# The radius of the blur as a share of the longer side: no outline is left.
BLUR = 0.05

# Left, top, right and bottom, in pixels.
Box: TypeAlias = tuple[int, int, int, int]


@dataclass(frozen=True)
class Original:
    """Properties of the original file, to check whether they give the class away."""

    width: int
    height: int
    """as a viewer shows it, after the orientation in its metadata"""
    byte_count: int
    format: str
    aspect: float
    """width over height of the part that is left after cropping"""


@dataclass(frozen=True)
class PreparedImage:
    """A picture as browsers will get it."""

    content: bytes
    pixel_hash: str
    """of the decoded, upright pixels: equal for exact copies, whatever the file around them"""
    perceptual_hash: bytes
    """for `duplicates.find_duplicates`"""
    original: Original
    larger: Mapping[int, bytes]
    """the same picture by longest side, for sides up to the first that is as large as the original"""


class Undecodable(Exception):
    """A decoder failed on a file, or on a part of it."""


def prepare(data: bytes, name: str, remedy: Remedy = NO_REMEDY) -> PreparedImage:
    """Decode and re-encode one image, or raise `BadImage`. The same bytes give the same result."""
    if not data:
        raise BadImage(
            file=name,
            reason="The file is empty.",
            remedy="Copy it again from where it came from, or remove it.",
        )
    if len(data) > MAX_BYTES:
        raise too_long(name, len(data), MAX_BYTES)
    # In JPEG data this pair of bytes is always the marker of a scan.
    if data.startswith(b"\xff\xd8") and data.count(b"\xff\xda") > MAX_SCANS:
        raise BadImage(
            file=name, reason=f"The JPEG has more than {MAX_SCANS} scans.", remedy=SAVE_AGAIN
        )
    try:
        with _decoding(), warnings.catch_warnings():
            # Damaged metadata is no reason to refuse an image; a decompression bomb is.
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with _open(data, name) as image:
                return _prepare(image, data, name, remedy)
    except BOMBS as error:
        raise _too_many_pixels(name, f"more than {MAX_PIXELS / 1e6:.0f}") from error
    except Undecodable as error:
        raise BadImage(
            file=name, reason="The image is damaged or cut off.", remedy=SAVE_AGAIN
        ) from error


def padded(content: bytes, size: int) -> bytes:
    """The same JPEG in exactly `size` bytes.

    The length of a file reveals something about its content, so all files of a data set are padded to the longest. The
    padding is fill bytes before the end marker, which the JPEG standard allows before any marker: no comment and no
    trailing data.
    """
    fill = size - len(content)
    if fill < 0 or not content.endswith(b"\xff\xd9"):
        raise ValueError(f"A JPEG of {len(content)} bytes cannot be padded to {size}.")
    return content[:-2] + b"\xff" * fill + content[-2:]


def enlarged(content: bytes, sides: Sequence[int]) -> dict[int, bytes]:
    """A prepared picture of a small original, in the larger sides that other images of the data set have."""
    with Image.open(io.BytesIO(content)) as picture:
        return _in_sides(picture, sides)


# Opening


@contextmanager
def _decoding() -> Iterator[None]:
    """Turn any exception of a decoder into `Undecodable`.

    On hostile data Pillow and LittleCMS raise OSError, SyntaxError, ValueError, TypeError, KeyError, struct.error,
    zlib.error, MemoryError and more, and another release raises others. Only here are all exceptions caught.
    """
    try:
        yield
    except (BadImage, *BOMBS):
        raise
    except Exception as error:
        raise Undecodable from error


def _open(data: bytes, name: str) -> Image.Image:
    """The image before its pixels are decoded: its size is known from the header."""
    try:
        image = Image.open(io.BytesIO(data), formats=FORMATS)
    except UnidentifiedImageError as error:
        kinds = (kind for start, kind in OTHER_KINDS.items() if data.startswith(start))
        raise BadImage(
            file=name,
            reason=f"It is {next(kinds, 'something else or damaged')}, not a JPEG, PNG, WebP or GIF image.",
            remedy=SAVE_AGAIN,
        ) from error
    width, height = image.size
    if width * height > MAX_PIXELS:
        raise _too_many_pixels(name, f"{width}×{height}, {width * height / 1e6:.0f}")
    if min(width, height) < MIN_SIDE:
        raise BadImage(
            file=name,
            reason=f"The image is {width}×{height}; each side needs {MIN_SIDE} pixels.",
            remedy="Find a larger copy, or remove it.",
        )
    return image


def _too_many_pixels(name: str, megapixels: str) -> BadImage:
    return BadImage(
        file=name,
        reason=f"The image has {megapixels} megapixels; at most {MAX_PIXELS / 1e6:.0f} are read.",
        remedy="Save it smaller, or remove it.",
    )


# Pixels


def _prepare(image: Image.Image, data: bytes, name: str, remedy: Remedy) -> PreparedImage:
    size = image.size
    pixels = _decode(image, SMALLEST, remedy)
    width, height = reversed(size) if _orientation(image) > 4 else size
    left = cropped_size((width, height), remedy)
    if min(left) < MIN_SIDE:
        raise BadImage(
            file=name,
            reason=f"The crop leaves {left[0]}×{left[1]} pixels; each side needs {MIN_SIDE}.",
            remedy="Crop less, or remove it.",
        )
    canvas = _draw(pixels, image, SMALLEST, remedy)
    # JPEG: also one with further pictures behind it, as some cameras write it.
    file_format = "JPEG" if image.format == "MPO" else str(image.format)
    larger = {}
    sides = [side for smaller, side in pairwise((SMALLEST, *LARGER)) if max(left) > smaller]
    if sides:
        # Decoded once more if that gives more pixels, so that the smallest side does not depend on larger ones.
        with _open(data, name) as finer:
            _draft(finer, sides[-1], remedy)
            has_more = sorted(finer.size) != sorted(pixels.size)
            fine = _decode(finer, sides[-1], remedy) if has_more else pixels
            larger = _in_sides(_draw(fine, finer, sides[-1], remedy), sides)
    return PreparedImage(
        content=_encode(canvas, QUALITY),
        pixel_hash=_pixel_hash(pixels.convert("RGB")),
        perceptual_hash=perceptual_hash(canvas),
        original=Original(width, height, len(data), file_format, left[0] / left[1]),
        larger=larger,
    )


def _draft(image: Image.Image, side: int, remedy: Remedy) -> None:
    """Let the decoder scale a large JPEG down; twice the wanted side is left for smooth resizing."""
    side = round(2 * side / remedy.kept_share)
    image.draft(image.mode, (side, side))


def _decode(image: Image.Image, side: int, remedy: Remedy) -> Image.Image:
    """Upright pixels, enough of them for a picture of this side."""
    _draft(image, side, remedy)
    image.load()
    pixels, orientation = _flatten(image), _orientation(image)
    return pixels.transpose(UPRIGHT[orientation]) if orientation in UPRIGHT else pixels


def _orientation(image: Image.Image) -> int:
    """1 to 8; an image with damaged metadata counts as upright."""
    try:
        with _decoding():
            orientation = image.getexif().get(ORIENTATION_TAG, 1)
    except Undecodable:
        return 1
    return orientation if orientation in UPRIGHT else 1


def _flatten(image: Image.Image) -> Image.Image:
    """Eight bits a channel and no transparency: L, RGB or CMYK."""
    if image.mode.startswith("I"):
        return Image.fromarray((np.asarray(image).astype(np.uint32) >> 8).astype(np.uint8))
    if image.has_transparency_data:
        layer = image.convert("RGBA")
        paper = Image.new("RGBA", layer.size, "white")
        paper.alpha_composite(layer)
        return paper.convert("RGB")
    if image.mode in {"L", "RGB", "CMYK"}:
        return image
    return image.convert("L" if image.mode == "1" else "RGB")


def _draw(pixels: Image.Image, image: Image.Image, side: int, remedy: Remedy) -> Image.Image:
    """The picture on a fresh canvas, after the remedy."""
    small = _resize(crop(pixels, remedy), side)
    canvas = Image.new("RGB", small.size, "white")
    canvas.paste(_to_srgb(small, image.info.get("icc_profile")))
    return apply_remedy(canvas, remedy)


def _resize(pixels: Image.Image, side: int) -> Image.Image:
    scale = side / max(pixels.size)
    width, height = (max(1, round(length * scale)) for length in pixels.size)
    return pixels.resize((width, height), Image.Resampling.LANCZOS, reducing_gap=3.0)


def _to_srgb(image: Image.Image, profile: bytes | None) -> Image.Image:
    """Colours converted by the profile; unchanged without one or with a broken one."""
    if not profile or len(profile) > MAX_PROFILE_BYTES:
        return image.convert("RGB")
    try:
        with _decoding():
            source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
            target = ImageCms.createProfile("sRGB")
            converted = ImageCms.profileToProfile(image, source, target, outputMode="RGB")
    except Undecodable:
        converted = None
    return converted or image.convert("RGB")


def _in_sides(picture: Image.Image, sides: Sequence[int]) -> dict[int, bytes]:
    return {side: _encode(_resize(picture, side), LARGER_QUALITY) for side in sides}


def _encode(canvas: Image.Image, quality: int) -> bytes:
    file = io.BytesIO()
    canvas.save(file, "JPEG", quality=quality, optimize=True)
    return file.getvalue()


def _pixel_hash(image: Image.Image) -> str:
    digest = hashlib.sha256(f"{image.width}×{image.height}".encode())
    for top in range(0, image.height, 256):
        strip = image.crop((0, top, image.width, min(top + 256, image.height)))
        digest.update(strip.tobytes())
    return digest.hexdigest()


# Remedies: every image is treated alike and by itself


def crop(image: Image.Image, remedy: Remedy) -> Image.Image:
    box = _crop_box(image.size, remedy)
    return image if box == (0, 0, *image.size) else image.crop(box)


def cropped_size(size: tuple[int, int], remedy: Remedy) -> tuple[int, int]:
    left, top, right, bottom = _crop_box(size, remedy)
    return right - left, bottom - top


def _crop_box(size: tuple[int, int], remedy: Remedy) -> Box:
    width, height = size
    left, right = round(width * remedy.crop_left / 100), round(width * remedy.crop_right / 100)
    top, bottom = round(height * remedy.crop_top / 100), round(height * remedy.crop_bottom / 100)
    right, bottom = width - right, height - bottom
    if remedy.crops_to_square:
        side = min(right - left, bottom - top)
        left, top = (left + right - side) // 2, (top + bottom - side) // 2
        right, bottom = left + side, top + side
    return left, top, right, bottom


def apply_remedy(canvas: Image.Image, remedy: Remedy) -> Image.Image:
    """Equalise the brightness, and mask or blur the border. The size does not change."""
    width, height = canvas.size
    border_x, border_y = (round(side * remedy.border_width / 100) for side in canvas.size)
    inside = border_x, border_y, width - border_x, height - border_y
    if remedy.equalises_brightness:
        # A masked border has no influence on the brightness of the rest.
        canvas = _equalise(canvas, inside if remedy.border == "mask" else (0, 0, width, height))
    if not remedy.border:
        return canvas
    if remedy.border == "mask":
        framed = Image.new("RGB", canvas.size, (GREY, GREY, GREY))
    else:
        framed = canvas.filter(ImageFilter.GaussianBlur(BLUR * max(canvas.size)))
    framed.paste(canvas.crop(inside), inside[:2])
    return framed


def _equalise(canvas: Image.Image, box: Box) -> Image.Image:
    """Give every image the same mean and standard deviation of grey within the box; colours are scaled with it."""
    pixels = np.asarray(canvas, dtype=np.float64)
    left, top, right, bottom = box
    for _ in range(ROUNDS):
        grey = pixels[top:bottom, left:right] @ np.array([0.299, 0.587, 0.114])
        gain = min(CONTRAST / max(float(grey.std()), 1e-9), MAX_GAIN)
        pixels = np.clip(GREY + gain * (pixels - grey.mean()), 0, 255)
    return Image.fromarray(np.rint(pixels).astype(np.uint8))
