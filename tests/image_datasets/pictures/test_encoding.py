"""Decoding what strangers upload, and what is left of it for the browser."""

import struct
import subprocess
import sys
import zlib

import numpy as np
import pytest
from PIL import Image, ImageCms, PngImagePlugin

from image_datasets.errors import BadImage, BadImages
from image_datasets.pictures import encoding as images
from image_datasets.pictures.encoding import padded, prepare
from tests.image_datasets.drawn_files import decoded, encoded, pixels, scene

FORMAT_OPTIONS = [("JPEG", {"quality": 95}), ("PNG", {}), ("WEBP", {"quality": 95}), ("GIF", {})]


def rank_auc(scores, labels):
    """The chance that a random image of the second class outranks one of the first."""
    second, first = scores[labels > 0], scores[labels < 0]
    return (second[:, None] > first).mean() + 0.5 * (second[:, None] == first).mean()


def difference(first, second):
    """The mean difference of two pictures of one size, of 255."""
    return np.abs(pixels(first) - pixels(second)).mean()


def shown_at(image, size):
    return image.convert("RGB").resize(size, Image.Resampling.LANCZOS)


def png_header(width, height):
    """The start of a PNG in black and white."""
    header = struct.pack(">2I5B", width, height, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header)


def chunk(kind, content):
    return (
        struct.pack(">I", len(content))
        + kind
        + content
        + struct.pack(">I", zlib.crc32(kind + content))
    )


