"""From a stranger's image file to the picture that the browser gets.

Every picture leaves with the same longest side, format and quality, drawn on a fresh canvas, so
that nothing but its content is left: no metadata, no comment, no trace of the original encoder.
Small originals are enlarged too: if they stayed small, the size alone would tell two classes apart
that were collected from different places. Features are computed from the smallest side; larger ones
are for sharp screens, and are made as far as the original has more to show.
"""

from __future__ import annotations

import hashlib
import io
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from PIL import Image, ImageCms, UnidentifiedImageError

from image_datasets.errors import BadImage, too_long
from image_datasets.remedy import NO_REMEDY, Remedy
from studies.images import LARGER, SMALLEST

from .duplicates import perceptual_hash
from .kinds import kind_of
from .remedies import cropped, cropped_size, treated

FORMATS = ("JPEG", "PNG", "WEBP", "GIF")
SMALLEST_SIDE = 64
MOST_PIXELS = 25_000_000
MOST_BYTES = 100 * (1 << 20)
QUALITY = 85
# On the screens that get these, a pixel is too small for its artefacts to be seen.
LARGER_QUALITY = 80
# Encoders write ten scans or so; each costs a pass over all pixels, so thousands stop a server.
MOST_SCANS = 100
LONGEST_PROFILE = 4 * (1 << 20)

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
BOMBS = (Image.DecompressionBombError, Image.DecompressionBombWarning)
# The library's own guard, for decoders that allocate while they read the header.
Image.MAX_IMAGE_PIXELS = MOST_PIXELS


@dataclass(frozen=True)
class Original:
    """The file as it came, for the check whether its facts give the class away."""

    width: int
    height: int
    """as a viewer shows it, after the orientation of its metadata"""
    byte_count: int
    format: str
    aspect: float
    """width over height of the part that is shown"""


@dataclass(frozen=True)
class PreparedImage:
    """A picture as the browser will get it, and what was learned on the way."""

    content: bytes
    pixel_hash: str
    """of the decoded, upright pixels: equal for exact copies, whatever the file around them"""
    perceptual_hash: bytes
    """for `duplicates.find_duplicates`"""
    original: Original
    larger: Mapping[int, bytes]
    """the same picture by its longest side, for sides up to the first that holds all of the original"""


class Undecodable(Exception):
    """A decoder gave up on a file, or on a part of it."""


def prepare(data: bytes, name: str, remedy: Remedy = NO_REMEDY) -> PreparedImage:
    """Decodes and re-encodes one image, or raises `BadImage`. The same bytes give the same result."""
    _check_bytes(data, name)
    with _refusing(name), warnings.catch_warnings():
        # A damaged metadata block is no reason to refuse; a bomb is.
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        with _opened(data, name) as image:
            return _prepared(image, data, name, remedy)


def padded(content: bytes, size: int) -> bytes:
    """The same picture in exactly `size` bytes.

    The length of a file tells something about what was in it, so a data set pads all its pictures
    to the longest. The padding is fill bytes before the end marker, which the JPEG standard
    allows before any marker: no comment and no trailing data.
    """
    fill = size - len(content)
    if fill < 0 or not content.endswith(b"\xff\xd9"):
        raise ValueError(f"A JPEG of {len(content)} bytes cannot be padded to {size}.")
    return content[:-2] + b"\xff" * fill + content[-2:]


def enlarged(content: bytes, sides: Sequence[int]) -> dict[int, bytes]:
    """A prepared picture whose original had no more to show, in the sides that others of its data set have."""
    with Image.open(io.BytesIO(content)) as picture:
        return _in_sides(picture, sides)


# Opening


def _check_bytes(data: bytes, name: str) -> None:
    if not data:
        raise BadImage(
            file=name,
            reason="The file is empty.",
            remedy="Copy it again from where it came from, or remove it.",
        )
    if len(data) > MOST_BYTES:
        raise too_long(name, len(data), MOST_BYTES)
    # In JPEG data this pair of bytes is always the marker of a scan.
    if data.startswith(b"\xff\xd8") and data.count(b"\xff\xda") > MOST_SCANS:
        raise BadImage(
            file=name, reason=f"The JPEG has more than {MOST_SCANS} scans.", remedy=SAVE_AGAIN
        )


@contextmanager
def _refusing(name: str) -> Iterator[None]:
    """Turns whatever a decoder does on hostile data into one named refusal."""
    try:
        with _decoding():
            yield
    except BOMBS as error:
        raise _too_many_pixels(name, f"more than {MOST_PIXELS / 1e6:.0f}") from error
    except Undecodable as error:
        raise BadImage(
            file=name, reason="The image is damaged or cut off.", remedy=SAVE_AGAIN
        ) from error


@contextmanager
def _decoding() -> Iterator[None]:
    """Work on bytes that a stranger wrote; whatever goes wrong in it is raised as `Undecodable`.

    On hostile data Pillow and LittleCMS raise OSError, SyntaxError, ValueError, TypeError, KeyError,
    struct.error, zlib.error, MemoryError and more, and another release raises others. This is the
    one place where everything is caught.
    """
    try:
        yield
    except (BadImage, *BOMBS):
        raise
    except Exception as error:
        raise Undecodable from error


def _opened(data: bytes, name: str) -> Image.Image:
    try:
        image = Image.open(io.BytesIO(data), formats=FORMATS)
    except UnidentifiedImageError as error:
        raise BadImage(
            file=name,
            reason=f"It is {kind_of(data)}, not a JPEG, PNG, WebP or GIF image.",
            remedy=SAVE_AGAIN,
        ) from error
    _check_size(image, name)
    return image