def png_bomb(side=13000):
    """All black and perfectly valid: 20 KiB that want hundreds of megabytes."""
    squeezer = zlib.compressobj(9)
    rows = [squeezer.compress(bytes(1 + (side + 7) // 8)) for _ in range(side)]
    data = b"".join([*rows, squeezer.flush()])
    return png_header(side, side) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


# What is read


@pytest.mark.parametrize(("file_format", "options"), FORMAT_OPTIONS)
def test_all_four_formats_come_out_as_the_same_picture_in_one_format(file_format, options):
    picture = scene(1, 640, 480)
    prepared = prepare(encoded(picture, file_format, **options), "a")
    assert decoded(prepared.content).format == "JPEG"
    assert decoded(prepared.content).size == (480, 360)
    assert difference(decoded(prepared.content), shown_at(picture, (480, 360))) < 6
    assert prepared.original.format == file_format


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("file_format", ["JPEG", "PNG", "WEBP"])
def test_every_orientation_is_applied(orientation, file_format):
    picture = scene(2, 128, 96)
    turned = picture
    if orientation in images.UPRIGHT:
        # Undone by the same operation, or by its opposite where it is a quarter turn.
        undo = {6: Image.Transpose.ROTATE_90, 8: Image.Transpose.ROTATE_270}
        turned = picture.transpose(undo.get(orientation, images.UPRIGHT[orientation]))
    exif = Image.Exif()
    exif[images.ORIENTATION_TAG] = orientation
    prepared = prepare(encoded(turned, file_format, exif=exif), "a")
    assert decoded(prepared.content).size == (480, 360)
    assert (prepared.original.width, prepared.original.height) == (128, 96)
    assert difference(decoded(prepared.content), shown_at(picture, (480, 360))) < 8
    assert not decoded(prepared.content).getexif()


@pytest.mark.parametrize(
    ("mode", "file_format"),
    [
        *(
            ("1", "PNG"),
            ("L", "PNG"),
            ("LA", "PNG"),
            ("P", "PNG"),
            ("RGBA", "PNG"),
            ("I;16", "PNG"),
        ),
        *(("L", "JPEG"), ("CMYK", "JPEG"), ("P", "GIF"), ("L", "GIF"), ("RGBA", "WEBP")),
    ],
)
def test_every_mode_is_shown_as_people_see_it(mode, file_format):
    picture = scene(3, 480, 360)
    if mode == "I;16":
        grey = np.asarray(picture.convert("L")).astype(np.uint16)
        converted, picture = Image.fromarray(grey * 256 + 77), picture.convert("L")
    else:
        # A palette of its own colours: dithering is not what is tested here.
        converted = picture.quantize(dither=0) if mode == "P" else picture.convert(mode)
        picture = converted.convert("RGB")
    prepared = prepare(encoded(converted, file_format), "a")
    assert difference(decoded(prepared.content), picture) < (30 if mode == "1" else 6)


@pytest.mark.parametrize(
    ("mode", "file_format"), [("RGBA", "PNG"), ("LA", "PNG"), ("RGBA", "WEBP")]
)
def test_transparent_parts_are_white(mode, file_format):
    picture = Image.new("RGBA", (100, 100), (0, 0, 0, 0))
    prepared = prepare(encoded(picture.convert(mode), file_format), "a")
    assert pixels(decoded(prepared.content)).min() > 250


def test_a_transparent_colour_of_a_palette_is_white():
    picture = Image.new("P", (100, 100), 3)
    picture.putpalette([0] * 768)
    for options in ({"transparency": 3}, {"transparency": bytes(256)}):
        prepared = prepare(encoded(picture, "PNG", **options), "a.png")
        assert pixels(decoded(prepared.content)).min() > 250


@pytest.mark.parametrize("file_format", ["GIF", "PNG", "WEBP"])
def test_an_animation_gives_its_first_frame(file_format):
    first, later = scene(4, 120, 120), scene(5, 120, 120)
    data = encoded(first, file_format, save_all=True, append_images=[later, later])
    prepared = prepare(data, f"a.{file_format.lower()}")
    assert difference(decoded(prepared.content), shown_at(first, (480, 480))) < 8


def test_a_camera_file_with_several_pictures_gives_the_first():
    first = scene(6, 120, 120)
    data = encoded(first, "MPO", save_all=True, append_images=[scene(7, 120, 120)], quality=95)
    prepared = prepare(data, "a.jpg")
    assert prepared.original.format == "JPEG"
    assert difference(decoded(prepared.content), shown_at(first, (480, 480))) < 6


def test_a_wrong_ending_does_no_harm():
    prepared = prepare(encoded(scene(8), "JPEG"), "cats/one.png")
    assert prepared.original.format == "JPEG"


def test_the_smallest_and_the_largest_side_are_read():
    for picture in (scene(9, 64, 64), Image.new("L", (5000, 5000))):
        assert decoded(prepare(encoded(picture), "a").content).size == (480, 480)


def test_a_large_jpeg_looks_the_same_although_it_is_decoded_small():
    picture = scene(10, 2400, 1800)
    prepared = prepare(encoded(picture, "JPEG", quality=95), "a.jpg")
    assert prepared.original.width == 2400
    assert difference(decoded(prepared.content), shown_at(picture, (480, 360))) < 3


# What is refused


def refusal(data, name="cats/bad.jpg"):
    with pytest.raises(BadImage) as caught:
        prepare(data, name)
    assert caught.value.file == name
    assert str(caught.value).startswith(f"{name}: ")
    assert caught.value.remedy.endswith(".")
    return caught.value.reason


def test_an_empty_file_is_refused():
    assert refusal(b"") == "The file is empty."


@pytest.mark.parametrize(("file_format", "options"), FORMAT_OPTIONS)
@pytest.mark.parametrize("share", [0.05, 0.3, 0.6, 0.95])
def test_a_file_that_is_cut_off_is_refused(file_format, options, share):
    data = encoded(scene(11), file_format, **options)
    assert "damaged" in refusal(data[: int(share * len(data))])


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (encoded(scene(1), "BMP"), "a BMP image"),
        (encoded(scene(1), "TIFF"), "a TIFF image"),
        (b"PK\x03\x04" + bytes(100), "a zip archive"),
        (b"%PDF-1.7 /JavaScript", "a PDF"),
        (b"<svg onload='alert(1)'/>", "an SVG drawing"),
        (b"just some words", "something else"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 100 100\n", "something else"),
    ],
)
def test_only_four_decoders_ever_run(data, kind):
    assert kind in refusal(data)


def test_an_image_that_is_too_small_is_refused():
    assert refusal(encoded(scene(1, 200, 63))) == (
        "The image is 200×63; each side needs 64 pixels."
    )


def test_an_image_with_too_many_pixels_is_refused():
    assert "more than 25 megapixels" in refusal(png_bomb(5001))
    assert "more than 25 megapixels" in refusal(png_bomb(13000))


def test_the_size_is_checked_even_if_the_library_does_not(monkeypatch):
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", None)
    assert "5001×5001, 25 megapixels" in refusal(png_bomb(5001))


def test_a_jpeg_with_thousands_of_scans_is_refused():
    data = encoded(scene(1), "JPEG", progressive=True)
    start = data.rindex(b"\xff\xda")
    assert "scans" in refusal(data[:start] + data[start:-2] * 200 + b"\xff\xd9")


def test_huge_text_in_a_png_is_refused_without_inflating_it():
    text = b"Comment\0\0" + zlib.compress(bytes(50_000_000), 9)
    data = encoded(scene(1))
    assert "damaged" in refusal(data[:33] + chunk(b"zTXt", text) + data[33:])


def test_random_bytes_in_an_image_never_raise_anything_else():
    rng = np.random.default_rng(0)
    for file_format, options in FORMAT_OPTIONS:
        data = bytearray(encoded(scene(12, 80, 80), file_format, **options))
        for _ in range(25):
            broken = bytearray(data)
            for place in rng.integers(0, len(data), 8):
                broken[place] = rng.integers(256)
            try:
                prepare(bytes(broken), "a")
            except BadImage:
                continue


MEMORY_SCRIPT = """
import resource, sys
from pathlib import Path
from image_datasets.errors import BadImage
from image_datasets.pictures.encoding import prepare
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    prepare(Path(sys.argv[1]).read_bytes(), "a")
except BadImage as problem:
    print(problem)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def memory_used(tmp_path, data):
    """Kibibytes that a process of its own needs for one image."""
    path = tmp_path / "image"
    path.write_bytes(data)
    done = subprocess.run(
        [sys.executable, "-c", MEMORY_SCRIPT, path], capture_output=True, text=True, check=True
    )
    return int(done.stdout.split()[-1])


def test_a_decompression_bomb_takes_no_memory(tmp_path):
    bomb = png_bomb()
    assert len(bomb) < 24 * 1024
    assert memory_used(tmp_path, bomb) < 20_000


def test_a_webp_with_a_huge_canvas_takes_no_memory(tmp_path):
    data = bytearray(encoded(scene(1), "WEBP", save_all=True, append_images=[scene(2)]))
    assert data[12:16] == b"VP8X"
    data[24:30] = (16000).to_bytes(3, "little") * 2
    assert memory_used(tmp_path, bytes(data)) < 20_000


def test_the_largest_image_with_everything_fits_into_a_few_hundred_megabytes(tmp_path):
    exif = Image.Exif()
    exif[images.ORIENTATION_TAG] = 6
    picture = Image.new("RGBA", (5000, 5000), (10, 200, 30, 128))
    assert memory_used(tmp_path, encoded(picture, "PNG", exif=exif, compress_level=1)) < 450_000


# What is left for the browser


def marked(file_format):
    """A picture with the secret word in every place that its format has for it."""
    exif = Image.Exif()
    exif[0x010E] = "SECRET"
    exif.get_ifd(0x8825)[1] = "N"
    exif.get_ifd(0x8825)[29] = "SECRET"
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    options = {"exif": exif, "icc_profile": profile}
    if file_format == "JPEG":
        options |= {"comment": b"SECRET", "xmp": b"<x>SECRET</x>"}
    if file_format == "PNG":
        text = PngImagePlugin.PngInfo()
        text.add_text("Comment", "SECRET")
        text.add_itxt("XML:com.adobe.xmp", "SECRET")
        options |= {"pnginfo": text}
    if file_format == "WEBP":
        options |= {"xmp": b"SECRET"}
    if file_format == "GIF":
        options = {"comment": b"SECRET"}
    return encoded(scene(13, 300, 200), file_format, **options)


@pytest.mark.parametrize("file_format", images.FORMATS)
def test_no_metadata_and_no_comment_is_left(file_format):
    data = marked(file_format)
    assert b"SECRET" in data
    prepared = prepare(data, "a")
    out = decoded(prepared.content)
    assert b"SECRET" not in prepared.content
    assert not out.getexif()
    assert set(out.info) <= {"jfif", "jfif_version", "jfif_unit", "jfif_density"}


@pytest.mark.parametrize("file_format", images.FORMATS)
def test_equal_pixels_give_equal_bytes_whatever_was_around_them(file_format):
    plain, with_secret = decoded(marked(file_format)), prepare(marked(file_format), "a")
    again = prepare(encoded(plain.convert("RGB"), "PNG"), "b")
    assert with_secret.pixel_hash == again.pixel_hash


def test_the_same_bytes_always_give_the_same_result():
    data = encoded(scene(14), "JPEG")
    assert prepare(data, "a") == prepare(data, "a")


def test_colours_are_converted_by_their_profile():
    profile = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    red, blue = profile.index(b"rXYZ"), profile.index(b"bXYZ")
    profile[red : red + 4], profile[blue : blue + 4] = b"bXYZ", b"rXYZ"
    data = encoded(Image.new("RGB", (100, 100), "red"), "PNG", icc_profile=bytes(profile))
    red, _, blue = pixels(decoded(prepare(data, "a").content))[50, 50]
    assert blue > 200 > 50 > red


def test_a_profile_of_another_kind_of_picture_is_dropped():
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB")).tobytes()
    picture = scene(15, 480, 480)
    prepared = prepare(encoded(picture, "PNG", icc_profile=profile), "a")
    assert difference(decoded(prepared.content), picture) < 6


@pytest.mark.parametrize("profile", [b"nonsense", b"\0" * 5_000_000], ids=["short", "long"])
def test_a_broken_profile_is_dropped(profile):
    picture = scene(15, 480, 480)
    prepared = prepare(encoded(picture, "JPEG", icc_profile=profile), "a")
    assert difference(decoded(prepared.content), picture) < 6


def test_damaged_metadata_do_not_stop_an_image():
    picture = scene(16)
    data = encoded(picture, "JPEG", quality=95, exif=b"Exif\0\0II*\0\xff\xff\xff\xff")
    shown = decoded(prepare(data, "a").content)
    assert difference(shown, shown_at(picture, shown.size)) < 6


def test_padding_changes_the_length_and_nothing_else():
    prepared = prepare(encoded(scene(17)), "a")
    longer = padded(prepared.content, len(prepared.content) + 9_999)
    assert len(longer) == len(prepared.content) + 9_999
    assert np.array_equal(pixels(decoded(longer)), pixels(decoded(prepared.content)))
    assert not set(decoded(longer).info) & {"comment", "exif"}
    with pytest.raises(ValueError, match="cannot be padded"):
        padded(prepared.content, 10)


def test_the_size_of_a_file_says_nothing_about_its_class():
    """Two classes from one kind of scene, collected from different places: one as small, strongly
    compressed JPEGs with metadata, the other as large PNGs."""
    prepared, labels = [], np.repeat([-1, 1], 12)
    for seed, label in enumerate(labels):
        if label < 0:
            small = scene(seed, 600, 450).resize((200, 150))
            data = encoded(small, "JPEG", quality=30, comment=b"x" * 3000)
        else:
            data = encoded(scene(seed, 600, 450), "PNG", compress_level=1)
        prepared.append(prepare(data, "a"))
    contents = [image.content for image in prepared]
    longest = max(map(len, contents))
    sizes = np.array([len(padded(content, longest)) for content in contents])
    assert rank_auc(np.array([image.original.byte_count for image in prepared]), labels) == 1
    assert rank_auc(sizes, labels) == 0.5
    assert {decoded(content).size for content in contents} == {(480, 360)}
    headers = {content[: content.index(b"\xff\xc0")] for content in contents}
    assert len(headers) == 1


@pytest.mark.parametrize(
    ("width", "sides"), [(300, []), (480, []), (500, [720]), (720, [720]), (1300, [720, 960])]
)
def test_sharp_screens_get_what_the_original_has_to_show(width, sides):
    picture = scene(5, width, width * 3 // 4)
    prepared = prepare(encoded(picture, "JPEG", quality=95), "a")
    assert decoded(prepared.content).size == (480, 360)
    assert list(prepared.larger) == sides
    for side, content in prepared.larger.items():
        assert decoded(content).size == (side, side * 3 // 4)
        assert difference(decoded(content), shown_at(picture, (side, side * 3 // 4))) < 6


# Facts and problems


def test_the_facts_of_the_original_are_kept_for_the_shortcut_check():
    data = encoded(scene(18, 300, 200), "PNG")
    assert prepare(data, "a.png").original == images.Original(300, 200, len(data), "PNG", 1.5)


def test_many_bad_images_make_a_message_that_can_be_read():
    problems = [BadImage(file=f"{n:03}.png", reason="It is bad.", remedy="") for n in range(500)]
    message = str(BadImages(problems))
    assert message.startswith("500 bad images: 000.png: It is bad.")
    assert "and 480 more" in message


def test_a_name_cannot_play_tricks_with_the_message():
    shown = refusal_of_name("evil\n\u202egnp.jpg\x1b[2J")
    assert shown == r"evil\n\u202egnp.jpg\x1b[2J"


def refusal_of_name(name):
    with pytest.raises(BadImage) as caught:
        prepare(b"", name)
    return caught.value.file