def _check_size(image: Image.Image, name: str) -> None:
    """Before a single pixel is decoded: the header tells the size."""
    width, height = image.size
    if width * height > MOST_PIXELS:
        raise _too_many_pixels(name, f"{width}×{height}, {width * height / 1e6:.0f}")
    if min(width, height) < SMALLEST_SIDE:
        raise BadImage(
            file=name,
            reason=f"The image is {width}×{height}; each side needs {SMALLEST_SIDE} pixels.",
            remedy="Find a larger copy, or remove it.",
        )


def _too_many_pixels(name: str, megapixels: str) -> BadImage:
    return BadImage(
        file=name,
        reason=f"The image has {megapixels} megapixels; at most {MOST_PIXELS / 1e6:.0f} are read.",
        remedy="Save it smaller, or remove it.",
    )


# Pixels


def _prepared(image: Image.Image, data: bytes, name: str, remedy: Remedy) -> PreparedImage:
    size = image.size
    pixels = _decoded(image, SMALLEST, remedy)
    width, height = reversed(size) if _orientation(image) > 4 else size
    shown = _checked_crop((width, height), name, remedy)
    canvas = _shown(pixels, image, SMALLEST, remedy)
    sides = [side for smaller, side in pairwise((SMALLEST, *LARGER)) if max(shown) > smaller]
    return PreparedImage(
        content=_encoded(canvas, QUALITY),
        pixel_hash=_pixel_hash(pixels.convert("RGB")),
        perceptual_hash=perceptual_hash(canvas),
        original=Original(width, height, len(data), _format(image), shown[0] / shown[1]),
        larger=_larger(data, name, pixels, sides, remedy) if sides else {},
    )


def _larger(
    data: bytes, name: str, pixels: Image.Image, sides: Sequence[int], remedy: Remedy
) -> dict[int, bytes]:
    """Decoded once more where that is finer, so that the smallest side stays what it is without this one."""
    with _opened(data, name) as image:
        _draft(image, sides[-1], remedy)
        if sorted(image.size) != sorted(pixels.size):
            pixels = _decoded(image, sides[-1], remedy)
        return _in_sides(_shown(pixels, image, sides[-1], remedy), sides)


def _in_sides(picture: Image.Image, sides: Sequence[int]) -> dict[int, bytes]:
    return {side: _encoded(_resized(picture, side), LARGER_QUALITY) for side in sides}


def _draft(image: Image.Image, side: int, remedy: Remedy) -> None:
    """A large JPEG is decoded at a half or less; twice the wanted side stays for smooth resizing."""
    side = round(2 * side / remedy.kept_share)
    image.draft(image.mode, (side, side))


def _decoded(image: Image.Image, side: int, remedy: Remedy) -> Image.Image:
    """Upright pixels, enough of them for a picture of this side."""
    _draft(image, side, remedy)
    image.load()
    return _upright(_flattened(image), _orientation(image))


def _shown(pixels: Image.Image, image: Image.Image, side: int, remedy: Remedy) -> Image.Image:
    """The picture that people see, on a fresh canvas."""
    return treated(_canvas(cropped(pixels, remedy), image.info.get("icc_profile"), side), remedy)


def _checked_crop(size: tuple[int, int], name: str, remedy: Remedy) -> tuple[int, int]:
    """What is left of the original, if that is enough to be looked at."""
    width, height = cropped_size(size, remedy)
    if min(width, height) < SMALLEST_SIDE:
        raise BadImage(
            file=name,
            reason=f"The crop leaves {width}×{height} pixels; each side needs {SMALLEST_SIDE}.",
            remedy="Crop less, or remove it.",
        )
    return width, height


def _format(image: Image.Image) -> str:
    # A JPEG with further pictures behind it, as some cameras write it.
    return "JPEG" if image.format == "MPO" else str(image.format)


def _orientation(image: Image.Image) -> int:
    """1 to 8; an image whose metadata are damaged counts as upright."""
    try:
        with _decoding():
            orientation = image.getexif().get(ORIENTATION_TAG, 1)
    except Undecodable:
        return 1
    return orientation if orientation in UPRIGHT else 1


def _flattened(image: Image.Image) -> Image.Image:
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


def _upright(image: Image.Image, orientation: int) -> Image.Image:
    return image.transpose(UPRIGHT[orientation]) if orientation in UPRIGHT else image


def _canvas(pixels: Image.Image, profile: bytes | None, side: int) -> Image.Image:
    small = _resized(pixels, side)
    canvas = Image.new("RGB", small.size, "white")
    canvas.paste(_in_srgb(small, profile))
    return canvas


def _resized(pixels: Image.Image, side: int) -> Image.Image:
    scale = side / max(pixels.size)
    width, height = (max(1, round(length * scale)) for length in pixels.size)
    return pixels.resize((width, height), Image.Resampling.LANCZOS, reducing_gap=3.0)


def _in_srgb(image: Image.Image, profile: bytes | None) -> Image.Image:
    """Colours as the profile means them; without one, or with a broken one, as they stand."""
    if not profile or len(profile) > LONGEST_PROFILE:
        return image.convert("RGB")
    try:
        with _decoding():
            source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
            target = ImageCms.createProfile("sRGB")
            converted = ImageCms.profileToProfile(image, source, target, outputMode="RGB")
    except Undecodable:
        converted = None
    return converted or image.convert("RGB")


def _encoded(canvas: Image.Image, quality: int) -> bytes:
    file = io.BytesIO()
    canvas.save(file, "JPEG", quality=quality, optimize=True)
    return file.getvalue()


def _pixel_hash(image: Image.Image) -> str:
    digest = hashlib.sha256(f"{image.width}×{image.height}".encode())
    for top in range(0, image.height, 256):
        strip = image.crop((0, top, image.width, min(top + 256, image.height)))
        digest.update(strip.tobytes())
    return digest.hexdigest()
